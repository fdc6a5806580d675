//! Numbers in a file: what a command counted is there at its end, every number is documented, and nothing of what a user
//! wrote is in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use artel_model::metric::{Metric, MetricKind};
use serde_json::json;

use crate::docs;
use crate::session::Session;

/// Everything that is measured, by who measures it.
const ALL: [(&str, &[Metric]); 8] = [
    ("Runs and processes", artel_engine::METRICS),
    ("Traces", artel_engine::trace::METRICS),
    ("The store in a file", artel_store_sqlite::METRICS),
    ("The store in PostgreSQL", artel_store_postgres::METRICS),
    ("The bus", artel_bus::METRICS),
    ("Agents and messages", artel_agents::METRICS),
    ("The catalog", artel_app::METRICS),
    ("The server", artel_server::METRICS),
];

fn find(name: &str) -> Option<&'static Metric> {
    ALL.iter().flat_map(|(_, metrics)| *metrics).find(|metric| metric.name == name)
}

/// A number of the file: its metric, its labels, its value.
struct Sample<'a> {
    metric: &'static Metric,
    labels: Vec<(&'a str, &'a str)>,
}

/// Reads a line of the file; a name or a label that is not listed fails the test.
#[track_caller]
fn read(line: &str) -> Sample<'_> {
    let (series, _) = line.rsplit_once(' ').unwrap();
    let (name, labels) = series.split_once('{').unwrap_or((series, ""));
    let labels = labels.trim_end_matches('}').split(',').filter_map(|label| label.split_once('='));
    let labels: Vec<(&str, &str)> = labels.map(|(name, value)| (name, value.trim_matches('"'))).collect();
    let of_histogram = || ["_bucket", "_sum", "_count"].iter().find_map(|end| find(name.strip_suffix(end)?));
    let metric = find(name).or_else(of_histogram).unwrap_or_else(|| panic!("`{name}` is not listed"));
    Sample { metric, labels }
}

fn skill(session: &Session, name: &str, script: &str) {
    let manifest =
        json!({"name": name, "version": "1.0.0", "description": "Shows one thing. Use when testing."});
    session.write(&format!("skills/{name}/skill.json"), &manifest.to_string());
    let path = session.write(&format!("skills/{name}/scripts/run.sh"), &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

fn session() -> Session {
    let session = Session::new();
    skill(&session, "telling-name", r#"echo '{"version":"0","type":"done","ok":true}'"#);
    skill(&session, "bad", "exit 3");
    let tools = json!([
        {"toolId": "one", "skill": "telling-name"},
        {"toolId": "two", "skill": "bad", "retryPolicy": {"maxRetries": 0}},
        {"toolId": "three", "skill": "telling-name", "dependencies": ["two"]},
    ]);
    let plan = json!({"requestId": "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c", "tools": tools});
    session.write("plan.json", &plan.to_string());
    session
}

#[test]
fn a_run_is_counted() {
    let session = session();
    let output = session.output(&["plan", "run", "plan.json", "--metrics", "artel.prom"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = session.read("artel.prom");
    for line in [
        "artel_runs_submitted_total 1",
        "artel_runs_ended_total{state=\"failed\"} 1",
        "artel_steps_ended_total{status=\"completed\"} 1",
        "artel_steps_ended_total{status=\"failed\"} 1",
        "artel_steps_ended_total{status=\"skipped\"} 1",
        "artel_attempts_ended_total{outcome=\"completed\"} 1",
        "artel_attempts_ended_total{outcome=\"tool_execution_failed\"} 1",
        "artel_attempt_duration_seconds_count 2",
        "artel_attempt_duration_seconds_bucket{le=\"+Inf\"} 2",
        "artel_processes_started_total 2",
        "artel_slots_in_use 0",
        "artel_sqlite_queue_changes 0",
        "# TYPE artel_attempt_duration_seconds histogram",
        "# HELP artel_runs_submitted_total Runs that were begun.",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing in\n{text}");
    }
    assert_eq!(
        session.path().join("artel.prom").parent().unwrap().read_dir_utf8().unwrap().count(),
        4,
        "no rest"
    );
}

#[test]
fn labels_are_those_listed_and_nothing_of_the_user_is_in_them() {
    let session = session();
    session.output(&["plan", "run", "plan.json", "--metrics", "artel.prom"]);
    let text = session.read("artel.prom");
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let sample = read(line);
        for (name, value) in sample.labels {
            if name == "le" {
                assert!(matches!(sample.metric.kind, MetricKind::Histogram { .. }), "{line}");
                continue;
            }
            let label = sample.metric.label.unwrap_or_else(|| panic!("{line}"));
            assert_eq!(label.name, name, "{line}");
            assert!(label.values.contains(&value), "{line}");
        }
    }
    assert!(!text.contains("telling"), "{text}");
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_done() {
    let mut session = session();
    session.set("ARTEL_METRICS", "no-such-folder/artel.prom");
    let told = session.run(&["plan", "run", "plan.json"]);
    assert!(
        told.starts_with("exit 3\n--- stderr\nerror: cannot write metrics to `no-such-folder/artel.prom`"),
        "{told}"
    );
    assert!(!session.path().join(".artel").exists());
}

#[test]
fn names_follow_one_rule() {
    let mut seen = BTreeMap::new();
    for (group, metrics) in ALL {
        for metric in metrics {
            assert!(metric.name.starts_with("artel_"), "{}", metric.name);
            assert!(seen.insert(metric.name, group).is_none(), "{} is listed twice", metric.name);
            let is_total = metric.name.ends_with("_total");
            assert_eq!(is_total, metric.kind == MetricKind::Counter, "{}", metric.name);
            assert!(metric.about.ends_with('.'), "{}", metric.name);
        }
    }
}

#[test]
fn metrics_are_documented() {
    let mut text = String::from(
        "# Metrics\n\n\
         With `--metrics FILE` (`ARTEL_METRICS`, or `metrics` in `artel.toml`) artel keeps numbers about its process in a file, in\n\
         the text format of Prometheus: when the command begins, every 15 seconds, and at its end. The file is replaced as a whole,\n\
         so whoever reads it never sees half of it. The textfile collector of `node_exporter` reads files that end in `.prom`:\n\n\
         ```sh\n\
         artel run recover --metrics /var/lib/node_exporter/artel-recover.prom\n\
         node_exporter --collector.textfile.directory /var/lib/node_exporter\n\
         ```\n\n\
         The numbers are those of one process and begin at zero with it, so every process needs a file of its own. Labels have the\n\
         values listed here and no others: no ids, no names, nothing that a user wrote. This page is made from the `metrics.rs` of\n\
         the crates.\n",
    );
    for (group, metrics) in ALL {
        write!(text, "\n## {group}\n\n| metric | kind | labels | what it counts |\n|---|---|---|---|\n")
            .unwrap();
        for Metric { name, kind, about, label } in metrics {
            let kind = match kind {
                MetricKind::Counter => "counter",
                MetricKind::Gauge => "gauge",
                MetricKind::Histogram { .. } => "histogram",
            };
            let values = |values: &[&str]| {
                values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
            };
            let label =
                label.map(|label| format!("`{}`: {}", label.name, values(label.values))).unwrap_or_default();
            writeln!(text, "| `{name}` | {kind} | {label} | {about} |").unwrap();
        }
    }
    docs::check("metrics.md", &text);
}

/// Returns every word of a text that is named like a number of ours.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("artel_"))
}

#[test]
fn the_dashboard_shows_numbers_that_there_are() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dashboards/artel.json");
    let text = std::fs::read_to_string(path).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut shown = BTreeMap::new();
    for target in panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten() {
        let (expression, legend) =
            (target["expr"].as_str().unwrap(), target["legendFormat"].as_str().unwrap());
        for name in names_in(expression) {
            let of_histogram = name.strip_suffix("_bucket").and_then(find);
            let metric = of_histogram.or_else(|| find(name)).unwrap_or_else(|| panic!("{name} is not there"));
            let is_histogram = matches!(metric.kind, MetricKind::Histogram { .. });
            assert_eq!(is_histogram, of_histogram.is_some(), "{expression}");
            for label in legend.split("{{").skip(1).map(|rest| rest.split_once("}}").unwrap().0) {
                assert_eq!(metric.label.map(|known| known.name), Some(label), "{expression}");
            }
            shown.insert(metric.name, ());
        }
    }
    assert!(names_in(&text).all(|name| find(name).is_some() || name.ends_with("_bucket")));
    // Every part of artel is seen: at least half of what each measures.
    for (group, metrics) in ALL {
        let count = metrics.iter().filter(|metric| shown.contains_key(metric.name)).count();
        assert!(count * 2 >= metrics.len(), "{group}: {count} of {}", metrics.len());
    }
}
