//! The same command prints the same thing, whether it works on folders that are here or through a server that has the same:
//! skills, their settings and switches.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::serve_session::Served;
use crate::session::{Session, steady};

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "style": {"type": "string", "enum": ["warm", "formal"], "default": "warm", "description": "How to greet."},
    "token": {"type": "string", "format": "password"}
  }
}"#;
const TEA: &str = r#"{"name": "make-tea", "version": "1.2.0", "description": "Makes tea.", "tags": ["kitchen"],
    "dependencies": ["boil"], "allowed_tools": ["make-tea/run", "Read"], "forbidden_tools": ["Bash"],
    "execution_protocol": ["boil", "pour"], "entrypoint": "run"}"#;
const REGISTRY: &str = r#"[{"name": "toast", "version": "0.3.0", "description": "Toasts bread.", "tags": ["kitchen"],
    "allowed_tools": ["Read"], "forbidden_tools": ["Write"], "preconditions": ["there is bread"],
    "parameters_schema": {"type": "object", "properties": {"slices": {"type": "integer", "default": 2}}},
    "compatibility_rules": [], "sandbox": {"network": true}, "metadata": {"shade": "dark"}}]"#;

/// The same skills at two places, a server at one of them, and somebody elsewhere who has nothing.
struct Pair {
    here: Session,
    there: Session,
    away: Session,
    served: Served,
}

fn furnish(session: &Session) {
    session.write(
        "skills/boil/SKILL.md",
        "---\nname: boil\ndescription: Boils water, when something hot is wanted.\n---\n\nUse a kettle.\n",
    );
    session.write("skills/boil/notes/altitude.md", "On mountains it boils earlier.\n");
    session.write(
        "skills/make-tea/SKILL.md",
        "---\nname: make-tea\ndescription: Makes tea.\n---\n\nBoil water first.\n",
    );
    session.write("skills/make-tea/skill.json", TEA);
    let script = session.write("skills/make-tea/scripts/run", "#!/bin/sh\nexit 1\n");
    std::fs::set_permissions(script, Permissions::from_mode(0o755)).unwrap();
    session
        .write("skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets people.\n---\n\nSay hello.\n");
    session.write("skills/greet/config-schema.json", SCHEMA);
    session.write("skills/greet/config.json", r#"{"token": "somebodys-secret"}"#);
    session.write("skills/kitchen.skill.json", REGISTRY);
}

impl Pair {
    fn new() -> Self {
        let (here, there, mut away) = (Session::new(), Session::new(), Session::new());
        furnish(&here);
        furnish(&there);
        let served = Served::start(&there, &[]);
        away.set("ARTEL_SERVER", &format!("http://{}", served.address));
        away.set("ARTEL_TOKEN", &served.token.clone().unwrap());
        Self { here, there, away, served }
    }

    #[track_caller]
    fn same(&self, arguments: &[&str]) -> String {
        let (here, away) = (told(&self.here.run(arguments)), told(&self.away.run(arguments)));
        assert_eq!(here, away, "{arguments:?}");
        here
    }

    #[track_caller]
    fn same_json(&self, arguments: &[&str]) -> Value {
        let (mut here, mut away) = (self.here.json(arguments), self.away.json(arguments));
        for document in [&mut here, &mut away] {
            without_places(document);
        }
        assert_eq!(here, away, "{arguments:?}");
        here
    }
}

/// Replaces where a skill lies by its id.
fn told(text: &str) -> String {
    let mut text = steady(text);
    for name in ["boil", "make-tea", "greet", "fix-bug"] {
        let id = format!("default/{name}");
        for place in [format!("skills/{name}/SKILL.md"), format!("skill://{name}/SKILL.md")] {
            text = text.replace(&place, &id);
        }
    }
    text.replace("skills/kitchen.skill.json", "default/toast").replace("[folder]/", "")
}

/// Takes out where skills lie, which is here or there.
fn without_places(document: &mut Value) {
    match document {
        Value::Object(fields) => {
            for place in ["location", "directory"] {
                fields.remove(place);
            }
            fields.values_mut().for_each(without_places);
        }
        Value::Array(items) => items.iter_mut().for_each(without_places),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_command_about_skills_prints_the_same_here_and_there() {
    let pair = Pair::new();
    let commands: &[&[&str]] = &[
        &["skill", "list"],
        &["skill", "list", "--tag", "kitchen"],
        &["skill", "list", "--graph"],
        &["skill", "search", "hot", "water"],
        &["skill", "search", "toast", "--explain"],
        &["skill", "search", "zzzz"],
        &["skill", "show", "make-tea"],
        &["skill", "show", "make-tea", "--instructions"],
        &["skill", "show", "boil", "--file", "notes/altitude.md"],
        &["skill", "show", "boil", "--file", "notes/none.md"],
        &["skill", "show", "greet"],
        &["skill", "show", "greet", "--file", "config.json"],
        &["skill", "show", "toast"],
        &["skill", "show", "make-te"],
        &["skill", "show", "make-tea@9.0.0"],
        &["skill", "compose", "make-tea", "toast"],
        &["skill", "compose", "make-tea", "boil", "--strict", "--tool", "Bash"],
        &["skill", "compose", "make-tea", "nobody"],
        &["skill", "check", "make-tea", "boil"],
        &["skill", "check", "make-tea", "nobody"],
        &["skill", "select", "make some tea"],
        &["skill", "select", "write code", "--coding"],
        &["skill", "config", "greet"],
        &["skill", "config", "boil"],
        &["skill", "config", "nobody"],
        &["skill", "lock", "make-tea"],
        &["skill", "verify"],
        &["skill", "update"],
        &["skill", "export", "out", "make-tea", "boil"],
    ];
    for arguments in commands {
        pair.same(arguments);
    }
    for arguments in commands.iter().filter(|arguments| arguments[1] != "lock" && arguments.len() > 2) {
        let is_document = !arguments.contains(&"--instructions") && !arguments.contains(&"--file");
        if is_document && pair.here.output(arguments).status.success() {
            pair.same_json(arguments);
        }
    }
    assert_eq!(
        pair.here.read("out/default/make-tea/scripts/run"),
        pair.away.read("out/default/make-tea/scripts/run")
    );
    let (here, away) = (pair.here.read("artel.lock"), pair.away.read("artel.lock"));
    let plain =
        |text: &str| text.lines().filter(|line| !line.starts_with("location")).collect::<Vec<_>>().join("\n");
    assert_eq!(plain(&here), plain(&away));
    assert!(away.contains("location = \"default/make-tea\""), "{away}");
    let prompt = |session: &Session| session.json(&["skill", "prompt"])["listed"].clone();
    assert_eq!(prompt(&pair.here), prompt(&pair.away));
    let prompt = pair.away.run(&["skill", "prompt"]);
    assert!(
        prompt.contains("artel skill show boil --instructions") && !prompt.contains("mirror"),
        "{prompt}"
    );
}

#[test]
fn nothing_shows_where_the_copies_are_and_secrets_stay_there() {
    let pair = Pair::new();
    for arguments in
        [&["skill", "list", "-v"][..], &["skill", "show", "greet"], &["skill", "config", "greet"]]
    {
        for json in [false, true] {
            let json = json.then_some("--json");
            let arguments: Vec<&str> = arguments.iter().copied().chain(json).collect();
            let told = pair.away.run(&arguments);
            assert!(!told.contains("mirror") && !told.contains("somebodys-secret"), "{arguments:?}: {told}");
        }
    }
    let copies = walk(&pair.away.path().join(".artel/mirror"));
    assert!(copies.iter().any(|path| path.ends_with("greet/SKILL.md")), "{copies:?}");
    assert!(!copies.iter().any(|path| path.ends_with("config.json")), "{copies:?}");
    let mode = pair.away.path().join(".artel/mirror").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let token = pair.served.token.clone().unwrap();
    assert_eq!(pair.served.get("/api/skills/default%2Fgreet/files/config.json", &token).0, 404);
}

fn walk(folder: &camino::Utf8Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in folder.read_dir_utf8().unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(entry.path()));
        } else {
            found.push(entry.path().to_string());
        }
    }
    found
}

#[test]
fn copies_follow_what_the_server_has() {
    let pair = Pair::new();
    pair.away.run(&["skill", "list"]);
    let has =
        |name: &str| walk(&pair.away.path().join(".artel/mirror")).iter().any(|path| path.contains(name));
    assert!(has("/boil/"));
    for session in [&pair.here, &pair.there] {
        session.write(
            "skills/cook-rice/SKILL.md",
            "---\nname: cook-rice\ndescription: Cooks rice.\n---\n\nWash it first.\n",
        );
        artel_engine::remove_folder(&session.path().join("skills/boil")).unwrap();
        session.write("skills/make-tea/skill.json", &TEA.replace("[\"boil\"]", "[]"));
    }
    let token = pair.served.token.clone().unwrap();
    pair.served.post("/api/skills/refresh", &token, "");
    pair.same(&["skill", "list"]);
    assert!(has("/cook-rice/") && !has("/boil/"));
}

#[test]
fn an_operator_sets_and_switches_from_elsewhere() {
    let pair = Pair::new();
    for arguments in [
        &["skill", "config", "greet", "set", "style=formal", "token=another"][..],
        &["skill", "config", "greet", "set", "style=rude"],
        &["skill", "config", "greet", "set", "colour=red"],
        &["skill", "config", "greet", "set", "token=${HOME}"],
        &["skill", "config", "greet", "unset", "style"],
        &["skill", "config", "greet", "unset", "style"],
        &["skill", "disable", "make-tea"],
        &["skill", "list"],
        &["skill", "show", "make-tea"],
        &["skill", "compose", "make-tea"],
        &["skill", "disable", "nobody"],
        &["skill", "enable", "make-tea@7.0.0"],
        &["skill", "enable", "make-tea@1.2.0"],
        &["skill", "enable", "make-tea"],
        &["skill", "list"],
    ] {
        pair.same(arguments);
    }
    assert_eq!(pair.here.read("skills/greet/config.json"), pair.there.read("skills/greet/config.json"));
    assert_eq!(
        pair.same_json(&["skill", "disable", "boil"]),
        json!({"name": "boil", "enabled": false, "version": null})
    );
    let audit = pair.served.document("/api/audit", &pair.served.token.clone().unwrap());
    let noted: Vec<&str> =
        audit["items"].as_array().unwrap().iter().map(|entry| entry["summary"].as_str().unwrap()).collect();
    assert_eq!(noted[0], "switched off");
    assert!(noted.contains(&"changed settings: style, token") && !audit.to_string().contains("another"));
}

#[test]
fn how_well_skills_do_is_told_from_there() {
    let pair = Pair::new();
    for session in [&pair.here, &pair.away] {
        for _ in 0..3 {
            assert_eq!(session.output(&["skill", "run", "make-tea"]).status.code(), Some(1));
        }
    }
    let listed = pair.same(&["skill", "list"]);
    assert!(listed.contains("(degraded) Makes tea."), "{listed}");
    pair.same(&["skill", "show", "make-tea"]);
    pair.same(&["skill", "enable", "make-tea"]);
    assert!(!pair.same(&["skill", "list"]).contains("(degraded)"));
    // A skill of any source is named by its id.
    for _ in 0..3 {
        assert_eq!(pair.here.output(&["skill", "run", "make-tea"]).status.code(), Some(1));
    }
    assert!(pair.here.run(&["skill", "list"]).contains("(degraded)"));
    let id = "hub/1f0c1c5e-8f0e-4a57-9a53-3a8a0b3b6b11/make-tea";
    assert!(pair.here.run(&["skill", "enable", id]).starts_with("exit 0\n"));
    assert!(!pair.here.run(&["skill", "list"]).contains("(degraded)"));
    assert!(pair.away.run(&["skill", "enable", id]).contains("exit 1\n"), "the server has no such hub");
}

#[test]
fn whoever_may_only_read_sees_what_is_theirs() {
    let pair = Pair::new();
    let key = pair.away.json(&["key", "create", "--owner", "ann"]);
    let mut ann = Session::new();
    ann.set("ARTEL_SERVER", &format!("http://{}", pair.served.address));
    ann.set("ARTEL_TOKEN", key["key"].as_str().unwrap());
    assert_eq!(told(&ann.run(&["skill", "list"])), told(&pair.here.run(&["skill", "list"])));
    let told = ann.run(&["skill", "disable", "boil"]);
    assert!(told.starts_with("exit 1\n") && told.contains("Only administrators"), "{told}");
    let told = ann.run(&["skill", "config", "greet", "set", "style=formal"]);
    assert!(told.starts_with("exit 1\n") && told.contains("Only administrators"), "{told}");
    pair.away.run(&["skill", "disable", "boil"]);
    let told = ann.run(&["skill", "show", "boil"]);
    assert!(told.starts_with("exit 1\n") && told.contains("there is no skill `boil`"), "{told}");
}

#[test]
fn a_person_has_settings_of_their_own_on_a_server() {
    let pair = Pair::new();
    let key = pair.away.json(&[
        "key",
        "create",
        "--owner",
        "ann",
        "--scope",
        "catalog:read",
        "--scope",
        "runs:write",
    ]);
    let mut ann = Session::new();
    ann.set("ARTEL_SERVER", &format!("http://{}", pair.served.address));
    ann.set("ARTEL_TOKEN", key["key"].as_str().unwrap());
    let told = ann.run(&["skill", "config", "greet", "set", "token=anns-own"]);
    assert!(told.starts_with("exit 1\n") && told.contains("with `--personal`"), "{told}");
    let told = ann.run(&["skill", "config", "greet", "set", "--personal", "token=anns-own"]);
    assert!(told.starts_with("exit 0\n") && told.contains("(personal)"), "{told}");
    assert!(ann.run(&["skill", "config", "greet"]).contains("\"********\" (personal)"));
    assert!(!pair.away.run(&["skill", "config", "greet"]).contains("(personal)"));
    let told = ann.run(&["skill", "config", "greet", "set", "--personal", "style=formal"]);
    assert!(told.starts_with("exit 1\n") && told.contains("x-personal"), "{told}");
    let told = ann.run(&["skill", "config", "greet", "unset", "--personal", "token"]);
    assert!(told.starts_with("exit 0\n") && !told.contains("(personal)"), "{told}");
    let told = pair.here.run(&["skill", "config", "greet", "set", "--personal", "token=x"]);
    assert!(told.starts_with("exit 2\n") && told.contains("leave `--personal` out"), "{told}");
    assert!(pair.there.read("skills/greet/config.json").contains("somebodys-secret"));
}

#[test]
fn what_looks_at_files_needs_no_server() {
    let mut session = Session::new();
    furnish(&session);
    session.set("ARTEL_SERVER", "http://127.0.0.1:1");
    for arguments in [
        &["skill", "validate", "skills/boil"][..],
        &["skill", "scan", "skills/boil"],
        &["skill", "new", "fresh", "--in", "skills"],
    ] {
        let told = session.run(arguments);
        assert!(told.starts_with("exit 0\n"), "{arguments:?}: {told}");
    }
    assert!(session.run(&["skill", "scan"]).starts_with("exit 2\n"));
}
