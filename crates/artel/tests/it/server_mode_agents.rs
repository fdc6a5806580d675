//! Agents and their messages through a server: the same commands print the same things.

use serde_json::{Value, json};

use crate::agents::with_skills;
use crate::both_ways::{BothWays, alike};
use crate::running::{Running, eventually};
use crate::session::Session;

const CORRELATION: &str = "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c";

fn skills(session: &Session) {
    let made = with_skills();
    for name in ["walk", "talk"] {
        for file in ["skill.json", "scripts/run.sh"] {
            let path = format!("skills/{name}/{file}");
            let written = session.write(&path, &made.read(&path));
            let permissions = made.path().join(&path).metadata().unwrap().permissions();
            std::fs::set_permissions(written, permissions).unwrap();
        }
    }
    session.copy("fixtures/tools/tool-processes", "skills/tool-processes");
}

fn files(session: &Session) {
    let tool = json!({"toolId": "wait", "skill": "tool-processes", "script": "sleeps", "timeoutMs": 600_000});
    let plan = json!({"requestId": "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c", "tools": [tool]});
    session.write("plan.json", &plan.to_string());
}

#[test]
fn agents_are_spawned_shown_and_told_alike() {
    let both = BothWays::new(skills, files);
    for (code, arguments) in [
        (0, &["agent", "spawn", "--skill", "walk", "to=kitchen", "--label", "runner"][..]),
        (0, &["agent", "spawn", "--skill", "walk", "to=kitchen", "steps=2", "--json"]),
        (0, &["agent", "spawn", "--label", "scout", "--with", "walk,talk", "--meta", "floor=2"]),
        (0, &["agent", "spawn", "--label", "child", "--with", "walk", "--parent", "scout"]),
        (2, &["agent", "spawn", "--skill", "walk", "steps=many"]),
        (2, &["agent", "spawn", "--skill", "walk", "--task", "go", "--request", "{\"odd\": 1}"]),
        (1, &["agent", "spawn", "--with", "nobody"]),
        (1, &["agent", "spawn", "--with", "nobody", "--json"]),
        (1, &["agent", "spawn", "--skill", "walk", "to=kitchen", "--with", "talk"]),
        (1, &["agent", "spawn", "--parent", "nobody"]),
        (0, &["agent", "list"]),
        (0, &["agent", "list", "--state", "idle", "--parent", "scout", "--json"]),
        (0, &["agent", "show", "scout"]),
        (0, &["agent", "show", "scout", "--json"]),
        (0, &["agent", "show", "scout", "--tool", "walk", "--tool", "Bash(rm -rf /)", "--tool", "navigate"]),
        (0, &["agent", "show", "runner", "--tool", "walk/run", "--json"]),
        (0, &["agent", "show", "runner", "--events"]),
        (0, &["agent", "show", "runner", "--events", "--json"]),
        (2, &["agent", "show", "scout", "--tool", "a b("]),
        (1, &["agent", "show", "nobody"]),
        (0, &["skill", "compose", "walk", "--for-agent", "scout"]),
        (0, &["agent", "execute", "scout", "walk", "to=hall", "steps=3"]),
        (0, &["agent", "execute", "scout", "walk/run", "--params", "{\"to\": \"hall\"}", "--json"]),
        (1, &["agent", "execute", "scout", "navigate", "location=dock"]),
        (1, &["agent", "execute", "scout", "navigate", "location=dock", "--json"]),
        (1, &["agent", "execute", "scout", "nothing-of-the-kind"]),
        (2, &["agent", "execute", "scout", "walk"]),
        (2, &["agent", "execute", "scout", "walk", "--json"]),
        (0, &["agent", "metrics", "scout"]),
        (0, &["agent", "metrics", "scout", "--json"]),
        (1, &["agent", "start", "runner"]),
        (0, &["agent", "free", "runner"]),
        (0, &["agent", "start", "runner", "--json"]),
        (1, &["agent", "resume", "scout"]),
        (0, &["agent", "terminate", "scout"]),
        (1, &["agent", "execute", "scout", "walk", "to=hall"]),
        (0, &["agent", "show", "child", "--json"]),
        (0, &["agent", "prune", "--before", "2100-01-01T00:00:00Z"]),
        (0, &["agent", "list", "--json"]),
    ] {
        both.ends(code, arguments);
    }
    let audit = both.served.document("/api/audit", both.served.token.as_deref().unwrap());
    let actions: Vec<&Value> =
        audit["items"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    assert!(actions.contains(&&json!("agents_pruned")), "{audit}");
    let told = both.there.run(&["agent", "recover"]);
    assert!(told.starts_with("exit 2\n") && told.contains("by itself"), "{told}");
}

const SPAWN_LONG: [&str; 7] = ["agent", "spawn", "--plan", "plan.json", "--watch", "--label", "scout"];

#[test]
fn an_agent_at_work_is_steered_alike() {
    let both = BothWays::new(skills, files);
    let steer = |session: &Session| {
        let mut running = Running::start(session, &SPAWN_LONG);
        running.hear("wait: info ready");
        let mut told = String::new();
        for arguments in [
            &["agent", "list"][..],
            &["agent", "pause", "scout"],
            &["agent", "pause", "scout"],
            &["agent", "resume", "scout", "--json"],
            &["agent", "cancel", "scout"],
        ] {
            told += &alike(&session.run(arguments));
        }
        let ended = running.end();
        // What happens to the agent and what happens in its run is told as it comes.
        let mut lines: Vec<String> = alike(&ended.stderr).lines().map(str::to_owned).collect();
        lines.sort();
        // A run hears from the agent once more that it is to end, when it has not ended by then.
        lines.dedup();
        format!("{told}{}{}", alike(&ended.stdout), lines.join("\n"))
    };
    assert_eq!(steer(&both.here), steer(&both.there));
}

#[test]
fn ctrl_c_cancels_an_agent_at_the_server() {
    let both = BothWays::new(skills, files);
    let mut running = Running::start(&both.there, &SPAWN_LONG);
    running.hear("wait: info ready");
    running.signal("INT");
    running.hear("cancelling; once more stops waiting");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert_eq!(both.there.json(&["agent", "show", "scout"])["state"], "cancelled");
}

#[test]
fn messages_are_sent_and_read_alike() {
    let both = BothWays::new(skills, files);
    for name in ["chief", "scout"] {
        both.ends(0, &["agent", "spawn", "--label", name, "--json"]);
    }
    for (code, arguments) in [
        (0, &["message", "send", "--to", "scout", "--from", "chief", "task=patrol", "n=1"][..]),
        (0, &["message", "send", "--to", "scout", "{\"n\": 2}", "--priority", "1", "--json"]),
        (0, &["message", "send", "--to", "broadcast", "lunch=true"]),
        (0, &["message", "send", "--to", "scout", "--id", CORRELATION, "n=3"]),
        (0, &["message", "send", "--to", "scout", "--id", CORRELATION, "n=3"]),
        (0, &["message", "publish", "kitchen.door", "open=true"]),
        (0, &["message", "publish", "kitchen.door", "--from", "scout", "open=false", "--json"]),
        (2, &["message", "send", "--to", "scout", "--ttl", "0", "n=1"]),
        (2, &["message", "send", "--to", "scout", "--ttl", "0", "n=1", "--json"]),
        (2, &["message", "publish", "kitchen..door"]),
        (1, &["message", "send", "--to", "nobody", "n=1"]),
        (
            1,
            &[
                "message",
                "send",
                "--from",
                "scout",
                "--to",
                "chief",
                "--type",
                "response",
                "--correlation",
                CORRELATION,
            ],
        ),
        (0, &["message", "read", "scout", "--peek"]),
        (0, &["message", "read", "scout", "--limit", "1", "--json"]),
        (0, &["message", "read", "scout", "--wait", "1"]),
        (0, &["message", "read", "scout"]),
        (0, &["message", "read", "scout", "--all", "--limit", "10000"]),
        (0, &["message", "listen", "kitchen.*", "--replay", "5", "--limit", "2"]),
        (0, &["message", "listen", "kitchen.>", "--replay", "1", "--limit", "1", "--json"]),
        (1, &["message", "request", "--from", "chief", "--to", "scout", "--timeout", "1", "ready=null"]),
        (0, &["message", "counts"]),
        (0, &["message", "counts", "--json"]),
        (0, &["agent", "terminate", "scout"]),
        (1, &["message", "send", "--to", "scout", "n=1"]),
        (1, &["message", "send", "--to", "scout", "n=1", "--json"]),
        (0, &["message", "dead"]),
        (0, &["message", "dead", "scout", "--json"]),
        (1, &["message", "read", "nobody"]),
    ] {
        both.ends(code, arguments);
    }
}

#[test]
fn a_request_is_answered_and_a_ring_is_refused_alike() {
    let both = BothWays::new(skills, files);
    let talk = |session: &Session| {
        for name in ["chief", "scout"] {
            session.json(&["agent", "spawn", "--label", name]);
        }
        let request =
            ["message", "request", "--from", "chief", "--to", "scout", "--correlation", CORRELATION];
        let asking = Running::start(session, &[&request[..], &["ready=null", "--timeout", "60"]].concat());
        let asked = || session.json(&["message", "read", "scout", "--peek"])["items"].clone();
        eventually("it is asked", || asked() != json!([]));
        let ring = session.run(&["message", "request", "--from", "scout", "--to", "chief", "n=1"]);
        let answer = ["message", "send", "--from", "scout", "--to", "chief", "--type", "response"];
        session.json(&[&answer[..], &["--correlation", CORRELATION, "ready=true"]].concat());
        let ended = asking.end();
        alike(&ring) + &alike(&ended.stdout) + &alike(&ended.stderr)
    };
    assert_eq!(talk(&both.here), talk(&both.there));
}

#[test]
fn who_listens_at_a_server_hears_what_is_published_there() {
    let both = BothWays::new(skills, files);
    let arguments = ["message", "listen", "kitchen.*", "--limit", "2", "--timeout", "60", "--json"];
    let mut listening = Running::start(&both.there, &arguments);
    listening.hear("listening to kitchen.*");
    both.there.json(&["message", "publish", "kitchen.door", "open=true"]);
    both.home.json(&["message", "publish", "kitchen.light", "on=true"]);
    let ended = listening.end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let heard: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let topics: Vec<&str> = heard.iter().map(|message| message["topic"].as_str().unwrap()).collect();
    assert_eq!(topics, ["kitchen.door", "kitchen.light"]);
}
