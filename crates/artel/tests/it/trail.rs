//! `artel skill trail`: what happened to a skill, told from the data folder and by a server.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::running::eventually;
use crate::serve_session::Served;
use crate::session::Session;

fn session() -> Session {
    let session = Session::new();
    let manifest = json!({"name": "greet", "version": "1.0.0", "description": "Greets. Use when testing."});
    session.write("skills/greet/skill.json", &manifest.to_string());
    let script = "#!/bin/sh\necho '{\"version\":\"0\",\"type\":\"done\",\"ok\":true}'\n";
    let path = session.write("skills/greet/scripts/run.sh", script);
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    session
}

fn events(trail: &Value) -> Vec<&str> {
    let items = trail["items"].as_array().unwrap_or_else(|| panic!("{trail}"));
    let mut events: Vec<&str> = items.iter().map(|item| item["event"].as_str().unwrap()).collect();
    events.sort_unstable();
    events
}

#[test]
fn a_trail_is_told_from_the_data_folder_and_by_a_server_alike() {
    let mut session = session();
    assert_eq!(session.json(&["skill", "trail", "greet"]), json!({"items": [], "next": null}));
    assert!(!session.path().join(".artel").exists(), "looking makes nothing");
    session.json(&["skill", "run", "greet"]);
    assert_eq!(events(&session.json(&["skill", "trail", "greet"])), ["executed"]);
    let served = Served::start(&session, &[]);
    let token = served.token.clone().unwrap();
    assert_eq!(served.get("/api/skills?q=greet", &token).0, 200);
    let all = ["executed", "installed", "offered", "scanned"];
    eventually("all of it was kept", || events(&session.json(&["skill", "trail", "greet"])) == all);
    let here = session.json(&["skill", "trail", "greet"]);
    session.set("ARTEL_SERVER", &format!("http://{}", served.address));
    session.set("ARTEL_TOKEN", &token);
    assert_eq!(session.json(&["skill", "trail", "greet"]), here);
    let shown = session.run(&["skill", "trail", "greet"]);
    assert!(shown.contains("offered") && shown.contains("at place 1, for `greet`, by search"), "{shown}");
    let page = session.json(&["skill", "trail", "greet", "--limit", "1"]);
    assert_eq!(page["items"][0], here["items"][0]);
    let rest = session.json(&["skill", "trail", "greet", "--after", page["next"].as_str().unwrap()]);
    assert_eq!(rest["items"].as_array().unwrap()[..], here["items"].as_array().unwrap()[1..]);
    let unknown = session.run(&["skill", "trail", "great"]);
    assert!(unknown.starts_with("exit 1\n") && unknown.contains("did you mean `greet`"), "{unknown}");
}
