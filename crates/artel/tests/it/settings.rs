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
    let file = "data = 'state'\nskill_env = ['GREETING_*']\n[run]\nslots = 4\nprocesses = 8\n";
    session.write("artel.toml", file);
    session.set("SKILLS_DIR", "skills");
    let shown = session.run(&["doctor", "--color", "never"]);
    // What the kernel can do is not the same everywhere, nor is git.
    let is_the_same = |line: &&str| !line.contains("sandbox: ") && !line.contains("   git  ");
    let shown: Vec<&str> = shown.lines().filter(is_the_same).collect();
    assert_snapshot!(shown.join("\n"), @"
    exit 0
    --- stdout
    configuration
       configuration file                found        artel.toml
       skills_dirs                       $SKILLS_DIR  skills
       data                              artel.toml   state
       max_skill_summaries_in_prompt     default      all
       skill_env                         artel.toml   GREETING_*
       limits                            default      skill_files=1000 skill_bytes=52428800 discovery_folders=200000 discovery_depth=10
       server                            default      none: commands work on the data folder
       token                             default      not set
       store                             default      state/artel.db
       sandbox                           default      enforce
       sandbox_users                     default      auto
       cgroup                            default      auto
       retention_days                    default      keep all
       run                               artel.toml   deadline_ms=60000 grace_ms=5000 slots=4 processes=8 runs=1000
       sandbox_grants                    default      none
       script_limits                     default      cpu_s=600 memory_bytes=2147483648 open_files=1024 processes=128 file_bytes=1073741824 folder_bytes=4294967296
       planner                           default      pattern
       scanner                           default      gate=warn fail_on=high second=none
       agents                            default      max_agents=1000 at_limit=reject max_depth=3 max_children=5 timeout_ms=600000 allowed=[*] forbidden=[]
       llm                               default      none
       clients                           default      allowed=[] home=private commands=any keep=false pass=[] programs=[] user=none network=preset
       bus                               default      in-process
       metrics                           default      nowhere
       [telemetry]                       default      no traces
       [server] listen                   default      127.0.0.1:7420
       [server] requests_per_second      default      usual
       [server] request_burst            default      usual
       [server] connections              default      usual
       [server] connections_per_address  default      usual
       [server] bodies_mib               default      usual
       [server] slow_request_ms          default      usual
       [server] trusted_proxies          default      none
       [server] tls_certificate          default      off
       [server] publish_skills           default      false
       [server] shutdown_grace           default      30
       [server] log                      default      info
       [quotas]                          default      saved_skills=1000 saved_mib=512 agents=200 runs=200 data_mib=1024 mailbox=10000
       [oidc]                            default      none
       [hubs]                            default      hosts=[github.com] allow_file=false allow_loopback_http=false check_seconds=60
       [chat]                            default      answered_by=planner

    checks
       data folder        ok  state (made when it is needed)
       store              ok  state/artel.db (made when it is needed)
       skills             ok  11 skills from 1 folders and the binary; 0 errors, 0 warnings
       sh                 ok  /usr/bin/sh
       python3            ok  /usr/bin/python3
       skill-scanner      ok  not installed, not used
    ");
    assert_eq!(session.json(&["doctor"])["settings"][2]["origin"], "artel.toml");
}

#[test]
fn nothing_of_a_secret_is_shown_whatever_its_form() {
    let session = session();
    session.write(
        "skills/demo/config-schema.json",
        r##"{
          "properties": {
            "auth": {"type": "object", "properties": {"token": {"format": "password"}}},
            "key": {"$ref": "#/definitions/secret"},
            "pin": {"type": "integer", "x-sensitive": true, "default": 4321},
            "word": {"type": "string", "format": "password"}
          },
          "definitions": {"secret": {"type": "string", "x-sensitive": true}}
        }"##,
    );
    session.write(
        "skills/demo/config.json",
        r#"{"auth": {"token": "hunter2"}, "key": "hunter2", "pin": 1234, "word": "hunter2${X}"}"#,
    );
    assert_snapshot!(session.run(&["skill", "config", "demo"]), @r#"
    exit 0
    --- stdout
    auth  "********"  object
    key   "********"  string
    pin   "********"  integer
    word  "********"  string
    "#);
    let shown = session.run(&["skill", "config", "demo", "--json"]);
    assert!(!["hunter2", "1234", "4321"].iter().any(|secret| shown.contains(secret)), "{shown}");
    assert_snapshot!(session.run(&["skill", "show", "demo", "--file", "config.json"]), @"
    exit 1
    --- stderr
    error: `config.json` holds settings, which may be secret; it is not printed
    hint: `artel skill config demo` shows them with secrets hidden
    ");
    session.link("config.json", "skills/demo/copy.json");
    let shown = session.run(&["skill", "show", "demo", "--file", "copy.json"]);
    assert!(shown.starts_with("exit 1") && !shown.contains("hunter2"), "{shown}");
    session.run(&["skill", "export", "out", "demo", "--for", "claude"]);
    assert!(session.path().join("out/demo/SKILL.md").exists());
    assert!(!session.path().join("out/demo/copy.json").exists());
}

#[test]
fn a_line_of_the_settings_is_not_quoted() {
    let session = session();
    session.write("skills/demo/config.json", r#"{"token": "hunter2", "retries": 9}"#);
    assert_snapshot!(session.run(&["skill", "validate", "skills/demo"]), @"
    exit 1
    --- stdout
    error[config-invalid]: `retries`: 9 is greater than the maximum of 3
      --> skills/demo/config.json:1:33
       = hint: correct the value; `artel skill config NAME set KEY=VALUE` checks before it saves

    error   demo@0.0.0  loads in: skills-ref, claude, codex, lenient
    --- stderr
    1 skill checked by spec: 1 error, 0 warnings
    ");
}

#[test]
fn settings_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let session = session();
    session.run(&["skill", "config", "demo", "set", "token=abcd"]);
    session.run(&["skill", "disable", "navigate"]);
    for path in ["skills/demo/config.json", ".artel/skills.json"] {
        let mode = session.path().join(path).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{path}");
    }
}

#[test]
fn settings_behind_a_link_out_of_the_skill_are_not_read() {
    let session = session();
    session.write("secret.json", r#"{"style": "hunter2"}"#);
    session.link("../../secret.json", "skills/demo/config.json");
    assert_snapshot!(session.run(&["skill", "config", "demo"]), @"
    exit 3
    --- stderr
    error: cannot read the settings: cannot read `skills/demo/config.json`: it leads out of the skill's folder
    ");
    assert_snapshot!(session.run(&["skill", "config", "demo", "set", "style=formal"]), @"
    exit 3
    --- stderr
    error: cannot read the settings: cannot read `skills/demo/config.json`: it leads out of the skill's folder
    ");
    assert!(!session.run(&["skill", "show", "demo", "--json"]).contains("hunter2"));
    assert_eq!(session.read("secret.json"), r#"{"style": "hunter2"}"#);
}
