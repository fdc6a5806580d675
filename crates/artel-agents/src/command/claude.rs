//! Permissions for Claude Code: `.claude/settings.json`, and the list of its tools on the command line.
//!
//! It runs in the mode that refuses whatever is not allowed; what it would do unasked is forbidden by name.

use artel_model::name::SkillName;
use artel_model::tool::ToolPattern;
use serde_json::json;

use super::granted::{Extent, Part};
use super::permissions::{Below, PermissionFile, Permissions, pretty};
use super::rules::EffectiveRules;

/// The tools of Claude Code, without `Skill`, which follows from the skills that the agent has.
const TOOLS: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillShell",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
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
    "Write",
];

/// Commands that Claude Code runs without being allowed to, because they only read.
const UNASKED: &[&str] = &[
    "awk",
    "basename",
    "cat",
    "cd",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "env",
    "fd",
    "file",
    "find",
    "git blame",
    "git branch",
    "git cat-file",
    "git config",
    "git describe",
    "git diff",
    "git grep",
    "git log",
    "git ls-files",
    "git ls-remote",
    "git reflog",
    "git remote",
    "git rev-list",
    "git rev-parse",
    "git shortlog",
    "git show",
    "git stash",
    "git status",
    "git tag",
    "git worktree",
    "grep",
    "head",
    "hostname",
    "id",
    "jq",
    "ls",
    "man",
    "nl",
    "paste",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "sed",
    "seq",
    "sleep",
    "sort",
    "stat",
    "tac",
    "tail",
    "test",
    "tr",
    "tree",
    "type",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
];

/// Arguments that would lift the permissions, refused in command lines of one's own.
pub(super) const LIFTING: &[&str] = &[
    "--add-dir",
    "--agents",
    "--allow-dangerously-skip-permissions",
    "--allowed-tools",
    "--allowedTools",
    "--dangerously-skip-permissions",
    "--mcp-config",
    "--permission-mode",
    "--permission-prompt-tool",
    "--plugin-dir",
    "--setting-sources",
    "--settings",
    "--tools",
];

#[derive(Default)]
struct Lists {
    allow: Vec<String>,
    deny: Vec<String>,
    tools: Vec<&'static str>,
}

/// Makes the permissions of Claude Code.
pub(super) fn permissions(rules: &EffectiveRules, skills: &[SkillName]) -> Permissions {
    let mut lists = Lists::default();
    for tool in TOOLS {
        match *tool {
            "Bash" => lists.add_bash(rules),
            "WebFetch" => lists.add_web_fetch(rules),
            _ if rules.wholly(&[tool]) => lists.allow(tool),
            _ => lists.deny.push((*tool).to_owned()),
        }
    }
    lists.add_skills(rules, skills);
    // What the agent may do is not the agent's to write, whatever it writes with: for paths, Claude Code looks at rules of
    // `Edit` only, and takes them for every tool that writes files.
    lists.deny.push("Edit(.claude/**)".to_owned());
    let document = json!({
        "disableAllHooks": true,
        "disableSkillShellExecution": true,
        "permissions": {
            "allow": lists.allow,
            "defaultMode": "dontAsk",
            "deny": lists.deny,
            "disableBypassPermissionsMode": "disable",
        },
    });
    let file =
        PermissionFile { below: Below::Work, path: ".claude/settings.json", content: pretty(&document) };
    Permissions { files: vec![file], arguments: vec!["--tools".to_owned(), lists.tools.join(",")] }
}

impl Lists {
    fn allow(&mut self, tool: &'static str) {
        self.allow.push(tool.to_owned());
        self.tools.push(tool);
    }

    fn add_bash(&mut self, rules: &EffectiveRules) {
        let refused = match rules.refused(&["Bash"]) {
            Extent::Nothing => Some(Vec::new()),
            Extent::All => None,
            Extent::Parts(parts) => parts.iter().map(bash_rule).collect(),
        };
        let granted = match rules.granted(&["Bash"]) {
            Extent::Nothing => Vec::new(),
            Extent::All => vec!["Bash".to_owned()],
            Extent::Parts(parts) => parts.iter().filter_map(bash_rule).collect(),
        };
        let (Some(refused), false) = (refused, granted.is_empty()) else {
            return self.deny.push("Bash".to_owned());
        };
        self.tools.push("Bash");
        self.deny.extend(refused);
        if rules.granted(&["Bash"]) != Extent::All {
            self.deny.extend(bare_commands(rules));
            self.deny.extend(
                UNASKED.iter().map(|words| format!("Bash({words}:*)")).filter(|text| !covers(rules, text)),
            );
        }
        self.allow.extend(granted);
    }

    /// Of addresses, Claude Code only knows their domain.
    fn add_web_fetch(&mut self, rules: &EffectiveRules) {
        let domain = |part: &Part| match part {
            Part::Exact(text) if text.strip_prefix("domain:").is_some_and(is_host) => {
                Some(format!("WebFetch({text})"))
            }
            Part::Exact(_) | Part::Prefix(_) | Part::Glob(_) => None,
        };
        let refused = match rules.refused(&["WebFetch"]) {
            Extent::Nothing => Some(Vec::new()),
            Extent::All => None,
            Extent::Parts(parts) => parts.iter().map(domain).collect(),
        };
        let granted = match rules.granted(&["WebFetch"]) {
            Extent::Nothing => Vec::new(),
            Extent::All => vec!["WebFetch".to_owned()],
            Extent::Parts(parts) => parts.iter().filter_map(domain).collect(),
        };
        match refused {
            Some(refused) if !granted.is_empty() => {
                self.tools.push("WebFetch");
                self.allow.extend(granted);
                self.deny.extend(refused);
            }
            Some(_) | None => self.deny.push("WebFetch".to_owned()),
        }
    }

    /// The agent may read the skills that it has, unless that is forbidden.
    fn add_skills(&mut self, rules: &EffectiveRules, skills: &[SkillName]) {
        if skills.is_empty() || rules.refused(&["Skill"]) != Extent::Nothing {
            return self.deny.push("Skill".to_owned());
        }
        self.tools.push("Skill");
        self.allow.extend(skills.iter().map(|skill| format!("Skill({skill})")));
    }
}

/// Writes what a command may be as Claude Code does; nothing when it would read something else.
fn bash_rule(part: &Part) -> Option<String> {
    let is_plain = |text: &str| {
        !text.contains(['(', ')', '\\']) && !text.contains(":*") && !text.contains(char::is_control)
    };
    match part {
        Part::Prefix(words) if is_plain(words) => Some(format!("Bash({words}:*)")),
        Part::Exact(words) | Part::Glob(words) if is_plain(words) => Some(format!("Bash({words})")),
        Part::Prefix(_) | Part::Exact(_) | Part::Glob(_) => None,
    }
}

/// For Claude Code, `npm run *` is `npm run` too; it is forbidden where the policy does not allow it.
fn bare_commands(rules: &EffectiveRules) -> Vec<String> {
    let Extent::Parts(parts) = rules.granted(&["Bash"]) else { return Vec::new() };
    let bare = parts.iter().filter_map(|part| match part {
        Part::Glob(glob) => glob.strip_suffix(" *").filter(|head| !head.contains('*')),
        Part::Prefix(_) | Part::Exact(_) => None,
    });
    let texts = bare.map(|head| format!("Bash({head})"));
    texts
        .filter(|text| {
            !text.parse().is_ok_and(|call| rules.allowed.iter().any(|pattern| pattern.allows(&call)))
        })
        .collect()
}

fn covers(rules: &EffectiveRules, text: &str) -> bool {
    text.parse::<ToolPattern>()
        .is_ok_and(|wanted| rules.allowed.iter().any(|pattern| pattern.covers(&wanted)))
}

fn is_host(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn made(allowed: &[&str], forbidden: &[&str], skills: &[&str]) -> (Vec<String>, Vec<String>, String) {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let rules = EffectiveRules { allowed: parse(allowed), forbidden: parse(forbidden) };
        let skills: Vec<SkillName> = skills.iter().map(|name| name.parse().unwrap()).collect();
        let made = permissions(&rules, &skills);
        let document: Value = serde_json::from_str(&made.files[0].content).unwrap();
        let list = |name: &str| -> Vec<String> {
            let list = document["permissions"][name].as_array().unwrap();
            list.iter().map(|rule| rule.as_str().unwrap().to_owned()).collect()
        };
        (list("allow"), list("deny"), made.arguments[1].clone())
    }

    #[test]
    fn what_is_not_allowed_is_forbidden_by_name() {
        let (allow, deny, tools) = made(&["Read", "Edit"], &["edit"], &["notes"]);
        assert_eq!(
            (allow, tools),
            (vec!["Read".to_owned(), "Skill(notes)".to_owned()], "Read,Skill".to_owned())
        );
        for tool in TOOLS.iter().filter(|tool| **tool != "Read") {
            assert!(deny.contains(&(*tool).to_owned()), "{tool}");
        }
    }

    #[test]
    fn nothing_allowed_means_no_tools_at_all() {
        let (allow, deny, tools) = made(&[], &[], &[]);
        assert_eq!((allow, tools.as_str()), (Vec::new(), ""));
        assert_eq!(deny.len(), TOOLS.len() + 2);
    }

    #[test]
    fn commands_are_allowed_as_far_as_they_can_be_written() {
        let (allow, deny, tools) =
            made(&["Bash(git:*)", "Bash(npm run *)", "Bash(a (b))"], &["Bash(git push:*)"], &[]);
        assert_eq!(
            (allow, tools.as_str()),
            (vec!["Bash(git:*)".to_owned(), "Bash(npm run *)".to_owned()], "Bash")
        );
        for rule in ["Bash(git push:*)", "Bash(npm run)", "Bash(cat:*)"] {
            assert!(deny.contains(&rule.to_owned()), "{rule}");
        }
        assert!(!deny.contains(&"Bash(git log:*)".to_owned()));
        // What is forbidden and cannot be written forbids all.
        let (allow, deny, _) = made(&["Bash"], &["Bash(echo (x))"], &[]);
        assert!(allow.is_empty() && deny.contains(&"Bash".to_owned()));
    }

    #[test]
    fn a_tool_that_is_forbidden_in_part_is_forbidden() {
        let (allow, deny, _) = made(&["Read", "Write"], &["Read(secret*)"], &[]);
        assert_eq!(allow, ["Write"]);
        assert!(deny.contains(&"Read".to_owned()));
        let (allow, deny, _) = made(&["WebFetch"], &["WebFetch(domain:example.com)"], &[]);
        assert_eq!(allow, ["WebFetch"]);
        assert!(deny.contains(&"WebFetch(domain:example.com)".to_owned()));
        assert_eq!(made(&["WebFetch(https://a.b/*)"], &[], &[]).0, Vec::<String>::new());
    }

    #[test]
    fn no_tool_may_write_what_the_agent_may_do() {
        for tool in ["Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "Bash(tee:*)"] {
            let (allow, deny, _) = made(&[tool], &[], &[]);
            assert_eq!(allow, [tool]);
            assert!(deny.contains(&"Edit(.claude/**)".to_owned()), "{tool}");
        }
    }

    #[test]
    fn everything_is_every_tool_that_is_known() {
        let (allow, deny, tools) = made(&["*"], &[], &["notes"]);
        assert_eq!(allow.len(), TOOLS.len() + 1);
        assert_eq!(deny, ["Edit(.claude/**)"]);
        assert_eq!(tools.split(',').count(), TOOLS.len() + 1);
    }
}
