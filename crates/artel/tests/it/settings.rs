//! Settings of skills, the configuration of artel, and the doctor.

use insta::assert_snapshot;

use crate::session::Session;

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "style": {"type": "string", "enum": ["warm", "formal"], "default": "warm", "description": "How to greet."},
    "retries": {"type": "integer", "minimum": 0, "maximum": 3},
    "token": {"type": "string", "format": "password", "x-category": "access"}
  },
  "required": ["token"]
}"#;

fn session() -> Session {
    let session = Session::new();
    session.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: Shows one thing.\n---\nDo it.\n");
    session.write("skills/demo/config-schema.json", SCHEMA);
    session
}

#[test]
fn settings_are_checked_before_they_are_saved() {
    let session = session();
    assert_snapshot!(session.run(&["skill", "config", "demo"]), @r#"
    exit 0
    --- stdout
    retries  (not set)         integer
    style    "warm" (default)  string  How to greet.
    token    (not set)         string, required
    "#);
    assert_snapshot!(session.run(&["skill", "config", "demo", "set", "retries=-1", "style=rude", "token=x"]), @r#"
    exit 1
    --- stderr
    warning: `token` is a secret and is stored as it is; better keep it in a variable and set `token=${ARTEL_SKILL_...}`
    error: `retries`: -1 is less than the minimum of 0; `style`: "rude" is not one of "warm" or "formal"
    hint: nothing was saved
    "#);
    assert!(!session.path().join("skills/demo/config.json").exists());
    assert_snapshot!(session.run(&["skill", "config", "demo", "set", "retries=0", "token=${ARTEL_SKILL_TOKEN}"]), @r#"
    exit 0
    --- stdout
    retries  0                       integer
    style    "warm" (default)        string  How to greet.
    token    "${ARTEL_SKILL_TOKEN}"  string, required
    --- stderr
    saved in skills/demo/config.json
    "#);
    assert_snapshot!(session.run(&["skill", "config", "demo", "unset", "retries"]), @r#"
    exit 0
    --- stdout
    retries  (not set)               integer
    style    "warm" (default)        string  How to greet.
    token    "${ARTEL_SKILL_TOKEN}"  string, required
    --- stderr
    saved in skills/demo/config.json
    "#);
    assert_snapshot!(session.run(&["skill", "config", "demo", "set", "colour=red"]), @"
    exit 2
    --- stderr
    error: there is no setting `colour`
    hint: there is: retries, style, token
    ");
}

#[test]
fn a_secret_is_never_shown() {
    let mut session = session();
    session.run(&["skill", "config", "demo", "set", "token=hunter2-literal"]);
    let shown =
        session.run(&["skill", "config", "demo"]) + &session.run(&["skill", "show", "demo", "--json"]);
    assert!(!shown.contains("hunter2"), "{shown}");
    session.run(&["skill", "config", "demo", "set", "token=${ARTEL_SKILL_TOKEN}"]);
    session.set("ARTEL_SKILL_TOKEN", "hunter2-variable");
    let shown = session.run(&["skill", "show", "demo"]) + &session.run(&["doctor"]);
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(session.json(&["skill", "show", "demo"])["config"]["token"], "********");
}

#[test]
fn settings_of_built_in_skills_are_kept_with_the_data() {
    let session = Session::new();
    assert_snapshot!(session.run(&["skill", "config", "storyteller", "set", "style=noir"]), @r#"
    exit 0
    --- stdout
    style  "noir"  string  The voice in which scenes are told.
    --- stderr
    saved in .artel/config/storyteller.json
    "#);
    assert_eq!(session.json(&["skill", "show", "storyteller"])["config"]["style"], "noir");
}

#[test]
fn the_doctor_tells_where_every_value_comes_from() {
    let mut session = session();
    session.write("artel.toml", "data = 'state'\nskill_env = ['GREETING_*']\n");
    session.set("SKILLS_DIR", "skills");
    assert_snapshot!(session.run(&["doctor", "--color", "never"]), @"
    exit 0
    --- stdout
    configuration
       configuration file             found        artel.toml
       skills_dirs                    $SKILLS_DIR  skills
       data                           artel.toml   state
       max_skill_summaries_in_prompt  default      all
       skill_env                      artel.toml   GREETING_*
       limits                         default      skill_files=1000 skill_bytes=52428800 discovery_folders=200000 discovery_depth=10

    checks
       data folder  ok  state (made when it is needed)
       skills       ok  11 skills from 1 folders and the binary; 0 errors, 0 warnings
       sh           ok  /usr/bin/sh
       python3      ok  /usr/bin/python3
    ");
    assert_eq!(session.json(&["doctor"])["settings"][2]["origin"], "artel.toml");
}
