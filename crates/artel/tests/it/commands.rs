//! Runs that are told something: from another process, and by Ctrl-C.

use serde_json::{Value, json};

use crate::running::{Running, eventually};
use crate::session::Session;

/// A session with a plan of one long step.
fn long() -> Session {
    let session = Session::new();
    session.copy("fixtures/tools/tool-processes", "skills/tool-processes");
    session.write(
        "plan.json",
        &plan(vec![
            json!({"toolId": "wait", "skill": "tool-processes", "script": "sleeps", "timeoutMs": 600_000}),
        ]),
    );
    session
}

fn plan(tools: Vec<Value>) -> String {
    json!({"requestId": "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c", "tools": tools}).to_string()
}

const RUN: [&str; 6] = ["plan", "run", "plan.json", "--watch", "--timeout", "600000"];

fn state(session: &Session, run: &str) -> String {
    let list = session.json(&["run", "list"]);
    let found = list["items"].as_array().unwrap().iter().find(|item| item["run_id"] == run).unwrap().clone();
    found["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_is_paused_resumed_and_cancelled_from_another_process() {
    let session = long();
    let mut running = Running::start(&session, &RUN);
    let run = running.run_id();
    running.hear("wait: info ready");
    assert_eq!(session.json(&["run", "pause", &run])["state"], "paused");
    running.hear("paused by");
    assert_eq!(session.output(&["run", "pause", &run]).status.code(), Some(1));
    assert_eq!(session.json(&["run", "resume", &run[..18]])["state"], "running");
    running.hear("resumed by");
    let told = session.run(&["run", "cancel", &run]).replace(&run, "[id]");
    // It may have ended before its end is asked for.
    assert!(told.contains("exit 0") && told.contains("cancelled"), "{told}");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("failed (cancelled):"), "{}", ended.stderr);
    assert_eq!(state(&session, &run), "cancelled");
    assert_eq!(session.json(&["run", "show", &run])["failureReason"], "cancelled");
}

/// A session with a composite whose second step waits for a yes.
fn approval() -> Session {
    let session = Session::new();
    session.copy("fixtures/tools/tool-good", "skills/tool-good");
    let manifest = json!({
        "name": "release", "version": "1.0.0", "description": "Builds, asks, ships. Use when testing approvals.",
        "steps": [
            {"id": "build", "skill": "tool-good", "script": "patches"},
            {"id": "ship", "skill": "tool-good", "script": "patches", "approval": true},
        ],
    });
    session.write("skills/release/skill.json", &manifest.to_string());
    session
}

#[test]
fn a_step_that_needs_a_yes_waits_for_it() {
    let session = approval();
    let mut running = Running::start(&session, &["skill", "run", "release", "--watch"]);
    let run = running.run_id();
    running.hear("waiting for approval of release/ship");
    eventually("it waits", || state(&session, &run) == "awaiting_approval");
    assert_eq!(session.output(&["run", "approve", &run, "--step", "release/build"]).status.code(), Some(1));
    assert_eq!(session.output(&["run", "approve", &run, "--note", "fine"]).status.code(), Some(0));
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("release/ship approved by"), "{}", ended.stderr);
    assert_eq!(state(&session, &run), "succeeded");
}

#[test]
fn a_step_that_is_refused_fails() {
    let session = approval();
    let mut running = Running::start(&session, &["skill", "run", "release", "--watch"]);
    let run = running.run_id();
    running.hear("waiting for approval of release/ship");
    assert_eq!(session.output(&["run", "reject", &run, "--note", "not today"]).status.code(), Some(0));
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("not today"), "{}", ended.stderr);
    assert_eq!(state(&session, &run), "failed");
}

#[test]
fn ctrl_c_cancels_and_waits_for_the_end() {
    for signal in ["INT", "TERM"] {
        let session = long();
        let mut running = Running::start(&session, &[&RUN[..], &["--json"]].concat());
        let run = running.run_id();
        running.hear("wait: info ready");
        running.signal(signal);
        running.hear("cancelling; once more kills everything");
        let ended = running.end();
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        let result: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(result["failureReason"], "cancelled");
        assert_eq!(result["executionTrace"][0]["state"], "cancelled");
        assert_eq!(state(&session, &run), "cancelled");
    }
}

#[test]
fn a_second_ctrl_c_leaves_the_run_to_be_recovered() {
    let session = long();
    let tool =
        json!({"toolId": "wait", "skill": "tool-processes", "script": "ignores-term", "timeoutMs": 600_000});
    session.write("plan.json", &plan(vec![tool]));
    session.write("artel.toml", "[run]\ngrace_ms = 600000\n");
    let mut running = Running::start(&session, &RUN);
    let run = running.run_id();
    running.hear("wait: info ready");
    running.signal("INT");
    running.hear("cancelling; once more kills everything");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("was left unfinished"), "{}", ended.stderr);
    assert_eq!(state(&session, &run), "stopping");
    let told = session.run(&["run", "list"]);
    assert!(told.contains("stopping (left over)"), "{told}");
    let recovered = session.json(&["run", "recover"]);
    assert_eq!(
        (&recovered["items"][0]["run_id"], &recovered["items"][0]["state"]),
        (&json!(run), &json!("cancelled"))
    );
}

#[test]
fn a_run_is_watched_from_another_process() {
    let session = approval();
    let mut running = Running::start(&session, &["skill", "run", "release", "--watch"]);
    let run = running.run_id();
    running.hear("waiting for approval of release/ship");
    let watcher = Running::start(&session, &["run", "watch", &run]);
    session.output(&["run", "approve", &run]);
    let ended = watcher.end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("started release/build (attempt 1)"), "{}", ended.stdout);
    assert!(ended.stdout.contains("release/ship completed"), "{}", ended.stdout);
    assert_eq!(running.end().status.code(), Some(0));
    let events = session.output(&["run", "watch", &run, "--json"]);
    let first: Value =
        serde_json::from_slice(events.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((&first["revision"], &first["event"]["type"]), (&json!(1), &json!("submitted")));
}

#[test]
fn a_second_run_with_the_same_key_is_the_first_one() {
    let session = Session::new();
    let once = || session.json(&["skill", "run", "navigate", "location=kitchen", "--key", "monday"]);
    let (first, second) = (once(), once());
    assert_eq!(first, second);
    let other = session.json(&["skill", "run", "navigate", "location=kitchen", "--key", "tuesday"]);
    assert_ne!(first["run_id"], other["run_id"]);
}
