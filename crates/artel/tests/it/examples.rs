//! Every example, run by the real binary as its README says.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use artel_model::contract::DocumentKind;
use camino::Utf8Path;
use serde_json::{Value, json};

use crate::schemas;
use crate::session::Session;

/// A folder of its own with the examples in it, as in the project's root.
fn session() -> Session {
    let session = Session::new();
    let examples = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    copy(&examples, &session.path().join("examples"));
    session
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Runs the plan of an example and returns its result, which must fit the schema.
fn run(session: &Session, name: &str) -> Value {
    let (skills, plan) = (format!("examples/{name}/skills"), format!("examples/{name}/plan.json"));
    let valid = session.json(&["--skills", &skills, "plan", "validate", &plan]);
    assert_eq!(valid["valid"], true, "{valid:#}");
    let result = session.json(&["--skills", &skills, "plan", "run", &plan]);
    schemas::check(DocumentKind::Result, &result);
    result
}

/// Returns what a tool gave.
fn output(result: &Value, tool: &str) -> Value {
    let trace = result["executionTrace"].as_array().unwrap();
    let entry = trace.iter().find(|entry| entry["toolId"] == tool);
    entry.map_or_else(|| panic!("no {tool} in {result:#}"), |entry| entry["output"].clone())
}

#[test]
fn scripts_of_examples_may_be_executed_and_are_valid() {
    let session = session();
    for entry in session.path().join("examples").read_dir_utf8().unwrap() {
        let skills = entry.unwrap().path().join("skills");
        if !skills.exists() {
            continue;
        }
        let output = session.output(&["skill", "validate", skills.as_str()]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        for skill in skills.read_dir_utf8().unwrap() {
            let scripts = skill.unwrap().path().join("scripts");
            for script in scripts.read_dir_utf8().into_iter().flatten() {
                let script = script.unwrap();
                let mode = script.metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o111, 0o111, "{}", script.path());
            }
        }
    }
}

#[test]
fn coordinator() {
    let result = run(&session(), "coordinator");
    assert_eq!(result["success"], true, "{result:#}");
    assert_eq!(output(&result, "total"), json!({"total": 16, "missing": []}));
    assert_eq!(result["finalState"], json!({"counts": {"first": 5, "second": 3, "third": 8}}));
}

#[test]
fn sequential() {
    let result = run(&session(), "sequential");
    assert_eq!(output(&result, "frame"), json!({"text": "*** The Old Man And The Sea ***"}));
}

#[test]
fn refinement() {
    let session = session();
    let result = run(&session, "refinement");
    let expected = json!({"guess": 1.4142156862745097, "accepted": true, "rounds": 4});
    assert_eq!(output(&result, "refine/judge-4"), expected);
    assert_eq!(output(&result, "refine/judge-5"), expected);
    assert_eq!(output(&result, "refine")["judge-5"], expected);
    let rounds = |arguments: &[&str]| {
        let skills = ["--skills", "examples/refinement/skills", "skill", "run", "refine-root"];
        session.json(&[&skills, arguments].concat())["result"]["judge-5"].clone()
    };
    assert_eq!(rounds(&["number=2", "threshold=0.1"])["rounds"], 3);
    let hard = rounds(&["number=1000000"]);
    assert_eq!((&hard["accepted"], &hard["rounds"]), (&json!(false), &json!(5)));
}

/// Reads lines until a run asks for an approval, and returns the run; nothing when it never asks.
fn asked(lines: &mut impl BufRead) -> Option<String> {
    let question = "waiting for approval of release/publish: artel run approve ";
    lines.lines().find_map(|line| line.unwrap().strip_prefix(question).map(str::to_owned))
}

/// Runs the example that waits for a person, says something to it, and returns what came of it.
fn answered(session: &Session, answer: &str, note: &str) -> Value {
    let arguments = ["--skills", "examples/approval/skills", "plan", "run", "examples/approval/plan.json"];
    let mut command = session.command(&[&arguments[..], &["--watch", "--json"]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let run = asked(&mut lines).unwrap();
    let told = session.output(&["run", answer, &run[..13], "--note", note]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    lines.read_to_string(&mut String::new()).unwrap();
    let output = child.wait_with_output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.success(), result["success"] == true);
    schemas::check(DocumentKind::Result, &result);
    result
}

#[test]
fn approval() {
    let session = session();
    let result = answered(&session, "approve", "looks right");
    assert_eq!(result["success"], true, "{result:#}");
    assert_eq!(result["finalState"], json!({"published": "Release 1.2.0: faster, smaller, better."}));
    let result = answered(&session, "reject", "not on a Friday");
    assert_eq!(result["success"], false, "{result:#}");
    assert_eq!(result["finalState"], json!({}));
    let trace = result["executionTrace"].as_array().unwrap();
    let publish = trace.iter().find(|entry| entry["toolId"] == "release/publish").unwrap();
    assert_eq!(publish["error"]["type"], "PolicyDenied", "{publish:#}");
    assert!(publish["error"]["message"].as_str().unwrap().ends_with("not on a Friday"), "{publish:#}");
}

#[test]
fn fetch_object() {
    let session = session();
    let result = session.json(&["plan", "run", "examples/fetch-object/plan.json"]);
    let expected = json!({
        "navigate": {"status": "success", "final_position": {"x": 10, "y": 5}},
        "detect": {"objects": ["cup"]},
        "grasp": {"grasped": true},
    });
    assert_eq!(output(&result, "fetch"), expected);
    let trace = result["executionTrace"].as_array().unwrap();
    let events = trace.iter().flat_map(|entry| entry["events"].as_array().unwrap());
    let published: Vec<&Value> = events.filter(|event| event["type"] == "ui_event").collect();
    assert_eq!(published.len(), 1);
    assert_eq!(published[0]["event"], "navigation.complete");
    assert_eq!(published[0]["payload"], json!({"final_position": {"x": 10, "y": 5}}));

    let chain = ["skill", "run", "grasp", "--chain", "navigate.location=kitchen", "grasp.object_id=cup"];
    assert_eq!(session.json(&chain)["result"], json!({"grasped": true}));
    let records = session.json(&["run", "executions", "--skill", "navigate"]);
    let records = records["items"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    for record in records {
        schemas::check(DocumentKind::Execution, record);
        assert_eq!(
            (&record["status"], &record["parameters"]["location"]),
            (&json!("success"), &json!("kitchen"))
        );
        assert_eq!(record["result"]["final_position"], json!({"x": 10, "y": 5}));
    }
    let book = session.run(&["skill", "run", "fetch-object", "location=kitchen", "object_id=book"]);
    assert!(book.starts_with("exit 1\n") && book.contains("`book` is not within reach"), "{book}");
}

#[test]
fn plan_file() {
    let session = session();
    let result = run(&session, "plan-file");
    assert_eq!(result["success"], true, "{result:#}");
    assert_eq!(result["failedTools"], json!(["cellar"]));
    let report = "Roof at 21.5 degrees; cellar: unknown; garden: 18.0 C; roof: 21.5 C";
    assert_eq!(output(&result, "report"), json!({"report": report}));
    assert_eq!(result["finalState"], json!({"celsius": {"garden": 18.0, "roof": 21.5}}));
    assert_eq!(result["executionTrace"][2]["retryCount"], 1);
    assert_eq!(result["assets"][0]["mediaType"], "text/plain");
}

#[test]
fn replanning() {
    let session = session();
    let ask = ["--skills", "examples/replanning/skills", "plan", "ask", "convert 10 miles to kilometres"];
    let result = session.json(&ask);
    schemas::check(DocumentKind::Result, &result);
    assert_eq!(result["success"], true, "{result:#}");
    assert_eq!(result["disabledSkills"], json!(["convert-online"]));
    assert_eq!(result["generationMetadata"]["generationAttempt"], 2);
    assert!(result["generationMetadata"]["parentPlanId"].is_string(), "{result:#}");
    let trace = result["executionTrace"].as_array().unwrap();
    assert_eq!(trace.last().unwrap()["output"], json!({"kilometres": 16.093}));
}
