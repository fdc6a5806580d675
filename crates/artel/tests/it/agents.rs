//! Agents: spawned, looked at, told and recovered, by one process and by several.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;

use artel_model::agent::{
    AgentEvent, AgentRecord, AgentSpec, CallOrigin, Cause, Driver, Layer, Policy, StampedAgentEvent,
};
use artel_model::contract::DocumentKind;
use artel_model::id::AgentId;
use artel_model::time::Timestamp;
use artel_store::{AgentStore, NewAgent};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use crate::running::{Running, eventually};
use crate::schemas;
use crate::session::{Session, steady};

/// A session with a skill that allows its own script, and one that allows something else.
pub(crate) fn with_skills() -> Session {
    let session = Session::new();
    let parameters = json!({
        "type": "object", "properties": {"to": {"type": "string"}, "steps": {"type": "integer"}},
        "required": ["to"], "additionalProperties": false,
    });
    skill(
        &session,
        "walk",
        &json!({"allowed_tools": ["walk"], "forbidden_tools": ["Bash(rm:*)"], "parameters_schema": parameters}),
        WALK,
    );
    skill(&session, "talk", &json!({"allowed_tools": ["talk", "Bash"]}), WALK);
    session
}

const WALK: &str = r#"printf '{"version":"0","type":"done","ok":true,"output":{"there":true}}\n'"#;

fn skill(session: &Session, name: &str, more: &Value, script: &str) {
    let mut manifest =
        json!({"name": name, "version": "1.0.0", "description": format!("Can {name}. For tests.")});
    manifest.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    session.write(&format!("skills/{name}/skill.json"), &manifest.to_string());
    let script = session.write(&format!("skills/{name}/scripts/run.sh"), &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A session with a plan of one step that takes long.
fn long(script: &str) -> Session {
    let session = Session::new();
    session.copy("fixtures/tools/tool-processes", "skills/tool-processes");
    let tool = json!({"toolId": "wait", "skill": "tool-processes", "script": script, "timeoutMs": 600_000});
    let plan = json!({"requestId": "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c", "tools": [tool]});
    session.write("plan.json", &plan.to_string());
    session
}

const SPAWN_LONG: [&str; 7] = ["agent", "spawn", "--plan", "plan.json", "--watch", "--label", "scout"];

fn state(session: &Session, agent: &str) -> String {
    session.json(&["agent", "show", agent])["state"].as_str().unwrap().to_owned()
}

#[track_caller]
fn check(session: &Session, arguments: &[&str], code: i32, codes: &[&str]) {
    let output = session.output(&[arguments, &["--json"]].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found: Vec<&str> =
        document["errors"].as_array().unwrap().iter().map(|error| error["code"].as_str().unwrap()).collect();
    assert_eq!((&document["valid"], found.as_slice()), (&json!(false), codes), "{arguments:?}");
}

#[test]
fn an_agent_runs_a_skill_to_its_end() {
    let session = with_skills();
    let spawn =
        ["agent", "spawn", "--skill", "walk", "to=kitchen", "steps=3", "--with", "walk", "--meta", "job=7"];
    let agent = session.json(&spawn);
    schemas::check(DocumentKind::Agent, &agent);
    assert_eq!((&agent["state"], &agent["status"]), (&json!("completed"), &json!("completed")));
    assert_eq!(agent["results"], json!({"walk": {"there": true}}));
    assert_eq!(agent["skill_params"], json!({"to": "kitchen", "steps": 3}));
    assert_eq!((&agent["operation_count"], &agent["success_count"]), (&json!(1), &json!(1)));
    assert_eq!((&agent["metadata"], &agent["skills"]), (&json!({"job": 7}), &json!(["walk"])));
    assert_snapshot!(steady(&session.run(&spawn)), @r#"
    exit 0
    --- stdout
    agent  [id]
    state  completed
    result  walk: {"there":true}
    --- stderr
    done: agent [id] in [time]
    "#);
}

#[test]
fn a_plan_and_a_task_make_agents_act_too() {
    let session = with_skills();
    let tool = json!({"toolId": "go", "skill": "walk", "input": {"to": "hall"}});
    session.write(
        "plan.json",
        &json!({"requestId": "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c", "tools": [tool]}).to_string(),
    );
    let agent = session.json(&["agent", "spawn", "--plan", "plan.json", "--label", "planned"]);
    assert_eq!((&agent["state"], &agent["results"]["go"]["there"]), (&json!("completed"), &json!(true)));
    let agent = session.json(&["agent", "spawn", "--task", "fetch the cup from the kitchen"]);
    assert_eq!((&agent["state"], &agent["driver"]), (&json!("completed"), &json!("plan")), "{agent:#}");
    assert_eq!(agent["results"]["grasp"], json!({"grasped": true}));
    let request = r#"{"skill": "walk", "params": {"to": "hall"}, "label": "written"}"#;
    let agent = session.json(&["agent", "spawn", "--request", request, "--label", "said"]);
    assert_eq!((&agent["state"], &agent["name"]), (&json!("completed"), &json!("said")));
}

#[test]
fn a_program_of_somebody_else_works_on_a_task() {
    let session = with_skills();
    let script = r#"echo "at work" >&2; ls .artel-none 2>/dev/null; printf '{"said": "%s"}\n' "$0""#;
    let spawn = [
        "agent",
        "spawn",
        "--json",
        "--task",
        "sing",
        "--with",
        "walk",
        "--command",
        "/bin/sh",
        "-c",
        script,
        "{task}",
    ];
    let output = session.output(&spawn);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let agent: Value = serde_json::from_slice(&output.stdout).unwrap();
    schemas::check(DocumentKind::Agent, &agent);
    assert_eq!(agent["results"]["result"]["said"], "sing", "{agent:#}");
    let id = agent["agent_id"].as_str().unwrap();
    let events = session.run(&["agent", "show", id, "--events"]);
    assert!(events.contains("stderr") && events.contains("at work"), "{events}");
}

/// Answers one question as a model would, and returns what was asked.
fn model(answer: &'static str) -> (u16, std::thread::JoinHandle<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answering = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        while reader.read_line(&mut head).unwrap() > 2 {
            let line = head.lines().last().unwrap_or_default().to_ascii_lowercase();
            if let Some(bytes) = line.strip_prefix("content-length:") {
                length = bytes.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let choice = json!({"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"});
        let reply =
            json!({"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).to_string();
        let mut stream = reader.into_inner();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            reply.len()
        );
        stream.write_all(format!("{head}{reply}").as_bytes()).unwrap();
        String::from_utf8(body).unwrap()
    });
    (port, answering)
}

#[test]
fn a_model_works_on_a_task() {
    let session = with_skills();
    let (port, asked) = model("all is well");
    session.write("artel.toml", &format!("[llm]\nurl = 'http://127.0.0.1:{port}/v1'\nmodel = 'small'\n"));
    let agent =
        session.json(&["agent", "spawn", "--task", "look around", "--driver", "llm", "--with", "walk"]);
    assert_eq!((&agent["state"], &agent["driver"]), (&json!("completed"), &json!("llm")), "{agent:#}");
    assert_eq!(agent["results"]["result"]["text"], "all is well");
    let asked = asked.join().unwrap();
    assert!(asked.contains("look around") && asked.contains("walk__run"), "{asked}");
    session.write("artel.toml", "[llm]\nmodel = 'small'\napi_key_env = 'MODEL_KEY'\n");
    check(&session, &["agent", "spawn", "--task", "x", "--driver", "llm"], 1, &["DRIVER_UNAVAILABLE"]);
}

#[test]
fn a_refused_spawn_leaves_nothing_behind() {
    let session = with_skills();
    let spawn = |arguments: &[&'static str]| [&["agent", "spawn"], arguments].concat();
    check(&session, &spawn(&["--with", "nope", "--driver", "external"]), 1, &["UNKNOWN_SKILL"]);
    check(&session, &spawn(&["--with", "specification-engine"]), 1, &["MISSING_REQUIRED"]);
    check(&session, &spawn(&["--skill", "walk", "to=x", "--no-skills"]), 1, &["TOOL_NOT_ALLOWED"]);
    check(&session, &spawn(&["--skill", "walk", "to=x", "--with", "talk"]), 1, &["TOOL_NOT_ALLOWED"]);
    check(&session, &spawn(&["--skill", "walk", "--with", "walk"]), 1, &["INVALID_PLAN"]);
    check(&session, &spawn(&["--role", "designer"]), 1, &["UNKNOWN_ROLE"]);
    check(&session, &spawn(&["--task", "x", "--driver", "llm"]), 1, &["DRIVER_UNAVAILABLE"]);
    check(&session, &spawn(&["--task", "x", "--client", "claude"]), 1, &["DRIVER_UNAVAILABLE"]);
    check(&session, &spawn(&["--driver", "llm"]), 2, &["INVALID_REQUEST"]);
    check(&session, &spawn(&["--request", r#"{"skills": "walk"}"#]), 2, &["INVALID_REQUEST"]);
    check(&session, &spawn(&["--request", r#"{"skills": null, "shape": 1}"#]), 2, &["INVALID_REQUEST"; 2]);
    check(
        &session,
        &spawn(&["--request", r#"{"parent": "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c"}"#]),
        1,
        &["UNKNOWN_PARENT"],
    );
    assert_eq!(session.json(&["agent", "list"]), json!({"items": [], "next": null}));
    assert_snapshot!(session.run(&["agent", "spawn", "--skill", "walk", "to=x", "--with", "talk"]), @"
    exit 1
    --- stdout
    error[TOOL_NOT_ALLOWED]: the agent may not call `walk/run`: none of its skills allows it (`talk`)
    --- stderr
    no agent was spawned
    ");
    for usage in [
        &["agent", "spawn", "to=x"][..],
        &["agent", "spawn", "--thinking", "hard"],
        &["agent", "spawn", "--request", "{"],
        &["agent", "spawn", "--skill", "walk", "too=x"],
        &["agent", "spawn", "--with", "walk", "--no-skills"],
        &["agent", "list", "--state", "busy"],
        &["agent", "list", "--after", "x"],
        &["agent", "prune"],
    ] {
        assert_eq!(session.output(usage).status.code(), Some(2), "{usage:?}");
    }
    assert_eq!(session.output(&["agent", "show", "nobody"]).status.code(), Some(1));
    assert_eq!(session.output(&["agent", "spawn", "--plan", "nowhere.json"]).status.code(), Some(3));
    assert_eq!(session.output(&["agent", "spawn", "--parent", "nobody"]).status.code(), Some(1));
}

#[test]
fn an_external_agent_is_driven_call_by_call() {
    let session = with_skills();
    let agent = session.json(&["agent", "spawn", "--label", "scout", "--with", "walk,talk"]);
    assert_eq!((&agent["state"], &agent["driver"]), (&json!("idle"), &json!("external")));
    let done = session.json(&["agent", "execute", "scout", "walk", "to=kitchen"]);
    assert_eq!((&done["ok"], &done["output"]), (&json!(true), &json!({"there": true})));
    let called = |arguments: &[&str]| {
        let output = session.output(&[&["agent", "execute", "scout"], arguments, &["--json"]].concat());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code().unwrap(), document["error"]["code"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(called(&["navigate", "location=kitchen"]), (1, "TOOL_NOT_ALLOWED".to_owned()));
    assert_eq!(called(&["Bash(rm -rf /)"]), (1, "TOOL_FORBIDDEN".to_owned()));
    assert_eq!(called(&["walk", "--params", "{}"]), (2, "INVALID_PARAMETERS".to_owned()));
    assert_eq!(called(&["talkk"]), (1, "TOOL_NOT_ALLOWED".to_owned()));
    let agent = session.json(&["agent", "show", "scout"]);
    schemas::check(DocumentKind::Agent, &agent);
    assert_eq!(
        (&agent["operation_count"], &agent["error_count"], &agent["state"]),
        (&json!(5), &json!(4), &json!("idle"))
    );
    let metrics = session.json(&["agent", "metrics", "scout"]);
    assert_eq!((&metrics["success_rate"], &metrics["operation_count"]), (&json!(0.2), &json!(5)));
    assert!(metrics["average_operation_time"].as_f64().is_some_and(|seconds| seconds > 0.0), "{metrics}");
    let words: Vec<String> = events(&session, "scout")
        .iter()
        .map(|event| event["event"]["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(words, ["spawned", "started", "ended", "denied", "denied", "denied", "denied"]);
}

fn events(session: &Session, agent: &str) -> Vec<Value> {
    let output = session.output(&["agent", "show", agent, "--events", "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn show_explains_who_allowed_and_forbade_what() {
    let session = with_skills();
    session.write("artel.toml", "[agents]\nforbidden = ['navigate']\n");
    session.json(&["agent", "spawn", "--label", "chief"]);
    session.json(&["agent", "spawn", "--label", "scout", "--with", "walk,talk", "--parent", "chief"]);
    let shown = session.run(&[
        "agent",
        "show",
        "scout",
        "--tool",
        "walk/run",
        "--tool",
        "Bash(rm -r x)",
        "--tool",
        "navigate",
        "--tool",
        "Read",
    ]);
    assert_snapshot!(steady(&shown), @"
    exit 0
    --- stdout
    agent  [id]
    name  scout
    state  idle
    driver  external
    skills  walk, talk
    parent  [id]
    depth  1
    children  at most 5
    calls  0: 0 went well, 0 did not
    spawned  [when]
    last active  [when]

    may call what every layer allows and none forbids
    layer 0  the configured default of agent [id]
      allows  *  the configured default of agent [id]
      forbids  navigate  the configured default of agent [id]
    layer 1  skills walk, talk
      allows  walk  skill `walk`
      allows  talk  skill `talk`
      allows  Bash  skill `talk`
      forbids  Bash(rm:*)  skill `walk`

    may call  walk/run  allowed by the configured default of agent [id] (*); allowed by skill `walk` (walk)
    may not  Bash(rm -r x)  TOOL_FORBIDDEN: forbidden by skill `walk` (Bash(rm:*))
    may not  navigate/navigate  TOOL_FORBIDDEN: forbidden by the configured default of agent [id] (navigate)
    may not  Read  TOOL_NOT_ALLOWED: none of its skills allows it (`walk`, `talk`)
    ");
    let decided = session.json(&["agent", "show", "scout", "--tool", "navigate"]);
    assert_eq!(decided["decisions"][0]["code"], "TOOL_FORBIDDEN");
    assert_eq!(decided["policy"]["forbidden"][0]["pattern"], "navigate");
    assert_eq!(session.output(&["agent", "show", "scout", "--tool", "a b"]).status.code(), Some(2));
    assert_snapshot!(steady(&session.run(&["agent", "show", "scout", "--events"])), @"
    exit 0
    --- stdout
    [when]  spawned  cli
    ");
}

#[test]
fn skills_are_looked_at_as_a_child_would_have_them() {
    let session = with_skills();
    session.json(&["agent", "spawn", "--label", "chief", "--with", "walk"]);
    let composed =
        session.json(&["skill", "compose", "walk", "talk", "--for-agent", "chief", "--tool", "talk"]);
    assert_eq!(composed["allowed_tools"], json!(["walk", "talk", "Bash"]));
    assert_eq!(composed["child"]["allowed_tools"], json!(["walk"]));
    assert_eq!(composed["child"]["may_call"], json!(["walk/run"]));
    assert_eq!(composed["child"]["decisions"][0]["allowed"], false);
    assert_snapshot!(steady(&session.run(&["skill", "check", "walk", "talk", "--for-agent", "chief"])), @"
    exit 0
    --- stdout
    ok: these skills can be used together
    child of  [id]
    allows  walk
    forbids  Bash(rm:*)
    may call  walk/run
    ");
    assert_eq!(session.output(&["skill", "check", "walk", "--for-agent", "nobody"]).status.code(), Some(1));
}

#[test]
fn an_agent_is_found_by_its_id_the_beginning_of_that_or_its_name() {
    let session = with_skills();
    let id = |agent: &Value| agent["agent_id"].as_str().unwrap().to_owned();
    let first = id(&session.json(&["agent", "spawn", "--label", "twin"]));
    assert_eq!(id(&session.json(&["agent", "show", &first])), first);
    assert_eq!(id(&session.json(&["agent", "show", &first[..13]])), first);
    assert_eq!(id(&session.json(&["agent", "show", "twin"])), first);
    assert_eq!(session.output(&["agent", "show", &first[..3]]).status.code(), Some(1));
    session.json(&["agent", "spawn", "--label", "twin"]);
    let told = session.run(&["agent", "show", "twin"]);
    assert!(
        told.contains("exit 1") && told.contains("2 agents go by `twin`") && told.contains(&first),
        "{told}"
    );
}

#[test]
fn an_agent_is_paused_resumed_and_cancelled_from_another_process() {
    let session = long("sleeps");
    let mut running = Running::start(&session, &SPAWN_LONG);
    running.hear("agent ");
    running.hear("wait: info ready");
    let working = session.json(&["agent", "list", "--state", "working"]);
    assert_eq!(
        (&working["items"][0]["name"], &working["items"][0]["status"]),
        (&json!("scout"), &json!("working"))
    );
    assert_eq!(session.json(&["agent", "pause", "scout"])["state"], "paused");
    running.hear("paused by");
    assert_eq!(session.output(&["agent", "pause", "scout"]).status.code(), Some(1));
    assert_eq!(session.json(&["agent", "resume", "scout"])["state"], "running");
    let told = session.run(&["agent", "cancel", "scout"]);
    assert!(steady(&told).contains("[id]: cancelled"), "{told}");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert_eq!(state(&session, "scout"), "cancelled");
    assert_eq!(session.output(&["agent", "resume", "scout"]).status.code(), Some(1));
    assert_eq!(session.json(&["agent", "terminate", "scout"])["state"], "terminated");
}

#[test]
fn ctrl_c_cancels_the_agent_and_waits_for_its_end() {
    let session = long("sleeps");
    let mut running = Running::start(&session, &[&SPAWN_LONG[..], &["--json"]].concat());
    running.hear("wait: info ready");
    running.signal("INT");
    running.hear("cancelling; once more kills everything");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    let agent: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(agent["state"], "cancelled");
    assert_eq!(session.json(&["run", "list"])["items"][0]["state"], "cancelled");
}

#[test]
fn a_second_ctrl_c_leaves_the_agent_to_be_recovered() {
    let session = long("ignores-term");
    session.write("artel.toml", "[run]\ngrace_ms = 600000\n");
    let mut running = Running::start(&session, &SPAWN_LONG);
    running.hear("wait: info ready");
    running.signal("INT");
    running.hear("cancelling; once more kills everything");
    let run = || session.json(&["run", "list"])["items"][0]["state"].clone();
    // Sometimes only the agent has been told by then, not yet its run.
    eventually("it is told", || state(&session, "scout") == "cancelled");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("was left unfinished"), "{}", ended.stderr);
    session.output(&["agent", "recover"]);
    assert_eq!((state(&session, "scout").as_str(), run()), ("cancelled", json!("cancelled")));
}

/// A skill that takes for ever the first time, and no time the second.
const ONCE_SLOW: &str = r#"if [ ! -e "$ARTEL_DATA_DIR/seen" ]; then
  touch "$ARTEL_DATA_DIR/seen"
  printf '{"version":"0","type":"log","level":"info","message":"ready"}\n'
  sleep 600
fi
printf '{"version":"0","type":"done","ok":true,"output":{"again":true}}\n'"#;

#[test]
fn after_kill_9_an_agent_goes_on() {
    for recover in ["agent", "run"] {
        let session = Session::new();
        skill(&session, "slow", &json!({"idempotent": true, "timeout": 600}), ONCE_SLOW);
        let mut running =
            Running::start(&session, &["agent", "spawn", "--skill", "slow", "--label", "scout", "--watch"]);
        running.hear("ready");
        running.signal("KILL");
        assert!(running.end().status.code().is_none());
        let list = session.run(&["agent", "list"]);
        assert!(list.contains("running (left over)"), "{list}");
        let recovered = session.json(&[recover, "recover"]);
        let agents = if recover == "agent" { &recovered["items"] } else { &recovered["agents"] };
        assert_eq!(
            (&agents[0]["name"], &agents[0]["state"]),
            (&json!("scout"), &json!("completed")),
            "{recovered:#}"
        );
        assert_eq!(agents[0]["results"]["slow"], json!({"again": true}));
        assert_eq!(session.json(&["agent", "recover"]), json!({"items": [], "runs": []}));
    }
}

#[test]
fn failed_agents_are_freed_and_ended_ones_removed() {
    let session = with_skills();
    skill(&session, "bad", &json!({"max_retries": 0}), "exit 3");
    let output = session.output(&["agent", "spawn", "--skill", "bad", "--label", "bad", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let agent: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&agent["state"], &agent["status"]), (&json!("failed"), &json!("error")));
    assert!(agent["error"].as_str().is_some_and(|error| !error.is_empty()));
    assert_eq!(session.json(&["agent", "list", "--state", "error"])["items"][0]["name"], "bad");
    assert_eq!(session.json(&["agent", "free", "bad"])["state"], "idle");
    assert_eq!(session.json(&["agent", "cancel", "bad"])["state"], "cancelled");
    assert_eq!(session.json(&["agent", "prune", "--before", "1d"])["removed"], 0);
    assert_eq!(session.json(&["agent", "prune", "--before", "2999-01-01"])["removed"], 1);
    assert_eq!(session.output(&["agent", "show", "bad"]).status.code(), Some(1));
}

#[test]
fn limits_are_told() {
    let session = with_skills();
    session.write("artel.toml", "[agents]\nmax_agents = 2\nmax_children = 1\n");
    session.json(&["agent", "spawn", "--label", "chief"]);
    session.json(&["agent", "spawn", "--label", "child", "--parent", "chief"]);
    check(&session, &["agent", "spawn", "--parent", "chief"], 1, &["CHILDREN_LIMIT"]);
    check(&session, &["agent", "spawn"], 1, &["AGENTS_LIMIT"]);
    session.write("artel.toml", "[agents]\nmax_agents = 2\nat_limit = 'queue'\nqueue_ms = 50\n");
    check(&session, &["agent", "spawn"], 1, &["AGENTS_LIMIT"]);
    session.json(&["agent", "terminate", "chief"]);
    assert_eq!(state(&session, "child"), "terminated");
    session.write("artel.toml", "[agents]\nallowed = ['a b(']\n");
    assert_eq!(session.output(&["agent", "list"]).status.code(), Some(2));
}

#[test]
fn a_thousand_agents_are_listed_in_pages() {
    let session = Session::new();
    std::fs::create_dir(session.path().join(".artel")).unwrap();
    let store = SqliteStore::open(&session.path().join(".artel/artel.db"), SqliteOptions::default()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        for number in 0..1000_u32 {
            assert_eq!(store.create_agent(idle(number)).await.unwrap(), Ok(()));
        }
    });
    drop(store);
    let mut names: Vec<String> = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut arguments = vec!["agent", "list", "--limit", "300"];
        if let Some(after) = &after {
            arguments.extend(["--after", after]);
        }
        let page = session.json(&arguments);
        names.extend(
            page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()),
        );
        match page["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => break,
        }
    }
    let expected: Vec<String> = (0..1000).rev().map(|number| format!("agent-{number:04}")).collect();
    assert_eq!(names, expected);
    assert_eq!(session.json(&["agent", "show", "agent-0500"])["name"], "agent-0500");
}

/// An agent that has nothing to do.
fn idle(number: u32) -> NewAgent {
    let default = Layer::configured(&["*".parse().unwrap()], &[]);
    let spec = Box::new(AgentSpec {
        name: Some(format!("agent-{number:04}")),
        task: None,
        skills: None,
        readable: None,
        role: None,
        workspace_id: None,
        parent: None,
        viewer: None,
        origin: CallOrigin::Local,
        depth: 0,
        max_children: 5,
        driver: Driver::External,
        model: None,
        thinking: None,
        timeout_ms: None,
        policy: Policy::attenuate(None, vec![default]),
        execution_protocol: Vec::new(),
        contracts: Vec::new(),
        metadata: Map::new(),
    });
    let at = Timestamp::from_millis(1_700_000_000_000 + i64::from(number));
    let event = AgentEvent::Spawned { spec: spec.clone(), cause: Cause::by("test") };
    NewAgent {
        record: AgentRecord::new(AgentId(uuid::Uuid::from_u128(u128::from(number) + 1)), spec, at),
        event: StampedAgentEvent { at, event },
        agents_max: 10_000,
    }
}
