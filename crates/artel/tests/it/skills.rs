//! Listing, searching, showing, making, describing and exporting skills.

use insta::assert_snapshot;

use crate::session::Session;

const DEMO: &str = "---\nname: demo\ndescription: Shows one thing. Use when testing.\n---\nDo the thing.\n";

#[test]
fn the_built_in_skills_are_always_there() {
    let names: Vec<String> = Session::new().json(&["skill", "list"])["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| format!("{} {}", skill["name"].as_str().unwrap(), skill["version"].as_str().unwrap()))
        .collect();
    assert_snapshot!(names.join("\n"), @"
    detect 1.0.0
    dice-roller 1.0.0
    fetch-object 1.0.0
    grasp 1.0.0
    memory 1.0.0
    navigate 1.0.0
    opencode-implementer 0.0.0
    reputation 1.0.0
    specification-engine 0.0.0
    storyteller 1.0.0
    ");
}

#[test]
fn a_folder_wins_over_the_built_in_skill_of_its_name() {
    let session = Session::new();
    session.write("skills/navigate/SKILL.md", &DEMO.replace("demo", "navigate"));
    let skill = &session.json(&["skill", "show", "navigate"]);
    assert_eq!(skill["location"], "skills/navigate/SKILL.md");
    assert_snapshot!(session.run(&["skill", "list", "--tag", "none", "-v"]), @"
    exit 0
    --- stderr
    0 skills
    warning[shadowed]: `navigate` is not used: skills/navigate comes first
      --> built-in:navigate/SKILL.md:2:7
       = hint: rename one of them if both are wanted
    0 errors, 1 warning while loading
    ");
}

#[test]
fn a_copy_of_a_built_in_skill_is_not_worth_a_word() {
    let session = Session::new();
    session.run(&["skill", "export", "skills", "navigate", "--for", "agents"]);
    assert_eq!(session.json(&["skill", "show", "navigate"])["location"], "skills/navigate/SKILL.md");
    assert!(!session.run(&["skill", "list"]).contains("while loading"));
}

#[test]
fn words_find_skills_with_reasons() {
    assert_snapshot!(Session::new().run(&["skill", "search", "rol", "dice", "--explain", "--limit", "1"]), @"
    exit 0
    --- stdout
    2.80  dice-roller  Roll dice written in the usual notation such as 2d6+3, d20 or 2d6+1d4-1. Use when a game, a decision or a test needs chance, reproducible when a seed is given.
          +0.92        rol = roller (prefix) in name, title, body
          +1.88        dice = dice (exact) in name, title, tags, description, body
    ");
    assert_snapshot!(Session::new().run(&["skill", "search", "xyzzyx"]), @"
    exit 0
    --- stderr
    no skill matches; try fewer or other words
    ");
}

#[test]
fn a_skill_is_shown_whole() {
    let session = Session::new();
    session.write("skills/demo/SKILL.md", DEMO);
    session.write(
        "skills/demo/skill.json",
        r#"{"name": "demo", "version": "1.2.0", "dependencies": ["navigate@^1"], "tags": ["one"],
            "parameters_schema": {"properties": {"who": {"type": "string", "default": "x"}}, "required": ["who"]},
            "allowed_tools": ["Bash(git:*)"], "forbidden_tools": ["write"], "execution_protocol": ["look", "act"]}"#,
    );
    assert_snapshot!(session.run(&["skill", "show", "demo"]), @"
    exit 0
    --- stdout
    demo 1.2.0
    Shows one thing. Use when testing.

    state       enabled, healthy
    location    skills/demo/SKILL.md
    content     sha256:34a089eba97bcec44a429fb19abad1555390a29f6c2279871afc48eaaff96d11
    changed     2023-11-14T22:13:20Z
    tags        one
    attempts    30 s each, 0 retries
    data        of the owner of a run
    runs after  navigate@1.0.0
    allows      Bash(git:*)
    forbids     write
    protocol    look → act

    parameters
       who  string, required

    files
       SKILL.md    81 bytes
       skill.json  316 bytes
    --- stderr
    `artel skill show demo --instructions` prints the instructions
    ");
    let document = session.json(&["skill", "show", "demo@1.2.0"]);
    assert_eq!(document["execution_order"], serde_json::json!(["navigate@1.0.0", "demo@1.2.0"]));
    assert_eq!(document["health"], "healthy");
    assert_snapshot!(session.run(&["skill", "show", "demo", "--instructions"]), @"
    exit 0
    --- stdout
    Do the thing.
    ");
    assert_snapshot!(session.run(&["skill", "show", "demo", "--file", "../secret"]), @"
    exit 1
    --- stderr
    error: the skill has no file `../secret`
    hint: its files are: SKILL.md, skill.json
    ");
}

#[test]
fn a_new_skill_works_at_once() {
    let session = Session::new();
    assert_snapshot!(session.run(&["skill", "new", "demo"]), @"
    exit 0
    --- stdout
    demo/SKILL.md
    demo/skill.json
    demo/scripts/run.py
    demo/examples/plan.json
    --- stderr

    Next: edit demo/SKILL.md, then `artel skill validate demo`.
    `artel skill run demo --skills .` runs it.
    `artel skill list` finds it when it lies in a folder that is searched: `--in skills`.
    ");
    assert_snapshot!(session.run(&["skill", "validate", "demo"]), @"
    exit 0
    --- stdout
    ok      demo@0.1.0  loads in: spec, skills-ref, claude, codex, lenient
    --- stderr
    1 skill checked by spec: 0 errors, 0 warnings
    ");
    assert_snapshot!(session.run(&["skill", "new", "demo"]), @"
    exit 1
    --- stderr
    error: `demo` exists already
    hint: choose another name, or remove it first
    ");
}

#[test]
fn versions_can_be_chosen_and_skills_switched_off() {
    let session = Session::new();
    session.write(
        "skills/two.skill.yaml",
        "name: two\nversion: 1.0.0\ndescription: One.\n---\nname: two\nversion: 2.0.0\ndescription: Two.\n",
    );
    let version = |session: &Session| session.json(&["skill", "show", "two"])["version"].clone();
    assert_eq!(version(&session), "2.0.0");
    assert_snapshot!(session.run(&["skill", "enable", "two@1.0.0"]), @"
    exit 0
    --- stdout
    two: enabled, version 1.0.0 is used
    ");
    assert_eq!(version(&session), "1.0.0");
    assert_snapshot!(session.run(&["skill", "disable", "two"]), @"
    exit 0
    --- stdout
    two: disabled
    ");
    assert_eq!(session.json(&["skill", "show", "two"])["enabled"], false);
    assert!(!session.run(&["skill", "prompt"]).contains("<name>two</name>"));
    assert_snapshot!(session.run(&["skill", "enable", "two"]), @"
    exit 0
    --- stdout
    two: enabled
    ");
    assert_eq!(version(&session), "2.0.0");
}

#[test]
fn a_chosen_version_that_is_gone_is_told() {
    let session = Session::new();
    let two =
        "name: two\nversion: 1.0.0\ndescription: One.\n---\nname: two\nversion: 2.0.0\ndescription: Two.\n";
    session.write("skills/two.skill.yaml", two);
    session.run(&["skill", "enable", "two@1.0.0"]);
    session.write("skills/two.skill.yaml", "name: two\nversion: 2.0.0\ndescription: Two.\n");
    let list = session.run(&["skill", "list", "-v"]);
    assert!(list.contains("warning[version-gone]: version 1.0.0 of `two` was chosen"), "{list}");
    assert_eq!(session.json(&["skill", "show", "two"])["version"], "2.0.0");
}

#[test]
fn a_prompt_lists_what_a_model_may_choose() {
    let mut session = Session::new();
    session.write("only/demo/SKILL.md", DEMO);
    session.write(
        "only/hidden/SKILL.md",
        &DEMO.replace("demo", "hidden").replace("---\nDo", "disable-model-invocation: true\n---\nDo"),
    );
    session.set("MAX_SKILL_SUMMARIES_IN_PROMPT", "1");
    assert_snapshot!(session.run(&["--skills", "only", "skill", "prompt", "--format", "markdown"]), @"
    exit 0
    --- stdout
    ## Skills System

    Each skill has instructions. Before you use one, read the file given with it, or run the command.

    - **fetch-object**: Fetch an object from a room of a small simulated home by navigating there, detecting what is there and grasping the object. Use when somebody asks for a thing and says where it is. (`artel skill show fetch-object --instructions`)

    10 more skills are not listed here; find them with `artel skill search WORDS`.
    --- stderr
    10 skills left out, 0 descriptions shortened
    ");
    let everything = session.json(&["--skills", "only", "skill", "prompt", "--max", "0"]);
    assert_eq!((&everything["listed"], &everything["left_out"]), (&11.into(), &0.into()));
}

#[test]
fn an_export_can_be_repeated_and_touches_nothing_else() {
    let session = Session::new();
    session.write("skills/demo/SKILL.md", DEMO);
    session.write("skills/demo/scripts/run.sh", "#!/bin/sh\n");
    session.write("skills/demo/config.json", "{}");
    session.write("skills/plain.skill.yaml", "name: plain\nversion: 1.0.0\ndescription: 'Has: a colon'\n");
    assert_snapshot!(session.run(&["skill", "export", "out", "demo", "plain"]), @"
    exit 0
    --- stdout
    out/default/demo
    out/default/plain
    --- stderr
    2 skills written
    ");
    assert_snapshot!(session.read("out/default/plain/SKILL.md"), @r#"
    ---
    name: plain
    description: "Has: a colon"
    metadata:
      version: "1.0.0"
      source: default
    ---

    # plain

    Has: a colon

    ## Parameters

    ```json
    {
      "type": "object"
    }
    ```
    "#);
    assert!(!session.path().join("out/default/demo/config.json").exists(), "settings stay with the user");
    assert_snapshot!(session.run(&["skill", "export", "out", "demo"]), @"
    exit 0
    --- stdout
    out/default/demo
    --- stderr
    1 skill written
    ");
    assert!(session.path().join("out/default/plain").exists(), "what was not named stays");
    session.run(&["skill", "export", "all-of-them"]);
    session.run(&["skill", "disable", "navigate"]);
    assert!(session.run(&["skill", "export", "all-of-them"]).contains(", 1 removed"));
    assert!(!session.path().join("all-of-them/default/navigate").exists());
    session.write("taken/demo/mine.txt", "x");
    assert_snapshot!(session.run(&["skill", "export", "taken", "demo", "--for", "claude"]), @"
    exit 1
    --- stderr
    error: `taken/demo` exists and was not written by an export; move it away or choose another folder
    ");
    assert_snapshot!(session.run(&["skill", "export", "for-codex", "demo", "--for", "codex"]), @"
    exit 0
    --- stdout
    for-codex/demo
    --- stderr
    1 skill written
    ");
    assert_eq!(session.read("for-codex/demo/SKILL.md"), DEMO);
    assert!(session.run(&["skill", "validate", "out", "--profile", "skills-ref"]).starts_with("exit 0"));
}

#[test]
fn every_built_in_skill_passes_every_profile_and_exports_to_every_client() {
    let session = Session::new();
    for client in ["claude", "cursor", "codex", "agents"] {
        let folder = format!("to-{client}");
        assert!(session.run(&["skill", "export", &folder, "--for", client]).starts_with("exit 0"));
        for profile in ["skills-ref", "claude", "codex"] {
            let result = session.run(&["skill", "validate", &folder, "--profile", profile]);
            assert!(result.starts_with("exit 0"), "{client} {profile}: {result}");
        }
    }
}
