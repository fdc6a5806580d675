//! Composing, checking and selecting skills.

use insta::assert_snapshot;
use serde_json::json;

use crate::session::Session;

#[test]
fn the_coding_skills_compose_exactly_as_documented() {
    let composed = Session::new().json(&["skill", "compose", "specification-engine", "opencode-implementer"]);
    assert_eq!(
        composed,
        json!({
            "skills": ["specification-engine", "opencode-implementer"],
            "allowed_tools": ["specKit", "opencode-executor"],
            "forbidden_tools": ["write", "edit"],
            "execution_protocol":
                ["analyze-task", "generate-spec", "validate-spec", "read-spec", "implement", "verify"],
        })
    );
}

#[test]
fn decisions_name_who_decided() {
    let arguments = [
        "skill",
        "compose",
        "specification-engine",
        "opencode-implementer",
        "--tool",
        "write",
        "--tool",
        "specKit",
        "--tool",
        "Read",
    ];
    assert_snapshot!(Session::new().run(&arguments), @"
    exit 0
    --- stdout
    allows    specKit            specification-engine
    allows    opencode-executor  opencode-implementer
    forbids   write              opencode-implementer
    forbids   edit               opencode-implementer
    step 1    analyze-task
    step 2    generate-spec
    step 3    validate-spec
    step 4    read-spec
    step 5    implement
    step 6    verify
    may not   write              TOOL_FORBIDDEN by opencode-implementer (write)
    may call  specKit            allowed by specification-engine (specKit)
    may not   Read               TOOL_NOT_ALLOWED by any of these skills
    ");
    let strict = Session::new().json(&[
        "skill",
        "compose",
        "specification-engine",
        "opencode-implementer",
        "--strict",
    ]);
    assert_eq!(strict["allowed_tools"], json!([]));
    assert_eq!(Session::new().json(&["skill", "compose"])["allowed_tools"], json!([]));
}

#[test]
fn sets_are_checked_with_typed_codes() {
    let session = Session::new();
    assert_eq!(
        session.json(&["skill", "check", "specification-engine", "opencode-implementer"]),
        json!({"valid": true, "errors": [], "warnings": []})
    );
    assert_snapshot!(session.run(&["skill", "check", "specification-engine", "nope"]), @"
    exit 1
    --- stdout
    error[UNKNOWN_SKILL]: there is no skill `nope`
    error[MISSING_REQUIRED]: `specification-engine` requires `opencode-implementer`, which is not in the set: Spec must be followed by implementation
    ");
    assert_snapshot!(session.run(&["skill", "compose", "nope"]), @"
    exit 1
    --- stderr
    error: there is no skill `nope`
    hint: `artel skill list` shows the skills there are
    ");
}

#[test]
fn a_task_gets_skills_that_fit() {
    let session = Session::new();
    let chosen = session.json(&["skill", "select", "fetch the cup from the kitchen", "--limit", "2"]);
    assert_eq!(chosen["selected"][0]["name"], "fetch-object");
    assert_snapshot!(session.run(&["skill", "select", "write a parser", "--coding"]), @"
    exit 0
    --- stdout
      specification-engine  part of every coding task
      opencode-implementer  part of every coding task
    ");
    session.write("skills/net/skill.json", r#"{"name": "net", "version": "1.0.0", "description": "Fetches a cup.", "sandbox": {"network": true}}"#);
    let risky = session.json(&["skill", "select", "fetches cup", "--risk", "high"]);
    let names: Vec<_> = risky["selected"].as_array().unwrap().iter().map(|skill| &skill["name"]).collect();
    assert!(!names.contains(&&json!("net")), "{names:?}");
    assert_eq!(risky["rejected"][0]["name"], "net");
}
