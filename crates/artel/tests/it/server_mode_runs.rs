//! Skills, plans and runs through a server: the same commands print the same things.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::both_ways::{BothWays, alike};
use crate::running::{Running, eventually};
use crate::session::Session;

const PLAN_ID: &str = "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c";

fn skills(session: &Session) {
    for tool in ["tool-good", "tool-failures", "tool-processes"] {
        session.copy(&format!("fixtures/tools/{tool}"), &format!("skills/{tool}"));
    }
    let manifest = json!({
        "name": "release", "version": "1.0.0", "description": "Builds, asks, ships. Use when testing approvals.",
        "steps": [
            {"id": "build", "skill": "tool-good", "script": "patches"},
            {"id": "ship", "skill": "tool-good", "script": "patches", "approval": true},
        ],
    });
    session.write("skills/release/skill.json", &manifest.to_string());
}

fn files(session: &Session) {
    let plan = |tools| json!({"requestId": PLAN_ID, "tools": tools}).to_string();
    session.copy("skills/fetch-object/examples", ".");
    let failing = json!([
        {"toolId": "a", "skill": "tool-failures", "script": "not-ok", "retryPolicy": {"maxRetries": 1, "backoffMs": 1}},
        {"toolId": "b", "skill": "tool-good", "script": "patches", "dependencies": ["a"]},
    ]);
    session.write("failing.json", &plan(failing));
    session.write("wrong.json", &plan(json!([{"toolId": "a", "skill": "tool-god"}, {"toolId": "a"}])));
    session.write("no.json", "{\"requestId\": ");
    let twice =
        format!("{{\"requestId\": \"{PLAN_ID}\", \"tools\": [], \"tools\": [{{\"toolId\": \"a\"}}]}}");
    session.write("twice.json", &twice);
    session.write("params.json", "{\"location\": \"kitchen\"}");
}

#[test]
fn skills_are_run_alike() {
    let mut both = BothWays::new(skills, files);
    for arguments in [
        &["skill", "run", "navigate", "location=kitchen", "speed=2"][..],
        &["-q", "skill", "run", "navigate", "location=kitchen"],
        &["skill", "run", "navigate", "location=kitchen", "--json"],
        &["skill", "run", "navigate", "location=kitchen", "--watch"],
        &["skill", "run", "navigate@1.0.0", "--params", "@params.json"],
        &["skill", "run", "tool-good", "--script", "patches"],
        &[
            "skill",
            "run",
            "fetch-object",
            "--chain",
            "navigate.location=kitchen",
            "fetch-object.location=kitchen",
            "fetch-object.object_id=cup",
        ],
        &["skill", "run", "fetch-object", "location=kitchen", "object_id=cup", "--json"],
    ] {
        both.check(arguments);
    }
    for arguments in [
        &["skill", "run", "tool-failures", "--script", "not-ok"][..],
        &["skill", "run", "tool-failures", "--script", "not-ok", "--json"],
        &["skill", "run", "navigat", "location=kitchen"],
        &["skill", "run", "navigate", "location=nowhere"],
        &["skill", "run", "navigate", "location=nowhere", "--json"],
        &["skill", "run", "navigate@7.0.0", "location=kitchen"],
        &["run", "show", "0000"],
        &["run", "cancel", "00000000-0000-0000-0000-000000000000"],
    ] {
        both.ends(1, arguments);
    }
    for arguments in [
        &["skill", "run", "navigate"][..],
        &["skill", "run", "navigate", "locatio=kitchen"],
        &["skill", "run", "navigate", "location=kitchen", "speed=fast"],
        &["skill", "run", "tool-good", "--script", "patch"],
        &["skill", "run", "fetch-object", "--chain", "location=kitchen"],
        &["run", "list", "--after", "odd"],
    ] {
        both.ends(2, arguments);
    }
    both.ends(0, &["skill", "run", "navigate", "location=dock", "--key", "once"]);
    both.name_last_run("run");
    assert!(
        both.ends(0, &["skill", "run", "navigate", "location=dock", "--key", "once"])
            .contains("was asked for with this key before")
    );
    both.ends(2, &["skill", "run", "navigate", "location=kitchen", "--key", "once"]);
    both.check(&["run", "show", "{run}"]);
}

#[test]
fn plans_are_checked_run_and_made_alike() {
    let mut both = BothWays::new(skills, files);
    for file in ["plan.json", "failing.json", "wrong.json", "no.json", "twice.json", "none.json"] {
        both.check(&["plan", "validate", file]);
        both.check(&["plan", "validate", file, "--json"]);
        both.check(&["plan", "run", file]);
        both.check(&["plan", "run", file, "--json", "--slots", "1", "--timeout", "60000"]);
    }
    both.ends(0, &["plan", "run", "plan.json", "--watch", "--slots", "1"]);
    both.ends(1, &["plan", "run", "failing.json", "--watch"]);
    both.name_last_run("failed");
    for arguments in [
        &["run", "show", "{failed}"][..],
        &["run", "show", "{failed}", "--json"],
        &["run", "show", "{failed}", "--events"],
        &["run", "list"],
        &["run", "list", "--json", "--state", "failed", "--limit", "1"],
        &["run", "executions"],
        &["run", "executions", "--json", "--run", "{failed}"],
        &["run", "executions", "--skill", "navigate", "--status", "success"],
        &["run", "stats"],
        &["run", "stats", "--by", "agent", "--json"],
        &["plan", "generate", "fetch the cup from the kitchen"],
        &["plan", "generate", "fetch the cup from the kitchen", "--planner", "pattern", "--json"],
        &["plan", "ask", "fetch the cup from the kitchen"],
        &["plan", "ask", "fetch the cup from the kitchen", "--watch", "-v"],
        &["plan", "ask", "sing me a song about nothing at all", "--json"],
    ] {
        both.check(arguments);
    }
    both.ends(1, &["run", "watch", "{failed}"]);
    both.ends(1, &["run", "watch", "{failed}", "--json"]);
    both.ends(1, &["run", "cancel", "{failed}"]);
    both.ends(1, &["run", "approve", "{failed}"]);
    both.ends(0, &["run", "prune", "--before", "30d"]);
    both.ends(0, &["run", "prune", "--before", "2100-01-01T00:00:00Z", "--json"]);
    both.ends(0, &["run", "list"]);
    let audit = both.served.document("/api/audit", both.served.token.as_deref().unwrap());
    assert_eq!(audit["items"][0]["action"], "runs_pruned", "{audit}");
}

/// What is typed while a run stands still, and what is said about it.
#[test]
fn runs_are_steered_alike() {
    let both = BothWays::new(skills, files);
    let steer = |session: &Session| {
        let mut running = Running::start(session, &["skill", "run", "release", "--watch"]);
        let run = running.run_id();
        running.hear("waiting for approval of release/ship");
        let state = || session.json(&["run", "list", "--limit", "1"])["items"][0].clone();
        eventually("it waits", || state()["state"] == "awaiting_approval");
        assert_eq!(state()["driven"], true);
        let mut told = String::new();
        for arguments in [
            &["run", "show", &run][..],
            &["run", "approve", &run, "--step", "release/build"],
            &["run", "resume", &run],
            &["run", "pause", &run],
            &["run", "pause", &run, "--json"],
            &["run", "resume", &run],
            &["run", "reject", &run, "--note", "not today"],
        ] {
            told += &alike(&session.run(arguments));
        }
        let ended = running.end();
        told + &alike(&ended.stdout) + &alike(&ended.stderr)
    };
    assert_eq!(steer(&both.here), steer(&both.there));
    let told = both.there.run(&["run", "recover"]);
    assert!(told.starts_with("exit 2\n") && told.contains("by itself"), "{told}");
}

#[test]
fn ctrl_c_cancels_a_run_at_the_server() {
    let both = BothWays::new(skills, files);
    let arguments = ["skill", "run", "tool-processes", "--script", "sleeps"];
    let mut running = Running::start(&both.there, &arguments);
    running.hear("ready");
    running.signal("INT");
    running.hear("cancelling; once more stops waiting, and the server goes on ending the run");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert_eq!(both.there.json(&["run", "list"])["items"][0]["state"], "cancelled");
}

#[test]
fn a_second_ctrl_c_leaves_the_run_to_the_server() {
    let both = BothWays::new(skills, files);
    let arguments = ["skill", "run", "tool-processes", "--script", "ignores-term"];
    let mut running = Running::start(&both.there, &arguments);
    running.hear("ready");
    running.signal("INT");
    running.hear("cancelling;");
    let state = || both.there.json(&["run", "list"])["items"][0]["state"].clone();
    eventually("it is told", || state() == "stopping");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("stopped waiting; the server goes on ending run"), "{}", ended.stderr);
    assert_eq!(state(), "stopping");
}

#[test]
fn watching_at_a_server_goes_on_where_it_broke_off() {
    let both = BothWays::new(skills, files);
    let started = Running::start(&both.there, &["skill", "run", "release"]);
    eventually("it waits", || both.there.json(&["run", "list"])["items"][0]["state"] == "awaiting_approval");
    let run = both.there.json(&["run", "list"])["items"][0]["run_id"].as_str().unwrap().to_owned();
    let watching = Running::start(&both.there, &["run", "watch", &run, "--json"]);
    both.there.json(&["run", "approve", &run]);
    let (watched, ended) = (watching.end(), started.end());
    assert_eq!((watched.status.code(), ended.status.code()), (Some(0), Some(0)), "{}", watched.stderr);
    let log = both.there.output(&["run", "show", &run, "--events"]).stdout;
    assert_eq!(watched.stdout, String::from_utf8_lossy(&log));
}

#[test]
fn a_server_that_is_not_there_or_does_not_let_us_in_is_told() {
    let home = Session::new();
    let served = crate::serve_session::Served::start(&home, &[]);
    let told = |server: &str, token: Option<&str>| {
        let mut session = Session::new();
        session.set("ARTEL_SERVER", server);
        if let Some(token) = token {
            session.set("ARTEL_TOKEN", token);
        }
        session.run(&["run", "list"])
    };
    let address = format!("http://{}", served.address);
    assert!(told(&address, served.token.as_deref()).starts_with("exit 0\n"));
    for token in [None, Some("wrong")] {
        let told = told(&address, token);
        assert!(told.starts_with("exit 3\n") && told.contains("ARTEL_TOKEN"), "{told}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let away = told(&format!("http://{nobody}"), None);
    assert!(away.starts_with("exit 3\n") && away.contains("cannot reach"), "{away}");
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        let body = "<html>hello</html>";
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    });
    let strange = told(&format!("http://{address}"), None);
    answering.join().unwrap();
    assert!(strange.starts_with("exit 3\n") && strange.contains("something else than expected"), "{strange}");
    assert!(told("no address", None).starts_with("exit 2\n"));
}
