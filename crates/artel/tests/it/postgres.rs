//! The real binary on PostgreSQL: the same commands, by several processes in several places on one database.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::database::Database;
use crate::running::{Running, eventually};
use crate::session::Session;

/// A script that leaves a line in a file each time it runs. The step `gate` waits until somebody opens it.
const SCRIPT: &str = r#"#!/bin/sh
echo "$ARTEL_STEP_ID" >> "$ARTEL_DATA_DIR/log"
while [ "$ARTEL_STEP_ID" = gate ] && [ ! -e "$ARTEL_DATA_DIR/open" ]; do sleep 0.02; done
printf '{"version":"0","type":"state_patch","patch":{"%s":true}}\n' "$ARTEL_STEP_ID"
printf '{"version":"0","type":"done","ok":true,"output":{"step":"%s"}}\n' "$ARTEL_STEP_ID"
"#;

const RUN: [&str; 5] = ["plan", "run", "plan.json", "--timeout", "600000"];

/// Puts a plan of steps in a row into a place, and the skill that they use.
fn chain(session: &Session, steps: &[&str]) {
    let manifest = json!({
        "name": "mark", "version": "1.0.0", "description": "Leaves a mark. For tests.", "idempotent": true,
    });
    session.write("skills/mark/skill.json", &manifest.to_string());
    let script = session.write("skills/mark/scripts/run.sh", SCRIPT);
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let tool = |(place, id): (usize, &&str)| {
        let needs = place.checked_sub(1).map(|before| steps[before]);
        json!({"toolId": id, "skill": "mark", "dependencies": Vec::from_iter(needs), "timeoutMs": 600_000})
    };
    let tools: Vec<Value> = steps.iter().enumerate().map(tool).collect();
    let plan = json!({"requestId": "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c", "tools": tools});
    session.write("plan.json", &plan.to_string());
}

/// Returns the steps that ran, in order.
fn marks(session: &Session) -> Vec<String> {
    let log = session.data_of("mark").join("log");
    std::fs::read_to_string(log).unwrap_or_default().lines().map(str::to_owned).collect()
}

fn open_gate(session: &Session) {
    std::fs::write(session.data_of("mark").join("open"), "").unwrap();
}

fn runs(session: &Session) -> Vec<Value> {
    session.json(&["run", "list"])["items"].as_array().unwrap().clone()
}

/// Returns the state of the only run.
fn state(session: &Session) -> String {
    let runs = runs(session);
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0]["state"].as_str().unwrap().to_owned()
}

#[track_caller]
fn succeeds(session: &Session, arguments: &[&str]) {
    let output = session.output(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn skills_and_plans_run_and_everybody_sees_them() {
    let database = Database::any();
    let (here, there) = (database.session(), database.session());
    let record = here.json(&["skill", "run", "navigate", "location=kitchen"]);
    assert_eq!((&record["status"], &record["result"]["status"]), (&json!("success"), &json!("success")));
    chain(&here, &["a", "b"]);
    let result = here.json(&RUN);
    assert_eq!((&result["success"], &result["finalState"]), (&json!(true), &json!({"a": true, "b": true})));
    assert!(!here.path().join(".artel/artel.db").exists(), "there is one store");

    let seen = runs(&there);
    assert_eq!(seen, runs(&here));
    assert_eq!(seen.len(), 2);
    let run = seen[0]["run_id"].as_str().unwrap();
    assert_eq!(there.json(&["run", "show", run])["finalState"], result["finalState"]);
    let events = there.output(&["run", "show", run, "--events"]).stdout;
    assert!(events.split(|byte| *byte == b'\n').count() > 4);
    let stats = there.json(&["run", "stats"]);
    let counts: Vec<_> = stats["items"].as_array().unwrap().iter().map(|item| &item["count"]).collect();
    assert_eq!(counts, [2, 1]);
    assert_eq!(there.json(&["run", "prune", "--before", "0s"])["removed"], 2);
    assert_eq!(runs(&here), [] as [Value; 0]);
}

#[test]
fn kill_9_in_the_middle_loses_nothing() {
    let database = Database::any();
    let (here, there) = (database.session(), database.session());
    chain(&here, &["a", "b", "gate", "d"]);
    let mut child = here.command(&RUN).spawn().unwrap();
    eventually("the third step runs", || marks(&here).len() == 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(state(&there), "running");
    // Nobody elsewhere can say whether who drives the run is dead.
    succeeds(&there, &["run", "recover"]);
    assert_eq!(state(&there), "running");
    open_gate(&here);
    succeeds(&here, &["run", "recover"]);
    assert_eq!(state(&there), "succeeded");
    assert_eq!(marks(&here), ["a", "b", "gate", "gate", "d"]);
}

#[test]
fn a_crash_of_the_server_is_told_and_recovered_from() {
    let mut database = Database::on_own_server();
    let session = database.session();
    chain(&session, &["a", "gate", "c"]);
    let running = Running::start(&session, &[&RUN[..], &["--watch"]].concat());
    eventually("the second step runs", || marks(&session).len() == 2);
    database.own.as_mut().unwrap().order("restart");
    open_gate(&session);
    // It may have found the server away, or back again after a crash.
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("artel run recover"), "{}", ended.stderr);
    succeeds(&session, &["run", "recover"]);
    assert_eq!(state(&session), "succeeded");
    assert_eq!(marks(&session).last().unwrap(), "c");
}

#[test]
fn a_yes_comes_from_another_place_and_after_a_restart() {
    let database = Database::any();
    let (here, there) = (database.session(), database.session());
    here.copy("fixtures/tools/tool-good", "skills/tool-good");
    let manifest = json!({
        "name": "release", "version": "1.0.0", "description": "Asks, then ships. Use when testing approvals.",
        "steps": [{"id": "ship", "skill": "tool-good", "script": "patches", "approval": true}],
    });
    here.write("skills/release/skill.json", &manifest.to_string());
    let release = ["skill", "run", "release", "--watch"];

    let mut running = Running::start(&here, &release);
    let run = running.run_id();
    running.hear("waiting for approval of release/ship");
    succeeds(&there, &["run", "approve", &run]);
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);

    let mut running = Running::start(&here, &release);
    let run = running.run_id();
    running.hear("waiting for approval of release/ship");
    running.signal("KILL");
    running.end();
    succeeds(&there, &["run", "approve", &run]);
    succeeds(&here, &["run", "recover"]);
    assert_eq!(there.json(&["run", "show", &run])["success"], true);
}

#[test]
fn many_processes_begin_at_once_on_an_empty_database() {
    let database = Database::any();
    let places: Vec<Session> = (0..4).map(|_| database.session()).collect();
    let started: Vec<Running> = places
        .iter()
        .map(|place| {
            chain(place, &["a", "b", "c"]);
            Running::start(place, &RUN)
        })
        .collect();
    for running in started {
        let ended = running.end();
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    }
    let seen = runs(&places[0]);
    assert_eq!(seen.len(), places.len());
    assert!(seen.iter().all(|run| run["state"] == "succeeded"), "{seen:?}");
    assert!(places.iter().all(|place| marks(place) == ["a", "b", "c"]));
}

#[test]
fn agents_and_their_mail_are_shared() {
    let database = Database::any();
    let (here, there) = (database.session(), database.session());
    let agent =
        here.json(&["agent", "spawn", "--skill", "navigate", "location=kitchen", "--label", "walker"]);
    assert_eq!(agent["state"], "completed");
    for name in ["chief", "scout"] {
        assert_eq!(here.json(&["agent", "spawn", "--label", name])["state"], "idle");
    }
    assert_eq!(there.json(&["agent", "list"])["items"].as_array().unwrap().len(), 3);
    assert_eq!(there.json(&["agent", "show", "walker"])["results"], agent["results"]);

    here.json(&["message", "send", "--from", "chief", "--to", "scout", "n=1"]);
    here.json(&["message", "send", "--to", "scout", "--priority", "1", "n=2"]);
    let mail = there.json(&["message", "read", "scout"]);
    let read: Vec<&Value> =
        mail["items"].as_array().unwrap().iter().map(|item| &item["payload"]["n"]).collect();
    assert_eq!(read, [2, 1]);
    assert_eq!(here.json(&["message", "read", "scout"])["items"], json!([]));

    let asking =
        ["message", "request", "--from", "chief", "--to", "scout", "--timeout", "60", "--json", "n=3"];
    let asking = Running::start(&here, &asking);
    let request = there.json(&["message", "read", "scout", "--wait", "60"])["items"][0].clone();
    let correlation = request["correlation_id"].as_str().unwrap();
    there.json(&[
        "message",
        "send",
        "--from",
        "scout",
        "--to",
        "chief",
        "--type",
        "response",
        "--correlation",
        correlation,
        "n=4",
    ]);
    let ended = asking.end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert_eq!(serde_json::from_str::<Value>(&ended.stdout).unwrap()["payload"], json!({"n": 4}));
}

#[test]
fn what_is_wrong_with_an_address_is_told_without_its_secrets() {
    let session = Session::new();
    for (parameters, expected) in [("sslmod=require", "`sslmod` means nothing"), ("sslmode=maybe", "maybe")] {
        let url = format!("postgres://ada:secret@127.0.0.1:1/runs?{parameters}");
        let told = session.run(&["run", "list", "--store", &url]);
        assert!(told.starts_with("exit 3") && told.contains(expected), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }
}
