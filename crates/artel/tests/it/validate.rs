//! `artel skill validate`: what it says, by whose rules, and what it mends.

use insta::assert_snapshot;

use crate::session::Session;

const BAD: &str = "---\nname: My Skill\ndescription: Use when: testing\ncolor: blue\n---\nDo the thing.\n";

#[test]
fn every_problem_is_shown_with_its_line_and_how_to_mend_it() {
    let session = Session::new();
    session.write("my-skill/SKILL.md", BAD);
    assert_snapshot!(session.run(&["skill", "validate", "my-skill"]), @"
    exit 1
    --- stdout
    error[name-invalid]: `My Skill` is not a skill's name: `M` is not allowed in a name: use lower-case letters a-z, digits and hyphens
      --> my-skill/SKILL.md:2:7
     2 | name: My Skill
       |       ^
       = hint: call it `my-skill`

    error[name-mismatch]: the skill is called `My Skill`, its folder `my-skill`
      --> my-skill/SKILL.md:2:7
     2 | name: My Skill
       |       ^
       = hint: call the skill `my-skill`, like its folder

    error[yaml-repaired]: this value must be in quotes to be read
      --> my-skill/SKILL.md:3:14
     3 | description: Use when: testing
       |              ^
       = hint: put it in double quotes; `artel skill validate --fix` does it

    error[field-unknown]: `color` is not a field of the open format
      --> my-skill/SKILL.md:4:1
     4 | color: blue
       | ^
       = hint: move it under `metadata:`

    error   my-skill@0.0.0  loads in: claude, lenient
    --- stderr
    1 skill checked by spec: 4 errors, 0 warnings
    ");
}

#[test]
fn what_can_be_mended_safely_is_mended() {
    let session = Session::new();
    session.write("Mine/SKILL.md", BAD);
    assert_snapshot!(session.run(&["skill", "validate", "Mine", "--fix"]), @"
    exit 0
    --- stdout
    ok      my-skill@0.0.0  loads in: spec, skills-ref, claude, codex, lenient
    --- stderr
    fixed Mine: SKILL.md:3: the value is put in quotes
    fixed Mine: SKILL.md: the name `My Skill` becomes `my-skill`
    fixed Mine: SKILL.md: `color` is moved under `metadata`
    fixed Mine: the folder `Mine` is renamed to `my-skill`
    1 skill checked by spec: 0 errors, 0 warnings
    ");
    assert_snapshot!(session.read("my-skill/SKILL.md"), @r#"
    ---
    name: my-skill
    description: "Use when: testing"
    metadata:
      color: blue
    ---
    Do the thing.
    "#);
    assert_snapshot!(session.run(&["skill", "validate", "my-skill", "--fix"]), @"
    exit 0
    --- stdout
    ok      my-skill@0.0.0  loads in: spec, skills-ref, claude, codex, lenient
    --- stderr
    1 skill checked by spec: 0 errors, 0 warnings
    ");
}

#[test]
fn profiles_judge_differently() {
    let session = Session::new();
    session.write(
        "demo/SKILL.md",
        "---\nname: demo\ndescription: Shows one thing.\nversion: 1.0.0\n---\nDo it.\n",
    );
    for (profile, expected) in [("spec", 1), ("skills-ref", 1), ("claude", 0), ("codex", 0), ("lenient", 0)] {
        let output = session.output(&["skill", "validate", "demo", "--profile", profile]);
        assert_eq!(output.status.code(), Some(expected), "{profile}");
    }
}

#[test]
fn a_whole_folder_and_a_set_are_checked_together() {
    let session = Session::new();
    session.write(
        "all/a/skill.json",
        r#"{"name": "a", "version": "1.0.0", "description": "A.", "dependencies": ["b"]}"#,
    );
    session.write(
        "all/b/skill.json",
        r#"{"name": "b", "version": "1.0.0", "description": "B.", "dependencies": ["a", "navigate"]}"#,
    );
    assert_snapshot!(session.run(&["skill", "validate", "all"]), @r#"
    exit 1
    --- stdout
    warning[name-length]: `a` is 1 long, 3 to 50 characters are usual
      --> all/a/skill.json:1:10
     1 | {"name": "a", "version": "1.0.0", "description": "A.", "dependencies": ["b"]}
       |          ^
       = hint: choose a name of 3 to 50 characters

    error[dependency-cycle]: circular dependency: a → b → a
      --> all/a/skill.json:1:73
     1 | {"name": "a", "version": "1.0.0", "description": "A.", "dependencies": ["b"]}
       |                                                                         ^
       = hint: remove one of these dependencies

    warning[name-length]: `b` is 1 long, 3 to 50 characters are usual
      --> all/b/skill.json:1:10
     1 | {"name": "b", "version": "1.0.0", "description": "B.", "dependencies": ["a", "navigate"]}
       |          ^
       = hint: choose a name of 3 to 50 characters

    error   a@1.0.0  loads in: lenient
    warning b@1.0.0  loads in: spec, lenient
    --- stderr
    2 skills checked by spec: 1 error, 2 warnings
    "#);
    let report = session.json(&["skill", "validate", "all"]);
    assert_eq!((&report["valid"], &report["errors"]), (&false.into(), &1.into()));
    assert_eq!(report["skills"][0]["diagnostics"][1]["code"], "dependency-cycle");
}

#[test]
fn a_folder_is_known_by_its_real_name() {
    let session = Session::new();
    session.write("demo/SKILL.md", "---\nname: demo\ndescription: Shows one thing.\n---\nDo it.\n");
    let folder = session.path().join("demo");
    assert!(session.run(&["skill", "validate", folder.as_str()]).starts_with("exit 0"));
    assert!(session.run(&["skill", "validate", "demo/SKILL.md"]).starts_with("exit 0"));
    assert!(session.run(&["skill", "validate", "demo/"]).starts_with("exit 0"));
    assert!(session.run(&["skill", "validate", "demo/../demo/."]).starts_with("exit 0"));
}

#[test]
fn a_file_is_still_found_after_its_folder_was_renamed() {
    let session = Session::new();
    session.write("My_Skill/skill.md", "---\nname: My_Skill\ndescription: Shows one thing.\n---\nDo it.\n");
    assert_snapshot!(session.run(&["skill", "validate", "--fix", "My_Skill/skill.md"]), @"
    exit 0
    --- stdout
    ok      my-skill@0.0.0  loads in: spec, skills-ref, claude, codex, lenient
    --- stderr
    fixed My_Skill: skill.md: the name `My_Skill` becomes `my-skill`
    fixed My_Skill: skill.md: the file is renamed to `SKILL.md`
    fixed My_Skill: the folder `My_Skill` is renamed to `my-skill`
    1 skill checked by spec: 0 errors, 0 warnings
    ");
}

#[test]
fn the_configured_limits_hold_for_validation_too() {
    let session = Session::new();
    session.write("artel.toml", "[limits]\nskill_files = 2\n");
    session.write("all/demo/SKILL.md", "---\nname: demo\ndescription: Shows one thing.\n---\nDo it.\n");
    for name in ["a", "b"] {
        session.write(&format!("all/demo/references/{name}.md"), "");
    }
    for path in ["all", "all/demo", "all/demo/SKILL.md"] {
        let result = session.run(&["skill", "validate", path]);
        assert!(
            result.contains("error[too-many-files]: a skill may have at most 2 files"),
            "{path}: {result}"
        );
    }
}

#[test]
fn what_a_link_to_a_folder_leads_to_is_not_mended() {
    let session = Session::new();
    let text = "---\nname: demo\ndescription: Use when: testing\n---\nDo it.\n";
    session.write("theirs/demo/SKILL.md", text);
    session.link("../theirs/demo", "mine/demo");
    assert_snapshot!(session.run(&["skill", "validate", "mine", "--fix"]), @"
    exit 1
    --- stdout
    error[yaml-repaired]: this value must be in quotes to be read
      --> mine/demo/SKILL.md:3:14
     3 | description: Use when: testing
       |              ^
       = hint: put it in double quotes; `artel skill validate --fix` does it

    error   demo@0.0.0  loads in: claude, lenient
    --- stderr
    left mine/demo: not touched: a link leads there, out of what was given
    1 skill checked by spec: 1 error, 0 warnings
    ");
    assert_eq!(session.read("theirs/demo/SKILL.md"), text);
    assert!(
        session.run(&["skill", "validate", "mine/demo", "--fix"]).starts_with("exit 0"),
        "it was given itself"
    );
}
