//! Agents that are programs of others: what each is given, and which are refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_agents::SpawnFailed;
use serde_json::{Value, json};

use crate::command_stage::Stage;
use crate::workplace::{TestSkill, done};

fn skills() -> [(&'static str, Value, String); 4] {
    let reader =
        json!({"allowed_tools": ["Read", "Grep", "Bash(git:*)"], "forbidden_tools": ["Bash(git push:*)"]});
    let writer = json!({"allowed_tools": ["Read", "Edit", "Write"], "description": "Writes things down."});
    [
        ("reader", reader, done("{}")),
        ("writer", writer, String::new()),
        ("careful", json!({"allowed_tools": ["*"], "forbidden_tools": ["write", "Web*"]}), String::new()),
        ("other", json!({"allowed_tools": ["*"]}), String::new()),
    ]
}

async fn stage() -> Stage {
    let skills = skills();
    let skills: Vec<_> =
        skills.iter().map(|(name, manifest, script)| TestSkill(name, manifest.clone(), script)).collect();
    Stage::new(&skills).await
}

fn words(list: &Value) -> String {
    let words: Vec<String> =
        list.as_array().unwrap().iter().map(|word| format!("[{}]", word.as_str().unwrap())).collect();
    words.join(" ")
}

fn lines(object: &Value) -> String {
    let lines: Vec<String> = object
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap()))
        .collect();
    lines.join("\n")
}

fn names(object: &Value) -> Vec<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

#[tokio::test]
async fn a_client_gets_exactly_its_skills_and_what_it_may_do() {
    let stage = stage().await;
    let seen = stage
        .look(
            json!({"client": "claude", "task": "look around", "skills": ["reader", "writer"], "model": "m1"}),
        )
        .await;
    insta::assert_snapshot!(names(&seen["files"]).join("\n"), @"
    .claude/settings.json
    .claude/skills/.artel-export.json
    .claude/skills/reader/SKILL.md
    .claude/skills/reader/scripts/run
    .claude/skills/reader/skill.json
    .claude/skills/writer/SKILL.md
    .claude/skills/writer/skill.json
    ");
    assert_eq!((&seen["cwd"], &seen["stdin"]), (&json!("ROOT/work"), &json!("look around")));
    insta::assert_snapshot!(words(&seen["argv"]), @"[--print] [--output-format] [stream-json] [--verbose] [--permission-mode] [dontAsk] [--setting-sources] [project] [--strict-mcp-config] [--model=m1] [--tools] [Bash,Edit,Grep,Read,Write,Skill]");
    insta::assert_snapshot!(seen["files"][".claude/settings.json"].as_str().unwrap(), @r#"
    {
      "disableAllHooks": true,
      "disableSkillShellExecution": true,
      "permissions": {
        "allow": [
          "Bash(git:*)",
          "Edit",
          "Grep",
          "Read",
          "Write",
          "Skill(reader)",
          "Skill(writer)"
        ],
        "defaultMode": "dontAsk",
        "deny": [
          "Agent",
          "AskUserQuestion",
          "Bash(git push:*)",
          "Bash(awk:*)",
          "Bash(basename:*)",
          "Bash(cat:*)",
          "Bash(cd:*)",
          "Bash(column:*)",
          "Bash(comm:*)",
          "Bash(cut:*)",
          "Bash(date:*)",
          "Bash(df:*)",
          "Bash(diff:*)",
          "Bash(dirname:*)",
          "Bash(du:*)",
          "Bash(echo:*)",
          "Bash(env:*)",
          "Bash(fd:*)",
          "Bash(file:*)",
          "Bash(find:*)",
          "Bash(grep:*)",
          "Bash(head:*)",
          "Bash(hostname:*)",
          "Bash(id:*)",
          "Bash(jq:*)",
          "Bash(ls:*)",
          "Bash(man:*)",
          "Bash(nl:*)",
          "Bash(paste:*)",
          "Bash(printenv:*)",
          "Bash(printf:*)",
          "Bash(ps:*)",
          "Bash(pwd:*)",
          "Bash(readlink:*)",
          "Bash(realpath:*)",
          "Bash(rev:*)",
          "Bash(rg:*)",
          "Bash(sed:*)",
          "Bash(seq:*)",
          "Bash(sleep:*)",
          "Bash(sort:*)",
          "Bash(stat:*)",
          "Bash(tac:*)",
          "Bash(tail:*)",
          "Bash(test:*)",
          "Bash(tr:*)",
          "Bash(tree:*)",
          "Bash(type:*)",
          "Bash(uname:*)",
          "Bash(uniq:*)",
          "Bash(wc:*)",
          "Bash(which:*)",
          "Bash(whoami:*)",
          "BashOutput",
          "EnterPlanMode",
          "EnterWorktree",
          "ExitPlanMode",
          "Glob",
          "KillShell",
          "LSP",
          "ListMcpResourcesTool",
          "Monitor",
          "MultiEdit",
          "NotebookEdit",
          "NotebookRead",
          "PowerShell",
          "ReadMcpResourceTool",
          "SlashCommand",
          "Task",
          "TaskCreate",
          "TaskGet",
          "TaskList",
          "TaskOutput",
          "TaskStop",
          "TaskUpdate",
          "TodoRead",
          "TodoWrite",
          "ToolSearch",
          "WebFetch",
          "WebSearch",
          "Workflow",
          "Edit(.claude/**)"
        ],
        "disableBypassPermissionsMode": "disable"
      }
    }
    "#);
    insta::assert_snapshot!(seen["files"][".claude/skills/writer/SKILL.md"].as_str().unwrap(), @r#"
    ---
    name: writer
    description: Writes things down.
    metadata:
      version: "1.0.0"
    ---

    # writer

    Writes things down.

    ## Parameters

    ```json
    {
      "type": "object"
    }
    ```
    "#);
}

#[tokio::test]
async fn a_client_gets_the_variables_that_are_named_and_no_others() {
    let stage = stage().await;
    let seen = stage.look(json!({"client": "claude", "task": "look", "skills": []})).await;
    insta::assert_snapshot!(lines(&seen["environment"]), @"
    ANTHROPIC_API_KEY=key-a
    ARTEL_AGENT_ID=AGENT
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
    DISABLE_AUTOUPDATER=1
    HOME=ROOT/private/home
    HTTPS_PROXY=http://proxy
    LANG=C.UTF-8
    NAMED=by the operator
    PATH=BASE/bin
    TERM=dumb
    TMPDIR=ROOT/private/tmp
    ");
    let seen = stage.look(json!({"client": "codex", "task": "look", "skills": []})).await;
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"].map(|name| seen["environment"].get(name).is_some());
    assert_eq!(keys, [false, true]);
    assert_eq!(seen["private"], json!({}));
}

#[tokio::test]
async fn codex_gets_a_sandbox_as_narrow_as_the_policy() {
    let stage = stage().await;
    let seen = stage.look(json!({"client": "codex", "task": "look", "skills": ["careful"]})).await;
    insta::assert_snapshot!(words(&seen["argv"]), @r#"[exec] [--skip-git-repo-check] [--ephemeral] [--ignore-user-config] [--ignore-rules] [--color] [never] [--strict-config] [--sandbox] [read-only] [-c] [approval_policy="never"] [-c] [mcp_servers={}] [-c] [web_search="disabled"] [-c] [sandbox_workspace_write.network_access=false] [-c] [features.shell_tool=true] [-c] [features.apps=false] [-c] [features.browser_use=false] [-c] [features.code_mode=false] [-c] [features.computer_use=false] [-c] [features.hooks=false] [-c] [features.memories=false] [-c] [features.multi_agent=false] [-c] [features.plugins=false] [-]"#);
    assert_eq!(
        names(&seen["files"]),
        [
            ".agents/skills/.artel-export.json",
            ".agents/skills/careful/SKILL.md",
            ".agents/skills/careful/skill.json"
        ]
    );
}

#[tokio::test]
async fn goose_gets_a_permission_file_in_a_folder_of_its_own() {
    let stage = stage().await;
    let seen =
        stage.look(json!({"client": "goose", "task": "look", "skills": ["writer"], "model": "m2"})).await;
    insta::assert_snapshot!(words(&seen["argv"]), @"[run] [--no-session] [--quiet] [--model=m2] [--instructions] [-]");
    insta::assert_snapshot!(seen["private"]["goose/config/permission.yaml"].as_str().unwrap(), @r#"
    {
      "user": {
        "always_allow": [
          "developer__edit",
          "edit",
          "developer__image_processor",
          "developer__read_image",
          "read_image",
          "developer__text_editor",
          "text_editor",
          "developer__write",
          "write",
          "skills__loadSkill",
          "skills__load_skill",
          "summon__load",
          "load",
          "load_skill"
        ],
        "ask_before": [],
        "never_allow": [
          "developer__analyze",
          "analyze__analyze",
          "analyze",
          "developer__list_windows",
          "developer__screen_capture",
          "developer__shell",
          "shell",
          "developer__tree",
          "tree",
          "subagent__delegate",
          "summon__delegate",
          "delegate",
          "todo__todo_write",
          "todo_write",
          "extensionmanager__manage_extensions",
          "extensionmanager__search_available_extensions",
          "platform__manage_extensions",
          "platform__manage_schedule"
        ]
      }
    }
    "#);
    let environment = &seen["environment"];
    assert_eq!(environment["GOOSE_PATH_ROOT"], "ROOT/private/goose");
    assert_eq!(environment["GOOSE_MODE"], "approve");
}

#[tokio::test]
async fn opencode_gets_a_permission_map_in_order() {
    let stage = stage().await;
    let seen =
        stage.look(json!({"client": "opencode", "task": "look", "skills": ["reader", "careful"]})).await;
    insta::assert_snapshot!(words(&seen["argv"]), @"[run]");
    insta::assert_snapshot!(seen["files"]["opencode.json"].as_str().unwrap(), @r#"
    {
      "$schema": "https://opencode.ai/config.json",
      "autoupdate": false,
      "share": "disabled",
      "permission": {
        "*": "deny",
        "bash": {
          "*": "allow",
          "git push": "deny",
          "git push *": "deny"
        },
        "codesearch": "allow",
        "glob": "allow",
        "grep": "allow",
        "list": "allow",
        "lsp": "allow",
        "read": "allow",
        "task": "allow",
        "todoread": "allow",
        "todowrite": "allow",
        "skill": {
          "*": "deny",
          "reader": "allow",
          "careful": "allow"
        },
        "doom_loop": "deny",
        "external_directory": "deny",
        "question": "deny"
      }
    }
    "#);
    assert_eq!(seen["environment"]["XDG_CONFIG_HOME"], "ROOT/private/config");
}

#[tokio::test]
async fn a_child_gets_no_more_than_its_parent_whatever_its_skills_say() {
    let stage = stage().await;
    let parent = stage.place.spawn(json!({"skills": ["writer"]})).await.agent_id;
    let seen =
        stage.look(json!({"client": "claude", "task": "look", "skills": ["other"], "parent": parent})).await;
    let settings: Value =
        serde_json::from_str(seen["files"][".claude/settings.json"].as_str().unwrap()).unwrap();
    assert_eq!(settings["permissions"]["allow"], json!(["Edit", "Read", "Write", "Skill(other)"]));
    let file = seen["files"][".claude/skills/other/SKILL.md"].as_str().unwrap();
    assert!(!file.contains("allowed-tools"), "{file}");
}

#[tokio::test]
async fn a_command_line_of_its_own_is_filled_without_a_shell() {
    let stage = stage().await;
    let command =
        json!(["other", "--in={work}", "{skills}", "{{x}}", "$(id) *", "--model", "{model}", "--", "{task}"]);
    let request =
        json!({"command": command, "task": "look ; rm -rf \"$HOME\"", "skills": ["writer"], "model": "m"});
    let seen = stage.look(request).await;
    insta::assert_snapshot!(words(&seen["argv"]), @r#"[--in=ROOT/work] [ROOT/work/.agents/skills] [{x}] [$(id) *] [--model] [m] [--] [look ; rm -rf "$HOME"]"#);
    assert_eq!(seen["stdin"], "");
    insta::assert_snapshot!(seen["files"][".artel/policy.json"].as_str().unwrap(), @r#"
    {
      "allowed": [
        "Edit",
        "Read",
        "Write"
      ],
      "forbidden": []
    }
    "#);
    let seen = stage.look(json!({"command": ["other"], "task": "look", "skills": []})).await;
    assert_eq!((&seen["argv"], &seen["stdin"]), (&json!([]), &json!("look")));
}

#[tokio::test]
async fn a_client_with_another_command_line_keeps_its_permissions() {
    let stage = stage().await;
    let command = json!([stage.base.join("bin/other"), "exec", "--", "{task}"]);
    let seen = stage
        .look(json!({"client": "codex", "command": command, "task": "look", "skills": ["writer"]}))
        .await;
    let argv = words(&seen["argv"]);
    assert!(
        argv.starts_with(
            "[exec] [--strict-config] [--sandbox] [workspace-write] [-c] [approval_policy=\"never\"]"
        ),
        "{argv}"
    );
    assert!(argv.ends_with("[--] [look]"), "{argv}");
}

#[tokio::test]
async fn what_cannot_be_started_is_refused_before_there_is_an_agent() {
    let stage = stage().await;
    let refusal = async |more: Value| -> String {
        let mut request = json!({"task": "look"});
        request.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        match stage.place.try_spawn(request).await {
            Err(SpawnFailed::Refused(refused)) => {
                let told: Vec<String> = refused
                    .errors
                    .iter()
                    .map(|error| format!("{} {}", error.code.as_str(), error.message))
                    .collect();
                told.join("; ").replace(stage.base.as_str(), "BASE")
            }
            other => panic!("{other:?}"),
        }
    };
    let mut told = Vec::new();
    for more in [
        json!({"client": "cluade"}),
        json!({"command": ["missing", "{task}"]}),
        json!({"command": ["notes.txt"]}),
        json!({"command": ["/nowhere/at-all"]}),
        json!({"command": ["bin/other"]}),
        json!({"command": ["other", "{tusk}"]}),
        json!({"command": ["other", "--model", "{model}"]}),
        json!({"command": ["{task}"]}),
        json!({"command": ["other", "{task}"], "task": "--help"}),
        json!({"client": "codex", "command": ["codex", "exec", "--sandbox=danger-full-access"]}),
        json!({"client": "claude", "command": ["claude", "-p", "--dangerously-skip-permissions"]}),
        json!({"client": "claude", "command": ["claude", "--{model}"], "model": "settings=x"}),
        json!({"client": "codex", "command": ["codex", "exec", "--full-{task}"], "task": "auto"}),
    ] {
        told.push(refusal(more).await);
    }
    insta::assert_snapshot!(told.join("\n"), @"
    INVALID_REQUEST `client`: artel does not know `cluade`: it knows `claude`, `codex`, `goose`, `opencode`; or write its `command`
    DRIVER_UNAVAILABLE there is no program `missing` in BASE/bin: install it, or add its folder to PATH
    DRIVER_UNAVAILABLE there is no program `notes.txt` in BASE/bin: install it, or add its folder to PATH
    DRIVER_UNAVAILABLE `/nowhere/at-all` is no program that can be started: correct the path
    INVALID_REQUEST `bin/other`: write the whole path, or the name alone
    INVALID_REQUEST `command`: `{tusk}` stands for nothing: there are {task}, {model}, {work} and {skills}; write `{{tusk}}` for the text
    INVALID_REQUEST the command line names `{model}`: say which, in `model`
    INVALID_REQUEST `{task}` is no program: only its arguments can name `{task}` and others
    INVALID_REQUEST the task begins with a dash and could be taken for an option: put `--` before `{task}`
    INVALID_REQUEST `--sandbox=danger-full-access` could lift what `codex` may not do: leave it out
    INVALID_REQUEST `--dangerously-skip-permissions` could lift what `claude` may not do: leave it out
    INVALID_REQUEST `--settings=x` could lift what `claude` may not do: leave it out
    INVALID_REQUEST `--full-auto` could lift what `codex` may not do: leave it out
    ");
    assert!(!stage.base.join("agents").exists());
}
