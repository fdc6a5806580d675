//! `artel skill lock`, `verify` and `update`: what is pinned, what drift looks like, and who accepts it.

use insta::assert_snapshot;

use crate::session::Session;

const SKILL: &str = "---\nname: demo\ndescription: Counts words.\n---\nCount the words of a text.\n";
const SCRIPT: &str = "#!/bin/sh\necho 1\n";

fn manifest(rules: &str) -> String {
    format!(
        r#"{{"name": "demo", "version": "1.0.0", "description": "Counts words.", "dependencies": ["base"],
            "scripts": [{{"name": "run", "path": "scripts/run.sh"}}], {rules}}}"#
    )
}

/// A project with two skills, one of which builds on the other.
fn session() -> Session {
    let session = Session::new();
    session.write("skills/base/SKILL.md", "---\nname: base\ndescription: Splits texts.\n---\nSplit.\n");
    session.write("skills/demo/SKILL.md", SKILL);
    session.write(
        "skills/demo/skill.json",
        &manifest(r#""allowed_tools": ["demo/run"], "forbidden_tools": ["write"]"#),
    );
    session.write("skills/demo/scripts/run.sh", SCRIPT);
    session
}

fn code(session: &Session, arguments: &[&str]) -> i32 {
    session.output(arguments).status.code().unwrap()
}

/// Makes the skill able to do more, and one file different.
fn widen(session: &Session) {
    let rules = r#""allowed_tools": ["demo/run", "Bash"], "sandbox": {"network": true}"#;
    session.write("skills/demo/skill.json", &manifest(rules));
    session.write("skills/demo/scripts/run.sh", "#!/usr/bin/env python3\nprint(1)\n");
}

#[test]
fn a_skill_is_locked_with_what_it_builds_on() {
    let session = session();
    assert_snapshot!(session.run(&["skill", "lock", "demo"]), @"
    exit 0
    --- stdout
    locked    base@0.0.0
    locked    demo@1.0.0
    --- stderr
    artel.lock: 2 skills: 2 locked
    ");
    assert_snapshot!(session.read("artel.lock"), @r#"
    # Which skills this project uses, and what they may do. Made by `artel skill lock`; do not edit.
    # `artel skill verify` compares the skills with it, `artel skill update` accepts what changed.
    version = 1
    names = ["demo"]

    [[skill]]
    name = "base"
    version = "0.0.0"
    source = "default"
    location = "skills/base"
    content_hash = "sha256:db392ddf41202a5a25a24cc266248ea963fed5ba4fea14cbe0e9565c98419df8"

    [skill.permissions]
    called_by = [
        "model",
        "user",
    ]

    [skill.files]
    "SKILL.md" = "sha256:e1b9d9bfa5bf4f2902ce6fae5df1982fc077f754c7a13c9eccbeb87f7f612c8a"

    [[skill]]
    name = "demo"
    version = "1.0.0"
    source = "default"
    location = "skills/demo"
    content_hash = "sha256:bd2ba20f9c42861a188e71f6377a652c7e81708d112f0672de6841e73d24c9b4"

    [skill.permissions]
    allowed_tools = ["demo/run"]
    forbidden_tools = ["write"]
    uses = ["base"]
    called_by = [
        "model",
        "user",
    ]

    [[skill.permissions.scripts]]
    name = "run"
    path = "scripts/run.sh"
    interpreter = "/bin/sh"

    [skill.files]
    "SKILL.md" = "sha256:fe0850c46474caf662bae8132ae9f0829eb591b0a1edbe6fc0bcf0cc0c6535bc"
    "scripts/run.sh" = "sha256:716269d16f6dab02eee206f253f49afa8ee4f36efcd38ef9f65310edd5a1c61f"
    "skill.json" = "sha256:e933dd5089e761a04fa762c1b0c094b94d14f8e5429b90f873e7de1d22d88c66"
    "#);
    assert_snapshot!(session.run(&["skill", "verify"]), @"
    exit 0
    --- stderr
    artel.lock: 2 skills: 2 same; what is used is what was locked
    ");
    // The same skills give the same file.
    let text = session.read("artel.lock");
    std::fs::remove_file(session.path().join("artel.lock")).unwrap();
    session.run(&["skill", "lock", "demo"]);
    assert_eq!(session.read("artel.lock"), text);
}

#[test]
fn drift_is_told_with_permissions_first() {
    let session = session();
    session.run(&["skill", "lock", "demo"]);
    widen(&session);
    assert_snapshot!(session.run(&["skill", "verify"]), @"
    exit 1
    --- stdout
    changed   demo@1.0.0
      wider     + asks for the network
      wider     + allows `Bash`
      wider     - forbids `write`
      wider     + has the script `run`: scripts/run.sh by /usr/bin/env python3
      narrower  - has the script `run`: scripts/run.sh by /bin/sh
      file      ~ scripts/run.sh
      file      ~ skill.json
    --- stderr
    artel.lock: 2 skills: 1 changed, 1 same; what is used is not what was locked
    ");
    let document = session.json(&["skill", "verify"]);
    assert_eq!(document["valid"], false);
    let demo = &document["skills"][1];
    assert_eq!((&demo["name"], &demo["status"]), (&"demo".into(), &"changed".into()));
    assert_eq!(demo["permissions"][0]["kind"], "network");
    assert_eq!(demo["permissions"][0]["rights"], "wider");
    assert_eq!(demo["files"][0]["path"], "scripts/run.sh");
}

#[test]
fn only_update_accepts_what_changed() {
    let session = session();
    session.run(&["skill", "lock", "demo"]);
    widen(&session);
    let before = session.read("artel.lock");
    assert_snapshot!(session.run(&["skill", "lock"]), @"
    exit 1
    --- stdout
    changed   demo@1.0.0
      wider     + asks for the network
      wider     + allows `Bash`
      wider     - forbids `write`
      wider     + has the script `run`: scripts/run.sh by /usr/bin/env python3
      narrower  - has the script `run`: scripts/run.sh by /bin/sh
      file      ~ scripts/run.sh
      file      ~ skill.json
    unlocked  detect@1.0.0
    unlocked  dice-roller@1.0.0
    unlocked  fetch-object@1.0.0
    unlocked  grasp@1.0.0
    unlocked  memory@1.0.0
    unlocked  navigate@1.0.0
    unlocked  opencode-implementer@0.0.0
    unlocked  reputation@1.0.0
    unlocked  specification-engine@0.0.0
    unlocked  storyteller@1.0.0
    --- stderr
    artel.lock: 12 skills: 1 changed, 10 unlocked, 1 same
    error: skills are not what was locked; `artel.lock` stays as it is
    hint: `artel skill update` accepts what changed
    ");
    assert_eq!(session.read("artel.lock"), before);
    assert_snapshot!(session.run(&["skill", "update", "demo"]), @"
    exit 0
    --- stdout
    changed   demo@1.0.0
      wider     + asks for the network
      wider     + allows `Bash`
      wider     - forbids `write`
      wider     + has the script `run`: scripts/run.sh by /usr/bin/env python3
      narrower  - has the script `run`: scripts/run.sh by /bin/sh
      file      ~ scripts/run.sh
      file      ~ skill.json
    --- stderr
    artel.lock: 2 skills: 1 changed, 1 same
    ");
    assert_eq!(code(&session, &["skill", "verify", "--strict"]), 0);
    assert_snapshot!(session.run(&["skill", "update"]), @"
    exit 0
    --- stderr
    artel.lock: 2 skills: 2 same; nothing to write
    ");
}

#[test]
fn updating_one_skill_leaves_the_pins_of_others() {
    let session = session();
    session.run(&["skill", "lock", "base", "demo"]);
    widen(&session);
    session.write("skills/base/SKILL.md", "---\nname: base\ndescription: Splits texts.\n---\nSplit well.\n");
    session.run(&["skill", "update", "base"]);
    let document = session.json(&["skill", "verify"]);
    assert_eq!(
        (&document["skills"][0]["status"], &document["skills"][1]["status"]),
        (&"same".into(), &"changed".into())
    );
}

#[test]
fn what_is_gone_fails_and_what_came_only_strictly() {
    let session = session();
    session.run(&["skill", "lock"]);
    assert_eq!(code(&session, &["skill", "verify", "--strict"]), 0);
    session.write("skills/more/SKILL.md", "---\nname: more\ndescription: Adds.\n---\nAdd.\n");
    assert_eq!(code(&session, &["skill", "verify"]), 0);
    assert_snapshot!(session.run(&["skill", "verify", "--strict"]), @"
    exit 1
    --- stdout
    unlocked  more@0.0.0
    --- stderr
    artel.lock: 13 skills: 1 unlocked, 12 same; what is used is not what was locked
    ");
    assert_snapshot!(session.run(&["skill", "lock"]), @"
    exit 0
    --- stdout
    locked    more@0.0.0
    --- stderr
    artel.lock: 13 skills: 1 locked, 12 same
    ");
    artel_engine::remove_folder(&session.path().join("skills/more")).unwrap();
    assert_snapshot!(session.run(&["skill", "verify"]), @"
    exit 1
    --- stdout
    missing   more@0.0.0
    --- stderr
    artel.lock: 13 skills: 1 missing, 12 same; what is used is not what was locked
    ");
    assert_snapshot!(session.run(&["skill", "update"]), @"
    exit 0
    --- stdout
    removed   more@0.0.0
    --- stderr
    artel.lock: 13 skills: 1 removed, 12 same
    ");
    assert_eq!(code(&session, &["skill", "verify", "--strict"]), 0);
}

#[test]
fn a_skill_that_takes_the_place_of_another_is_seen() {
    let session = session();
    session.run(&["skill", "lock", "navigate"]);
    assert_eq!(code(&session, &["skill", "verify"]), 0);
    // A folder of the project wins over what is built in.
    session
        .write("skills/navigate/SKILL.md", "---\nname: navigate\ndescription: Goes elsewhere.\n---\nGo.\n");
    let seen = session.json(&["skill", "verify"]);
    assert_eq!((&seen["valid"], &seen["skills"][0]["status"]), (&false.into(), &"changed".into()));
    assert_eq!(seen["skills"][0]["moved"]["to"]["location"], "skills/navigate");
}

#[test]
fn the_same_skill_elsewhere_is_only_told() {
    let session = session();
    session.run(&["skill", "lock", "demo"]);
    std::fs::rename(session.path().join("skills"), session.path().join("moved")).unwrap();
    assert_snapshot!(session.run(&["skill", "verify", "--skills", "moved"]), @"
    exit 0
    --- stdout
    moved     base@0.0.0
      source    default skills/base → default moved/base
    moved     demo@1.0.0
      source    default skills/demo → default moved/demo
    --- stderr
    artel.lock: 2 skills: 2 moved; what is used is what was locked
    ");
    assert_eq!(code(&session, &["skill", "verify", "--skills", "moved", "--strict"]), 1);
}

#[test]
fn mistakes_are_met_with_a_place_and_a_hint() {
    let session = session();
    assert_snapshot!(session.run(&["skill", "verify"]), @"
    exit 3
    --- stderr
    error: there is no lock file `artel.lock`
    hint: `artel skill lock` makes one
    ");
    assert_snapshot!(session.run(&["skill", "update"]), @"
    exit 3
    --- stderr
    error: there is no lock file `artel.lock`
    hint: `artel skill lock` makes one
    ");
    assert_snapshot!(session.run(&["skill", "lock", "navigat"]), @"
    exit 1
    --- stderr
    error: there is no skill `navigat`
    hint: did you mean `navigate`?
    ");
    session.run(&["skill", "lock", "base"]);
    assert_snapshot!(session.run(&["skill", "update", "demo"]), @"
    exit 1
    --- stderr
    error: `demo` is not locked
    hint: `artel skill lock demo` locks it
    ");
    let text = session.read("artel.lock");
    session.write("artel.lock", &text.replace("sha256:", "sha512:"));
    assert_snapshot!(session.run(&["skill", "verify"]), @"
    exit 2
    --- stderr
    error: artel.lock:20:14: this is not a hash: it is not `sha256:` with 64 digits of 0-9 and a-f after it
    hint: the file is made by `artel skill lock`: restore it, or remove it and lock the skills anew
    ");
    session.write("artel.lock", &format!("<<<<<<< ours\n{text}"));
    assert_snapshot!(session.run(&["skill", "lock"]), @"
    exit 2
    --- stderr
    error: artel.lock:1:1: a merge left both sides of a conflict here
    hint: take one side as a whole, then `artel skill verify` says what the other one would change
    ");
    session.write("artel.lock", &text.replace("version = 1\n", "version = 9\n"));
    assert_snapshot!(session.run(&["skill", "update"]), @"
    exit 2
    --- stderr
    error: artel.lock:3:11: it has version 9, and this artel knows version 1
    hint: use the artel that wrote it, or lock the skills anew
    ");
}

#[test]
fn a_switched_off_skill_is_missing() {
    let session = session();
    session.run(&["skill", "lock", "demo"]);
    session.run(&["skill", "disable", "demo"]);
    let document = session.json(&["skill", "verify"]);
    assert_eq!(
        document["skills"].as_array().unwrap().iter().filter(|skill| skill["status"] == "missing").count(),
        2
    );
}
