//! Skills that are run, and what is kept of it.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::session::{Session, steady};

#[track_caller]
fn check(session: &Session, arguments: &[&str]) -> String {
    steady(&session.run(arguments))
}

#[test]
fn a_skill_is_run() {
    let session = Session::new();
    assert_snapshot!(check(&session, &["skill", "run", "navigate", "location=kitchen", "speed=2"]), @r#"
    exit 0
    --- stdout
    final_position  {"x":10,"y":5}
    status  success
    --- stderr
    driving 11.2 m to the kitchen, [time] at 2 m/s
    navigation.complete {"final_position":{"x":10,"y":5}}
    done: navigate in [time], run [id]
    "#);
    assert_snapshot!(check(&session, &["-q", "skill", "run", "navigate", "location=kitchen"]), @r#"
    exit 0
    --- stdout
    final_position  {"x":10,"y":5}
    status  success
    "#);
}

#[test]
fn a_record_says_everything_about_a_run() {
    let session = Session::new();
    let record = session.json(&["skill", "run", "navigate", "location=kitchen", "speed=1.5"]);
    let keys: Vec<&String> = record.as_object().unwrap().keys().collect();
    let expected = [
        "agent_id",
        "attempts",
        "completed_at",
        "content_hash",
        "duration_ms",
        "error",
        "execution_id",
        "node",
        "parameters",
        "result",
        "retry_count",
        "run_id",
        "skill_name",
        "skill_version",
        "started_at",
        "status",
        "step_id",
    ];
    assert_eq!(keys, expected);
    assert_eq!(record["skill_name"], "navigate");
    assert_eq!(record["skill_version"], "1.0.0");
    assert_eq!(record["parameters"], json!({"location": "kitchen", "speed": 1.5}));
    assert_eq!(record["result"], json!({"status": "success", "final_position": {"x": 10, "y": 5}}));
    assert_eq!(
        (&record["status"], &record["error"], &record["retry_count"]),
        (&json!("success"), &Value::Null, &json!(0))
    );
    let events = record["attempts"][0]["events"].as_array().unwrap();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["log", "state_patch", "ui_event", "done"]);
}

#[test]
fn a_skill_that_fails_says_why_and_is_recorded() {
    let session = Session::new();
    session.copy("fixtures/tools/tool-failures", "skills/tool-failures");
    assert_snapshot!(check(&session, &["skill", "run", "tool-failures", "--script", "error-event"]), @"
    exit 1
    --- stderr
    error: there is no cup in the kitchen (NO_CUP)
    attempt 2
    error: there is no cup in the kitchen (NO_CUP)
    attempt 3
    error: there is no cup in the kitchen (NO_CUP)
    attempt 4
    error: there is no cup in the kitchen (NO_CUP)
    error: `tool-failures` failed: the script says that it failed: NO_CUP: there is no cup in the kitchen
    hint: `artel run show [id]` shows everything about it
    ");
    let record = session.json(&["skill", "run", "tool-failures", "--script", "exit-code"]);
    assert_eq!(record["status"], "failed");
    assert_eq!(record["error"]["type"], "ToolExecutionFailed");
    assert_eq!(record["error"]["exitCode"], 3);
    assert!(record["attempts"][0]["stderr"].as_str().unwrap().contains("no such room"), "{record}");
}

#[test]
fn parameters_come_from_values_from_json_and_from_files() {
    let session = Session::new();
    session.write("params.json", r#"{"location": "hallway", "speed": 2}"#);
    let parameters = |arguments: &[&str]| {
        let arguments = [&["skill", "run", "navigate"], arguments].concat();
        session.json(&arguments)["parameters"].clone()
    };
    assert_eq!(parameters(&["--params", "@params.json"]), json!({"location": "hallway", "speed": 2}));
    assert_eq!(
        parameters(&["--params", "@params.json", "speed=3"]),
        json!({"location": "hallway", "speed": 3})
    );
    assert_eq!(
        parameters(&["--params", r#"{"location": "dock"}"#]),
        json!({"location": "dock", "speed": 1.0})
    );
}

#[test]
fn what_looks_like_a_reference_in_a_parameter_is_a_text() {
    let session = Session::new();
    session.copy("fixtures/tools/tool-good", "skills/tool-good");
    let record = session.json(&["skill", "run", "tool-good", "--script", "echo", "text=${HOME} $${x}"]);
    assert_eq!(record["parameters"]["text"], "${HOME} $${x}");
}

#[test]
fn mistakes_in_parameters_are_met_with_advice() {
    let session = Session::new();
    assert_snapshot!(check(&session, &["skill", "run", "navigate"]), @"
    exit 2
    --- stderr
    error: the parameter `location` (Where to go: dock, hallway, kitchen or living-room) is missing
    hint: give it as location=VALUE
    ");
    assert_snapshot!(check(&session, &["skill", "run", "navigate", "locaton=kitchen"]), @"
    exit 2
    --- stderr
    error: there is no parameter `locaton`
    hint: did you mean `location`?
    ");
    assert_snapshot!(check(&session, &["skill", "run", "navigate", "location=kitchen", "speed=fast"]), @"
    exit 2
    --- stderr
    error: `speed` must be a number, not `fast`
    ");
    assert_snapshot!(check(&session, &["skill", "run", "navigate", "location=kitchen", "speed=99"]), @"
    exit 2
    --- stderr
    error: `speed`: 99 is greater than the maximum of 10
    ");
    assert_snapshot!(check(&session, &["skill", "run", "navigate", "kitchen"]), @"
    exit 2
    --- stderr
    error: `kitchen` is not KEY=VALUE
    hint: write location=VALUE speed=VALUE
    ");
    assert_snapshot!(check(&session, &["skill", "run", "navigate", "--params", "{location: 1}"]), @r#"
    exit 2
    --- stderr
    error: the parameters are no JSON: key must be a string at line 1 column 2
    hint: write for example --params '{"key": 1}', or --params @FILE
    "#);
    assert_snapshot!(check(&session, &["skill", "run", "navigate", "--params", "@nowhere.json"]), @"
    exit 3
    --- stderr
    error: cannot read the parameters `nowhere.json`: No such file or directory (os error 2)
    ");
    assert_snapshot!(check(&session, &["skill", "run", "naviagte"]), @"
    exit 1
    --- stderr
    error: there is no skill `naviagte`
    hint: did you mean `navigate`?
    ");
    assert_snapshot!(check(&session, &["skill", "run", "storyteller", "--script", "nonsense"]), @"
    exit 2
    --- stderr
    error: `storyteller` has no script `nonsense`
    hint: there is: narrate
    ");
    assert!(!session.path().join(".artel").exists(), "nothing was run, so nothing was made");
}

#[test]
fn fetch_object_runs_step_by_step() {
    let session = Session::new();
    let record = session.json(&["skill", "run", "fetch-object", "location=kitchen", "object_id=cup"]);
    assert_eq!(record["status"], "success");
    assert_eq!(
        record["result"],
        json!({
            "navigate": {"status": "success", "final_position": {"x": 10, "y": 5}},
            "detect": {"objects": ["cup"]},
            "grasp": {"grasped": true},
        })
    );
    let run = record["run_id"].as_str().unwrap();
    let listed = session.json(&["run", "executions", "--run", run]);
    let mut steps: Vec<(&str, &str)> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["step_id"].as_str().unwrap(), item["status"].as_str().unwrap()))
        .collect();
    steps.sort_unstable();
    let done = ["fetch-object", "fetch-object/detect", "fetch-object/grasp", "fetch-object/navigate"];
    assert_eq!(steps, done.map(|step| (step, "success")));
}

/// The workflow of the skills document: records, states, results and the published event.
#[test]
fn the_fetch_object_chain_gives_its_records_and_its_event() {
    let session = Session::new();
    let record = session.json(&[
        "skill",
        "run",
        "grasp",
        "--chain",
        "navigate.location=kitchen",
        "detect.area=kitchen",
        "grasp.object_id=cup",
    ]);
    assert_eq!((&record["skill_name"], &record["status"]), (&json!("grasp"), &json!("success")));
    let run = record["run_id"].as_str().unwrap();
    let result = session.json(&["run", "show", run]);
    let trace = result["executionTrace"].as_array().unwrap();
    let shape: Vec<Value> =
        trace.iter().map(|entry| json!([entry["toolId"], entry["state"], entry["output"]])).collect();
    assert_eq!(
        shape,
        [
            json!(["navigate", "completed", {"status": "success", "final_position": {"x": 10, "y": 5}}]),
            json!(["detect", "completed", {"objects": ["cup"]}]),
            json!(["grasp", "completed", {"grasped": true}]),
        ]
    );
    let published: Vec<&Value> = trace
        .iter()
        .flat_map(|entry| entry["events"].as_array().unwrap())
        .filter(|event| event["type"] == "ui_event")
        .collect();
    assert_eq!(published[0]["event"], "navigation.complete");
    assert_eq!(published[0]["payload"], json!({"final_position": {"x": 10, "y": 5}}));
    let mut records = session.json(&["run", "executions", "--run", run])["items"].as_array().unwrap().clone();
    // The latest come first.
    records.reverse();
    let shape: Vec<Value> = records
        .iter()
        .map(|record| {
            json!([record["skill_name"], record["parameters"], record["status"], record["retry_count"]])
        })
        .collect();
    assert_eq!(
        shape,
        [
            json!(["navigate", {"location": "kitchen", "speed": 1.0}, "success", 0]),
            json!(["detect", {"area": "kitchen"}, "success", 0]),
            json!(["grasp", {"object_id": "cup"}, "success", 0]),
        ]
    );
}

#[test]
fn a_chain_wants_to_know_whose_parameter_it_is() {
    let session = Session::new();
    assert_snapshot!(check(&session, &["skill", "run", "grasp", "--chain", "object_id=cup"]), @"
    exit 2
    --- stderr
    error: `object_id=cup` does not say which skill it is for
    hint: with --chain write SKILL.KEY=VALUE
    ");
    assert_snapshot!(check(&session, &["skill", "run", "grasp", "--chain", "memory.key=x"]), @"
    exit 2
    --- stderr
    error: `memory` does not run in this chain
    hint: what runs is: navigate, detect, grasp
    ");
    assert_snapshot!(check(&session, &["skill", "run", "grasp", "--chain", "grasp.object_id=cup"]), @"
    exit 2
    --- stderr
    error: `navigate`: the parameter `location` (Where to go: dock, hallway, kitchen or living-room) is missing
    hint: give it as navigate.location=VALUE
    ");
}

#[test]
fn a_skill_that_fails_too_often_is_not_run_until_it_is_enabled() {
    let session = Session::new();
    session.copy("fixtures/tools/tool-failures", "skills/tool-failures");
    for _ in 0..6 {
        session.output(&["skill", "run", "tool-failures", "--script", "not-ok"]);
    }
    assert_eq!(session.json(&["skill", "show", "tool-failures"])["health"], "permanentFailure");
    let listed = session.json(&["skill", "list"]);
    let of = |name: &str| {
        listed["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (&of("tool-failures")["health"], &of("navigate")["health"]),
        (&json!("permanentFailure"), &json!("healthy"))
    );
    assert_snapshot!(check(&session, &["skill", "run", "tool-failures", "--script", "fails-twice"]), @"
    exit 1
    --- stderr
    error: skill `tool-failures` failed too often and is not run
    hint: mend it, or reset it with `artel skill enable tool-failures`
    ");
    session.output(&["skill", "enable", "tool-failures"]);
    assert_eq!(session.json(&["skill", "show", "tool-failures"])["health"], "healthy");
}

#[test]
fn runs_are_listed_shown_counted_and_removed() {
    let session = Session::new();
    assert_snapshot!(check(&session, &["run", "list"]), @"
    exit 0
    --- stderr
    0 runs
    ");
    assert_snapshot!(check(&session, &["run", "show", "0197a3"]), @"
    exit 1
    --- stderr
    error: nothing was run yet: there is no `.artel/artel.db`
    hint: `artel skill run` and `artel plan run` run something; `--data` names another data folder
    ");
    let first = session.json(&["skill", "run", "navigate", "location=kitchen"]);
    session.output(&["skill", "run", "navigate", "location=mars"]);
    let id = first["run_id"].as_str().unwrap();
    assert_snapshot!(check(&session, &["run", "show", id]), @r#"
    exit 0
    --- stdout
    run  [id]
    of  navigate
    plan  [id]
    state  succeeded
    asked for  [when]
    ended  [when], after [time]
    state at the end  {"robot":{"location":"kitchen","position":{"x":10,"y":5}}}

    completed  navigate  [time]  reached the kitchen
    "#);
    let list = |arguments: &[&str]| session.json(&[&["run", "list"], arguments].concat());
    assert_eq!(list(&[])["items"].as_array().unwrap().len(), 2);
    assert_eq!(list(&["--state", "failed"])["items"].as_array().unwrap().len(), 1);
    assert_eq!(list(&["--since", "1h"])["items"].as_array().unwrap().len(), 2);
    let page = list(&["--limit", "1"]);
    let next = page["next"].as_str().unwrap();
    assert_eq!(list(&["--limit", "1", "--after", next])["items"][0]["run_id"], id);
    let stats = session.json(&["run", "stats"]);
    let stats = &stats["items"][0];
    assert_eq!(
        (&stats["skill"], &stats["count"], &stats["succeeded"]),
        (&json!("navigate"), &json!(2), &json!(1))
    );
    assert_eq!(
        session.json(&["run", "executions", "--status", "failed"])["items"].as_array().unwrap().len(),
        1
    );
    assert_snapshot!(check(&session, &["db", "check"]), @"
    exit 0
    --- stdout
    ok: 2 runs, 16 events, 2 executions, version 8
    ");
    session.output(&["db", "backup", "copy.db"]);
    assert_eq!(session.json(&["run", "list", "--store", "copy.db"])["items"].as_array().unwrap().len(), 2);
    assert_eq!(session.json(&["run", "prune", "--before", "0s"])["removed"], 2);
    assert_eq!(list(&[])["items"], json!([]));
}

#[test]
fn mistakes_about_runs_are_met_with_advice() {
    let session = Session::new();
    session.output(&["skill", "run", "navigate", "location=kitchen"]);
    assert_snapshot!(check(&session, &["run", "show", "ffff"]), @"
    exit 1
    --- stderr
    error: there is no run whose id begins with `ffff`
    hint: `artel run list` shows the runs there are
    ");
    assert_snapshot!(check(&session, &["run", "show", "latest"]), @"
    exit 2
    --- stderr
    error: invalid value 'latest' for '<ID>': a run's id looks like [id]

    For more information, try '--help'.
    ");
    assert_snapshot!(check(&session, &["run", "list", "--state", "done"]), @"
    exit 2
    --- stderr
    error: invalid value 'done' for '--state <STATE>': it is one of running, awaiting_approval, paused, stopping, succeeded, failed, cancelled

    For more information, try '--help'.
    ");
    assert_snapshot!(check(&session, &["run", "list", "--after", "nonsense"]), @"
    exit 2
    --- stderr
    error: `nonsense` is not the end of a page
    hint: `--after` takes the `next` of the page before
    ");
    assert_snapshot!(check(&session, &["run", "prune"]), @"
    exit 2
    --- stderr
    error: it is not said what may be removed
    hint: `--before 30d` removes what ended more than 30 days ago; so does `retention_days` in artel.toml
    ");
    let id = session.json(&["run", "list"])["items"][0]["run_id"].as_str().unwrap().to_owned();
    assert_snapshot!(check(&session, &["run", "cancel", &id]), @"
    exit 1
    --- stderr
    error: the run is over: it succeeded
    ");
    assert_snapshot!(check(&session, &["run", "recover"]), @"
    exit 0
    --- stderr
    nothing is left over
    ");
}

#[test]
fn the_store_is_told_where_it_is_and_what_is_wrong_with_it() {
    let session = Session::new();
    session.write(
        "broken.db",
        "this is no database, but it is long enough to be taken for one by nobody at all",
    );
    let output = session.output(&["run", "list", "--store", "broken.db"]);
    assert_eq!(output.status.code(), Some(3));
    let doctor = session.output(&["doctor", "--store", "broken.db"]);
    assert_eq!(doctor.status.code(), Some(1));
    let output = session.output(&["run", "list", "--store", "postgres://ada:secret@127.0.0.1:1/runs"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("secret"));
}

#[test]
fn a_sandbox_that_is_switched_off_is_told_by_the_doctor() {
    let mut session = Session::new();
    session.set("ARTEL_SANDBOX", "off");
    let doctor = session.json(&["doctor"]);
    let row = |list: &str, name: &str| {
        doctor[list].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(
        row("settings", "sandbox"),
        json!({"name": "sandbox", "value": "off", "origin": "$ARTEL_SANDBOX"})
    );
    assert_eq!(row("checks", "sandbox")["state"], "warning");
    assert!(row("checks", "store")["detail"].as_str().unwrap().contains("made when it is needed"));
    session.set("ARTEL_SANDBOX", "maybe");
    assert_snapshot!(check(&session, &["doctor"]), @"
    exit 2
    --- stderr
    error: $ARTEL_SANDBOX must be enforce, best-effort or off, not `maybe`
    ");
}
