//! Mistakes that people make, and what they are told.

use insta::assert_snapshot;

use crate::session::Session;

#[test]
fn a_misspelt_name_is_met_with_a_suggestion() {
    assert_snapshot!(Session::new().run(&["skill", "show", "naviagte"]), @"
    exit 1
    --- stderr
    error: there is no skill `naviagte`
    hint: did you mean `navigate`?
    ");
}

#[test]
fn a_version_that_does_not_exist_is_met_with_those_that_do() {
    assert_snapshot!(Session::new().run(&["skill", "show", "navigate@9.0.0"]), @"
    exit 1
    --- stderr
    error: there is no version 9.0.0 of skill `navigate`
    hint: there is 1.0.0
    ");
}

#[test]
fn a_bad_name_is_refused_before_anything_is_made() {
    let session = Session::new();
    assert_snapshot!(session.run(&["skill", "new", "My Skill"]), @"
    exit 2
    --- stderr
    error: invalid value 'My Skill' for '<NAME>': `M` is not allowed in a name: use lower-case letters a-z, digits and hyphens

    For more information, try '--help'.
    ");
    assert_eq!(std::fs::read_dir(session.path()).unwrap().count(), 0);
}

#[test]
fn a_path_that_does_not_exist_is_not_valid() {
    assert_snapshot!(Session::new().run(&["skill", "validate", "nowhere"]), @"
    exit 3
    --- stderr
    error: there is nothing at `nowhere`
    ");
}

#[test]
fn an_empty_folder_holds_no_skill() {
    let session = Session::new();
    std::fs::create_dir(session.path().join("empty")).unwrap();
    assert_snapshot!(session.run(&["skill", "validate", "empty"]), @"
    exit 1
    --- stdout
    error[missing-file]: the folder holds no skill
      --> empty
       = hint: `artel skill new NAME` makes one that works

    --- stderr
    0 skills checked by spec: 1 error, 0 warnings
    ");
}

#[test]
fn a_broken_configuration_says_where() {
    let session = Session::new();
    session.write("artel.toml", "data = 1\n");
    assert_snapshot!(session.run(&["skill", "list"]), @"
    exit 2
    --- stderr
    error: artel.toml:1: invalid type: integer `1`, expected a UTF-8 path string
    hint: the keys are: skills_dirs, data, max_skill_summaries_in_prompt, skill_env, limits, store, sandbox, sandbox_users, cgroup, retention_days, run, sandbox_grants, script_limits, planner, agents, llm, clients, bus, metrics, server, quotas, oidc, hubs, scanner, chat, telemetry
    ");
    session.write("artel.toml", "data = 'd'\nskill_dirs = []\n");
    assert_snapshot!(session.run(&["skill", "list"]), @"
    exit 2
    --- stderr
    error: artel.toml:2: unknown field `skill_dirs`, expected one of `skills_dirs`, `data`, `max_skill_summaries_in_prompt`, `skill_env`, `limits`, `store`, `sandbox`, `sandbox_users`, `cgroup`, `retention_days`, `run`, `sandbox_grants`, `script_limits`, `planner`, `agents`, `llm`, `clients`, `bus`, `metrics`, `server`, `quotas`, `oidc`, `hubs`, `scanner`, `chat`, `telemetry`
    hint: the keys are: skills_dirs, data, max_skill_summaries_in_prompt, skill_env, limits, store, sandbox, sandbox_users, cgroup, retention_days, run, sandbox_grants, script_limits, planner, agents, llm, clients, bus, metrics, server, quotas, oidc, hubs, scanner, chat, telemetry
    ");
}

#[test]
fn damaged_switches_are_told_and_not_overwritten() {
    let session = Session::new();
    session.write(".artel/skills.json", "not json");
    assert_snapshot!(session.run(&["skill", "disable", "navigate"]), @"
    exit 3
    --- stderr
    error: `.artel/skills.json` is not valid: expected ident at line 1 column 2; mend or remove it
    ");
    assert_eq!(session.read(".artel/skills.json"), "not json");
}

#[test]
fn unknown_words_are_usage_errors() {
    for arguments in [
        &["skill", "lst"][..],
        &["skill", "validate", "--profile", "none"],
        &["skill", "prompt", "--format", "html"],
        &["skill", "export", "x", "--for", "emacs"],
        &["skill", "compose", "--tool", "a b", "navigate"],
        &["skill", "search", "..."],
    ] {
        assert_eq!(Session::new().output(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn one_bad_skill_never_hides_the_others() {
    let session = Session::new();
    session.write("skills/bad/SKILL.md", "---\nname: \"bad\n---\n");
    session.write("skills/good/SKILL.md", "---\nname: good\ndescription: Is good.\n---\nDo it.\n");
    let list = session.run(&["skill", "list"]);
    assert!(list.contains("good") && list.contains("1 error, 0 warnings while loading"), "{list}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    // The list is longer than a pipe's buffer is likely to be read; closing it early must not panic.
    let session = Session::new();
    let output = session.output(&["completions", "bash"]);
    assert!(output.status.success() && output.stdout.len() > 1000);
}

#[test]
fn what_cannot_be_printed_is_a_failure() {
    let session = Session::new();
    for arguments in [&["skill", "list"][..], &["skill", "list", "--json"], &["completions", "bash"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = session.command(arguments).stdout(full).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert!(told.contains("error: cannot write the output: No space left"), "{told}");
    }
}

#[test]
fn a_file_or_folder_that_cannot_be_used_is_in_the_message() {
    let session = Session::new();
    assert_snapshot!(session.run(&["--config", "nowhere.toml", "skill", "list"]), @"
    exit 3
    --- stderr
    error: cannot read the configuration `nowhere.toml`: No such file or directory (os error 2)
    ");
    session.write("taken", "");
    assert_snapshot!(session.run(&["man", "taken"]), @"
    exit 3
    --- stderr
    error: cannot make the folder `taken`: File exists (os error 17)
    ");
}
