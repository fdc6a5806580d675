//! What is counted while plans run, as Prometheus is shown it. The recorder is the test's own: tests run on one thread.

use artel_engine::METRICS;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::json;

use crate::workplace::Workplace;

const DONE: &str = r#"echo '{"version":"0","type":"done","ok":true}'"#;

/// Checks that the text has these lines.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    for line in expected {
        assert!(text.lines().any(|found| found == *line), "`{line}` is missing in\n{text}");
    }
}

#[tokio::test]
async fn runs_steps_attempts_and_processes_are_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let place = Workplace::new(&[("fine", DONE), ("bad", "exit 3")]).await;
    let tools = json!([
        {"toolId": "a", "skill": "fine"},
        {"toolId": "b", "skill": "bad", "retryPolicy": {"maxRetries": 1, "backoffMs": 1}},
        {"toolId": "c", "skill": "fine", "dependencies": ["b"]},
    ]);
    place.run(tools).await;
    place.hands.tidied().await;
    check(
        &recorder.handle().render(),
        &[
            "artel_runs_submitted_total 1",
            "artel_runs_ended_total{state=\"failed\"} 1",
            "artel_runs_ended_total{state=\"succeeded\"} 0",
            "artel_runs_recovered_total 0",
            "artel_steps_ended_total{status=\"completed\"} 1",
            "artel_steps_ended_total{status=\"failed\"} 1",
            "artel_steps_ended_total{status=\"skipped\"} 1",
            "artel_attempts_started_total 3",
            "artel_attempts_ended_total{outcome=\"completed\"} 1",
            "artel_attempts_ended_total{outcome=\"tool_execution_failed\"} 2",
            "artel_attempt_duration_seconds_count 3",
            "artel_processes_started_total 3",
            "artel_process_spawn_duration_seconds_count 3",
            "artel_slots_in_use 0",
            "artel_slots_waiting 0",
        ],
    );
}

#[tokio::test]
async fn whatever_is_counted_is_listed() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let _place = Workplace::new(&[]).await;
    let text = recorder.handle().render();
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for name in kinds.filter_map(|line| line.split(' ').next()) {
        assert!(METRICS.iter().any(|metric| metric.name == name), "{name}");
    }
}
