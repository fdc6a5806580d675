//! What is counted about agents and their mail, as Prometheus is shown it. The recorder is the test's own: tests run on
//! one thread.

use std::time::Duration;

use artel_agents::METRICS;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::json;

use crate::post_house::{House, event, request};
use crate::workplace::{TestSkill, Workplace, done};

/// Checks that the text has these lines, and nothing that is not listed.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    for line in expected {
        assert!(text.lines().any(|found| found == *line), "`{line}` is missing in\n{text}");
    }
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let names = kinds.filter_map(|line| line.split(' ').next());
    for name in
        names.filter(|name| ["agent", "message", "dead", "request"].iter().any(|part| name.contains(part)))
    {
        assert!(METRICS.iter().any(|metric| metric.name == name), "{name}");
    }
}

#[tokio::test]
async fn spawns_states_calls_and_denials_are_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let tame = json!({"allowed_tools": ["tame"]});
    let place =
        Workplace::new(&[TestSkill("tame", tame, &done("{}")), TestSkill("wild", json!({}), "exit 3")]).await;
    let id = place.spawn(json!({"skills": ["tame"]})).await.agent_id;
    place.execute(id, "tame", json!({})).await.unwrap();
    place.execute(id, "wild", json!({})).await.unwrap_err();
    place.try_spawn(json!({"skills": ["no-such-skill"]})).await.unwrap_err();
    check(
        &recorder.handle().render(),
        &[
            "artel_agents_spawned_total 1",
            "artel_agents_refused_total{code=\"UNKNOWN_SKILL\"} 1",
            "artel_agent_transitions_total{state=\"running\"} 1",
            "artel_agent_transitions_total{state=\"idle\"} 1",
            "artel_agent_calls_total{outcome=\"done\"} 1",
            "artel_agent_calls_total{outcome=\"denied\"} 1",
            "artel_agent_denials_total{code=\"TOOL_NOT_ALLOWED\"} 1",
            "artel_agent_call_duration_seconds_count 2",
            "artel_agents_working 0",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn mail_and_requests_are_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let house = House::quick().await;
    house.send(event(1, 2, "a")).await;
    house.office.send(event(1, 99, "nobody")).await.unwrap_err();
    house.office.request(request(1, 2), Duration::from_millis(10)).await.unwrap_err();
    check(
        &recorder.handle().render(),
        &[
            "artel_messages_sent_total{kind=\"event\"} 1",
            "artel_messages_sent_total{kind=\"request\"} 1",
            "artel_messages_refused_total{code=\"UNKNOWN_AGENT\"} 1",
            "artel_requests_total{outcome=\"timeout\"} 1",
            "artel_requests_total{outcome=\"answered\"} 0",
            "artel_dead_letters_total{reason=\"expired\"} 0",
        ],
    );
}
