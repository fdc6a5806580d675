//! Plans that are checked, run and made.

use std::process::Output;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::session::{Session, steady};

const ID: &str = "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c";

fn plan(tools: Vec<Value>) -> String {
    json!({"requestId": ID, "parallel": true, "tools": tools}).to_string()
}

/// The plans of the fixtures where they are in the repository, with `off` switched off and `broken` failed for good.
struct Fixtures(Session);

impl Fixtures {
    fn new() -> Self {
        let session = Session::new();
        session.copy("fixtures/plans", "repository/fixtures/plans");
        session.write("repository/Cargo.toml", "");
        session.write("repository/README.md", "");
        let fixtures = Self(session);
        fixtures.output(&["skill", "disable", "off"]);
        // With so few files it may open, no script gets as far as its first line.
        let limited = fixtures.0.write("limited.toml", "[script_limits]\nopen_files = 1\n");
        for _ in 0..6 {
            let output = fixtures.output(&["--config", limited.as_str(), "skill", "run", "broken"]);
            assert_eq!(output.status.code(), Some(1), "{output:?}");
        }
        fixtures
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let folder = self.0.path().join("repository/fixtures/plans");
        let data = self.0.path().join("data");
        let arguments = [&["--data", data.as_str(), "--skills", "skills"], arguments].concat();
        self.0.command(&arguments).current_dir(folder).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> (Value, Option<i32>) {
        let output = self.output(&[arguments, &["--json"]].concat());
        let document =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        (document, output.status.code())
    }

    fn cases(&self) -> Vec<String> {
        let folder = self.0.path().join("repository/fixtures/plans");
        let names = folder.read_dir_utf8().unwrap().map(|entry| entry.unwrap().file_name().to_owned());
        let mut cases: Vec<String> =
            names.filter_map(|name| Some(name.strip_suffix(".expected.json")?.to_owned())).collect();
        cases.sort();
        cases
    }
}

#[test]
fn every_problem_of_every_plan_is_told() {
    let fixtures = Fixtures::new();
    let cases = fixtures.cases();
    assert!(cases.len() > 25, "{cases:?}");
    for case in cases {
        let expected = fixtures.0.read(&format!("repository/fixtures/plans/{case}.expected.json"));
        let mut expected: Value = serde_json::from_str(&expected).unwrap();
        let file = format!("{case}.json");
        let (mut found, code) = fixtures.json(&["plan", "validate", &file]);
        for problem in found["problems"].as_array_mut().unwrap() {
            problem.as_object_mut().unwrap().remove("hint");
            // On a shelf the id of a skill begins with its source.
            problem["message"] = problem["message"].as_str().unwrap().replace("`default/", "`").into();
        }
        // The order of the fields is nobody's business.
        assert_eq!(found["problems"], expected, "{case}");
        let is_json = expected.as_array().unwrap().iter().all(|problem| problem["code"] != "invalid_json");
        let is_valid = expected.as_array_mut().unwrap().is_empty();
        let wanted = if is_valid {
            0
        } else if is_json {
            1
        } else {
            2
        };
        assert_eq!((found["valid"].as_bool(), code), (Some(is_valid), Some(wanted)), "{case}");
        if !is_valid {
            let (result, code) = fixtures.json(&["plan", "run", &file]);
            assert_eq!((&result["success"], code), (&json!(false), Some(wanted)), "{case}");
            assert_eq!((&result["executionTrace"], &result["runId"]), (&json!([]), &Value::Null), "{case}");
            let is_ring = ["cycle", "self-dependency"].contains(&case.as_str());
            let reason = if is_ring { "circular_dependency" } else { "invalid_plan" };
            assert_eq!(result["failureReason"], reason, "{case}");
        }
    }
    // Only what was broken on purpose was ever run.
    let runs = fixtures.json(&["run", "executions", "--limit", "1000"]).0;
    assert!(runs["items"].as_array().unwrap().iter().all(|record| record["skill_name"] == "broken"));
}

#[test]
fn a_plan_runs_no_file_that_is_not_a_script_of_a_skill() {
    let session = Session::new();
    session.copy("fixtures/tools/tool-good", "skills/tool-good");
    let outside = session.write("outside.sh", "#!/bin/sh\ntouch ran\n");
    let mut permissions = outside.metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&outside, permissions).unwrap();
    session.link("../../../outside.sh", "skills/tool-good/scripts/link.sh");
    let tools = [
        "skills/tool-good/../../outside.sh",
        outside.as_str(),
        "skills/tool-good/scripts/link.sh",
        "outside.sh",
    ];
    for path in tools {
        session.write("plan.json", &plan(vec![json!({"toolId": "a", "toolPath": path})]));
        let result = session.json(&["plan", "run", "plan.json"]);
        assert_eq!((&result["success"], &result["executionTrace"]), (&json!(false), &json!([])), "{path}");
        assert_eq!(result["problems"][0]["code"], "not_a_discovered_script", "{path}");
    }
    assert!(!session.path().join("ran").exists());
    session.write(
        "plan.json",
        &plan(vec![json!({"toolId": "a", "toolPath": "skills/tool-good/scripts/patches.sh"})]),
    );
    assert_eq!(session.json(&["plan", "run", "plan.json"])["success"], true);
}

#[test]
fn every_violation_of_the_protocol_is_told_with_its_line() {
    let session = Session::new();
    session.copy("fixtures/tools/tool-violations", "skills/tool-violations");
    let manifest: Value = serde_json::from_str(&session.read("skills/tool-violations/skill.json")).unwrap();
    let names: Vec<&str> = manifest["scripts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|script| script["name"].as_str().unwrap())
        .collect();
    let tool =
        |name: &&str| json!({"toolId": name, "skill": "tool-violations", "script": name, "async": true});
    session.write("plan.json", &plan(names.iter().map(tool).collect()));
    let result = session.json(&["plan", "run", "plan.json", "--timeout", "600000"]);
    assert_eq!((&result["success"], &result["failureReason"]), (&json!(false), &json!("protocol_violation")));
    let trace = result["executionTrace"].as_array().unwrap();
    assert_eq!(trace.len(), names.len());
    for entry in trace {
        let (name, error) = (entry["toolId"].as_str().unwrap(), &entry["error"]);
        assert_eq!(
            (&error["type"], &entry["retryCount"]),
            (&json!("ProtocolViolation"), &json!(0)),
            "{entry}"
        );
        let message = error["message"].as_str().unwrap();
        let line = match name {
            "second-done" | "text-after-done" => "line 2 ",
            "many-events" => "line 10001 ",
            "much-output" => "line 1032 ",
            "blank-lines" => "line 33538 ",
            // There is no line that could be to blame.
            "no-done" | "nothing" => "the script ended without a `done` event",
            _ => "line 1 ",
        };
        assert!(message.starts_with(line), "{name}: {message}");
    }
}

#[test]
fn a_plan_is_checked_and_run() {
    let session = Session::new();
    session.copy("skills/fetch-object/examples", ".");
    assert_snapshot!(session.run(&["plan", "validate", "plan.json"]), @"
    exit 0
    --- stdout
    ok: 3 tools, nothing is wrong with it
    ");
    assert_snapshot!(steady(&session.run(&["plan", "run", "plan.json"])), @"
    exit 0
    --- stdout
    Fetching the cup from the kitchen, written out step by step.
    completed  navigate  [time]  reached the kitchen
    completed  detect  [time]  kitchen: cup
    completed  grasp  [time]  holding the cup
    --- stderr
    done: 3 completed in [time], run [id]
    ");
    assert_snapshot!(steady(&session.run(&["plan", "run", "plan.json", "--watch"])), @r#"
    exit 0
    --- stdout
    Fetching the cup from the kitchen, written out step by step.
    completed  navigate  [time]  reached the kitchen
    completed  detect  [time]  kitchen: cup
    completed  grasp  [time]  holding the cup
    --- stderr
    run [id]
    plan [id]: 3 steps
    started navigate (attempt 1)
    navigate: info driving 11.2 m to the kitchen, [time] at 1 m/s
    navigate: event navigation.complete {"final_position":{"x":10,"y":5}}
    navigate completed in [time]
    started detect (attempt 1)
    detect completed in [time]
    started grasp (attempt 1)
    grasp completed in [time]
    done: 3 completed in [time], run [id]
    "#);
    let result = session.json(&["plan", "run", "plan.json"]);
    assert_eq!((&result["success"], &result["failedTools"]), (&json!(true), &json!([])));
    assert_eq!(result["finalState"]["robot"]["holding"], "cup");
}

#[test]
fn a_plan_comes_through_a_pipe_too() {
    let session = Session::new();
    let mut command = session.command(&["plan", "run", "-", "--json"]);
    session.copy("skills/navigate/examples", ".");
    command.stdin(std::fs::File::open(session.path().join("plan.json")).unwrap());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_failed_plan_says_what_failed_and_what_was_skipped() {
    let session = Session::new();
    session.copy("fixtures/tools/tool-failures", "skills/tool-failures");
    session.copy("fixtures/tools/tool-good", "skills/tool-good");
    let tools = vec![
        json!({"toolId": "a", "skill": "tool-failures", "script": "not-ok", "retryPolicy": {"maxRetries": 1, "backoffMs": 1}}),
        json!({"toolId": "b", "skill": "tool-good", "script": "patches", "dependencies": ["a"]}),
        json!({"toolId": "c", "skill": "tool-good", "script": "patches"}),
    ];
    session.write("plan.json", &plan(tools));
    assert_snapshot!(steady(&session.run(&["plan", "run", "plan.json"])), @"
    exit 1
    --- stdout
    failed  a  [time]  the script failed: found no cup (after 2 attempts)
    skipped  b  `a`, which it needs, failed
    completed  c  [time]
    --- stderr
    failed (tool_failure): 1 completed, 1 failed, 1 skipped in [time], run [id]
    ");
    let id = session.json(&["run", "list"])["items"][0]["run_id"].as_str().unwrap().to_owned();
    assert_snapshot!(steady(&session.run(&["run", "show", &id])), @r#"
    exit 0
    --- stdout
    run  [id]
    of  plan
    plan  [id]
    state  failed
    asked for  [when]
    ended  [when], after [time]
    state at the end  {"door":{"open":true},"seen":["cup","plate"]}

    failed  a  [time]  the script failed: found no cup (after 2 attempts)
    skipped  b  `a`, which it needs, failed
    completed  c  [time]

    a
      attempt 1 after [time]: ToolExecutionFailed: the script failed: found no cup
      attempt 2 after [time]: ToolExecutionFailed: the script failed: found no cup
    "#);
}

#[test]
fn mistakes_about_plans_are_met_with_advice() {
    let session = Session::new();
    assert_snapshot!(session.run(&["plan", "validate", "nowhere.json"]), @"
    exit 3
    --- stderr
    error: cannot read the plan `nowhere.json`: No such file or directory (os error 2)
    ");
    session.write("no.json", "{ tools: }");
    assert_snapshot!(session.run(&["plan", "validate", "no.json"]), @"
    exit 2
    --- stdout
    error[invalid_json]: key must be a string at line 1 column 3
      --> /
    --- stderr
    1 problem
    ");
    session.write(
        "typo.json",
        &json!({"requestId": ID, "tools": [{"toolid": "a", "skill": "naviagte"}]}).to_string(),
    );
    assert_snapshot!(session.run(&["plan", "validate", "typo.json"]), @"
    exit 1
    --- stdout
    error[missing_field]: `toolId` is missing
      --> /tools/0
    error[unknown_key]: there is no field `toolid` here
      --> /tools/0/toolid
       = hint: did you mean `toolId`?
    --- stderr
    2 problems
    ");
    assert_snapshot!(session.run(&["plan", "run", "typo.json"]), @"
    exit 1
    --- stdout
    error[missing_field]: `toolId` is missing
      --> /tools/0
    error[unknown_key]: there is no field `toolid` here
      --> /tools/0/toolid
       = hint: did you mean `toolId`?
    --- stderr
    the plan cannot run, and nothing was started
    ");
}

#[test]
fn a_request_becomes_a_plan_and_is_answered() {
    let session = Session::new();
    let plan = session.json(&["plan", "generate", "fetch the cup from the kitchen"]);
    assert_eq!(plan["tools"][0]["skill"], "fetch-object");
    assert_eq!(plan["tools"][0]["input"], json!({"location": "kitchen", "object_id": "cup"}));
    let result = session.json(&["plan", "ask", "fetch the cup from the kitchen"]);
    assert_eq!((&result["success"], &result["failedTools"]), (&json!(true), &json!([])));
    let result = session.json(&["plan", "ask", "sing me a song about nothing at all"]);
    assert_eq!(result["executionTrace"], json!([]));
    assert!(result["narrative"].is_string());
}

#[test]
fn a_program_can_be_the_planner() {
    let session = Session::new();
    let planner = session.write(
        "planner.sh",
        "#!/bin/sh\ncat > asked.json\necho '{\"tools\": [{\"toolId\": \"go\", \"skill\": \"navigate\", \"input\": {\"location\": \"dock\"}}]}'\n",
    );
    let mut permissions = planner.metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&planner, permissions).unwrap();
    session.write("artel.toml", "[planner]\nkind = 'command'\ncommand = ['./planner.sh']\n");
    let result = session.json(&["plan", "ask", "go home"]);
    assert_eq!((&result["success"], &result["executionTrace"][0]["toolId"]), (&json!(true), &json!("go")));
    assert!(session.read("asked.json").contains("go home"));
    let output = session.output(&["plan", "generate", "go home", "--planner", "llm"]);
    assert_eq!(output.status.code(), Some(2));
}
