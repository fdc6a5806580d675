//! Skills and folders that somebody else made: what they cannot do to who looks at them.

use insta::assert_snapshot;

use crate::session::Session;

const DEMO: &str = "---\nname: demo\ndescription: Shows one thing. Use when testing.\n---\nDo the thing.\n";

#[test]
fn a_forged_record_of_exports_removes_nothing() {
    for forged in [
        "[folder]/victim",
        "../victim",
        "default/../../victim",
        "default//[folder]/victim",
        "./victim",
        "victim/",
        "",
        "default/",
    ] {
        let session = Session::new();
        session.write("victim/precious.txt", "x");
        session.write("out/default/precious.txt", "x");
        let forged = forged.replace("[folder]", session.path().as_str());
        // A record with one bad entry is no record: its good entries do not count either.
        let record = serde_json::json!({"folders": [forged, "default/demo"]});
        session.write("out/.artel-export.json", &record.to_string());
        session.run(&["skill", "export", "out"]);
        assert_eq!(session.read("victim/precious.txt"), "x", "{forged}");
        assert_eq!(session.read("out/default/precious.txt"), "x", "{forged}");
    }
}

#[test]
fn a_record_that_cannot_be_read_leaves_every_folder_alone() {
    let session = Session::new();
    session.write("skills/demo/SKILL.md", DEMO);
    session.write("out/demo/mine.txt", "x");
    session.write("out/.artel-export.json", r#"{"folders": ["demo", "../demo"]}"#);
    assert_snapshot!(session.run(&["skill", "export", "out", "demo", "--for", "claude"]), @"
    exit 1
    --- stderr
    error: `out/demo` exists and was not written by an export; move it away or choose another folder
    ");
    assert_eq!(session.read("out/demo/mine.txt"), "x");
}

#[test]
fn an_export_does_not_go_through_links() {
    let session = Session::new();
    session.write("skills/demo/SKILL.md", DEMO);
    session.write("victim/demo/precious.txt", "x");
    session.write("out/.artel-export.json", r#"{"folders": ["default/demo", "default/gone"]}"#);
    session.link("../victim", "out/default");
    assert_snapshot!(session.run(&["skill", "export", "out", "demo"]), @"
    exit 1
    --- stderr
    error: `out/default` is a symbolic link, which an export does not follow; move it away or choose another folder
    ");
    assert_snapshot!(session.run(&["skill", "export", "out", "demo", "--for", "claude"]), @"
    exit 0
    --- stdout
    out/demo
    --- stderr
    1 skill written
    ");
    assert!(session.run(&["skill", "export", "out", "--for", "claude"]).contains("is a symbolic link"));
    session.write("flat/.artel-export.json", r#"{"folders": ["demo"]}"#);
    session.link("../victim/demo", "flat/demo");
    assert!(
        session.run(&["skill", "export", "flat", "demo", "--for", "codex"]).contains("is a symbolic link")
    );
    assert_eq!(session.read("victim/demo/precious.txt"), "x");
}

#[test]
fn an_export_says_who_may_call_a_skill_and_allows_nothing_forbidden() {
    let session = Session::new();
    session.write("skills/demo/SKILL.md", &DEMO.replace("---\nDo", "allowed-tools: Read Write\n---\nDo"));
    session.write(
        "skills/demo/skill.json",
        r#"{"name": "demo", "version": "1.0.0", "disable_model_invocation": true, "user_invocable": false,
            "allowed_tools": ["Read", "Write", "Bash(git:*)", "Bash(ls:*)", "mcp/*"],
            "forbidden_tools": ["Write", "Bash(git push:*)", "mcp/delete"]}"#,
    );
    session.run(&["skill", "export", "claude", "demo", "--for", "claude"]);
    assert_snapshot!(session.read("claude/demo/SKILL.md"), @r#"
    ---
    name: demo
    description: Shows one thing. Use when testing.
    allowed-tools: "Read Bash(ls:*)"
    disable-model-invocation: true
    user-invocable: false
    metadata:
      version: "1.0.0"
    ---

    Do the thing.
    "#);
    session.run(&["skill", "export", "codex", "demo", "--for", "codex"]);
    assert_snapshot!(session.read("codex/demo/SKILL.md"), @r#"
    ---
    name: demo
    description: Shows one thing. Use when testing.
    allowed-tools: "Read Bash(ls:*)"
    metadata:
      version: "1.0.0"
      disable-model-invocation: "true"
      user-invocable: "false"
    ---

    Do the thing.
    "#);
    assert!(session.run(&["skill", "validate", "codex", "--profile", "skills-ref"]).starts_with("exit 0"));
}

#[test]
fn what_a_linked_skill_file_leads_to_is_not_printed() {
    let session = Session::new();
    session.write("secret", "password: hunter2\n");
    session.link("../../secret", "skills/demo/SKILL.md");
    for profile in ["spec", "skills-ref", "claude", "codex", "lenient"] {
        let result = session.run(&["skill", "validate", "skills/demo", "--profile", profile]);
        assert!(!result.contains("hunter2"), "{profile}: {result}");
    }
    assert_snapshot!(session.run(&["skill", "validate", "skills/demo", "--profile", "claude"]), @"
    exit 1
    --- stdout
    error[client-unloadable]: not judged: the link leads out of the folder and is not followed
      --> skills/demo/SKILL.md
       = hint: write a `SKILL.md`; `artel skill export DIR` does it

    warning[symlink-escapes]: the link leads out of the skill's folder; it is not followed
      --> skills/demo/SKILL.md
       = hint: copy the file into the folder

    error   skills/demo  loads in: nothing
    --- stderr
    1 skill checked by claude: 1 error, 1 warning
    ");
}

#[test]
fn a_text_does_not_drive_the_terminal() {
    let session = Session::new();
    let evil = "\\u001b]0;owned\\u0007\\u001b[2J\\u202e";
    session.write("skills/demo/SKILL.md", DEMO);
    session.write(
        "skills/demo/skill.json",
        &r#"{"name": "demo", "version": "1.0.0", "display_name": "Demo EVIL", "author": "EVIL", "license": "EVIL",
            "tags": ["EVIL"], "execution_protocol": ["look EVIL"], "conflicts_with": ["navigate"],
            "parameters_schema": {"properties": {"EVIL": {"description": "EVIL", "default": "EVIL"}}}}"#
            .replace("EVIL", evil),
    );
    session.write(
        "skills/demo/config-schema.json",
        &r#"{"properties": {"EVIL": {"description": "EVIL"}}}"#.replace("EVIL", evil),
    );
    session.write("skills/demo/references/a\u{1b}[2J.md", "x");
    for arguments in [
        &["skill", "show", "demo"][..],
        &["skill", "show", "demo", "--file", "none"],
        &["skill", "list", "-v"],
        &["skill", "search", "demo", "--explain"],
        &["skill", "select", "testing"],
        &["skill", "compose", "demo", "navigate"],
        &["skill", "check", "demo", "navigate"],
        &["skill", "config", "demo"],
        &["skill", "config", "demo", "set", "none=1"],
        &["skill", "validate", "skills/demo"],
        &["skill", "prompt"],
    ] {
        let shown = session.run(arguments);
        let bad = shown.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(bad, None, "{arguments:?}: {shown:?}");
    }
    let title = session.json(&["skill", "show", "demo"])["display_name"].clone();
    assert_eq!(title, "Demo \u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}", "documents are data");
}
