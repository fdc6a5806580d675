//! Permissions for opencode: the `permission` map of `opencode.json`. Of several rules that match, the last one counts, so
//! their order matters and the file is written in order: nothing, what is allowed, what is forbidden.

use artel_model::name::SkillName;

use super::granted::{Extent, Part};
use super::permissions::{Below, PermissionFile, Permissions};
use super::rules::EffectiveRules;

/// A permission of opencode, and the tools that a policy must wholly allow for it, each by any of its names.
const KEYS: &[(&str, &[&[&str]])] = &[
    ("codesearch", &[&["CodeSearch", "codesearch"]]),
    ("edit", &[&["Edit", "edit"], &["Write", "write"]]),
    ("glob", &[&["Glob", "glob"]]),
    ("grep", &[&["Grep", "grep"]]),
    ("list", &[&["LS", "List", "list"]]),
    ("lsp", &[&["LSP", "lsp"]]),
    ("read", &[&["Read", "read"]]),
    ("task", &[&["Task", "Agent", "task"]]),
    ("todoread", &[&["TodoRead", "todoread"]]),
    ("todowrite", &[&["TodoWrite", "todowrite"]]),
    ("webfetch", &[&["WebFetch", "webfetch"]]),
    ("websearch", &[&["WebSearch", "websearch"]]),
];

const BASH: &[&str] = &["Bash", "bash"];
const SKILL: &[&str] = &["Skill", "skill"];
const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// Arguments that would lift the permissions, refused in command lines of one's own.
pub(super) const LIFTING: &[&str] = &[
    "--agent",
    "--attach",
    "--auto",
    "--command",
    "--continue",
    "--dangerously-skip-permissions",
    "--session",
    "-c",
    "-s",
];

/// What one key of the map says.
enum Rule {
    Always(&'static str),
    ByInput(Vec<(String, &'static str)>),
}

/// Makes the permissions of opencode.
pub(super) fn permissions(rules: &EffectiveRules, skills: &[SkillName]) -> Permissions {
    let mut map = vec![("*", Rule::Always(DENY)), ("bash", bash(rules))];
    for (key, needed) in KEYS {
        if needed.iter().all(|names| rules.wholly(names)) {
            map.push((key, Rule::Always(ALLOW)));
        }
    }
    map.push(("skill", skill(rules, skills)));
    // Nobody is there to be asked, and the folder is all that the agent was given.
    map.extend(["doom_loop", "external_directory", "question"].map(|key| (key, Rule::Always(DENY))));
    let file = PermissionFile { below: Below::Work, path: "opencode.json", content: written(&map) };
    Permissions { files: vec![file], arguments: Vec::new() }
}

fn bash(rules: &EffectiveRules) -> Rule {
    let refused = match rules.refused(BASH) {
        Extent::Nothing => Some(Vec::new()),
        Extent::All => None,
        Extent::Parts(parts) => parts.iter().map(inputs).collect(),
    };
    let Some(refused) = refused else { return Rule::Always(DENY) };
    let mut list = vec![("*".to_owned(), DENY)];
    match rules.granted(BASH) {
        Extent::Nothing => return Rule::Always(DENY),
        Extent::All if refused.is_empty() => return Rule::Always(ALLOW),
        Extent::All => list = vec![("*".to_owned(), ALLOW)],
        Extent::Parts(parts) => {
            for part in &parts {
                list.extend(inputs(part).into_iter().flatten().map(|input| (input, ALLOW)));
            }
            let bare = parts.iter().filter_map(bare_command);
            list.extend(bare.filter(|head| !allows(rules, head)).map(|head| (head, DENY)));
        }
    }
    list.extend(refused.into_iter().flatten().map(|input| (input, DENY)));
    Rule::ByInput(last_of_each(list))
}

fn skill(rules: &EffectiveRules, skills: &[SkillName]) -> Rule {
    if skills.is_empty() || rules.refused(SKILL) != Extent::Nothing {
        return Rule::Always(DENY);
    }
    let own = skills.iter().map(|skill| (skill.to_string(), ALLOW));
    Rule::ByInput([("*".to_owned(), DENY)].into_iter().chain(own).collect())
}

/// Writes what a command may be as opencode does; nothing when it would read something else.
fn inputs(part: &Part) -> Option<Vec<String>> {
    // `?` is any character, `{env:...}` and `{file:...}` are replaced, `~` and `$HOME` are the home folder, and a number
    // would not stay in its place among the keys.
    let is_plain = |text: &str| {
        !text.contains(['?', '{', '}', '\\'])
            && !text.starts_with(['~', '$'])
            && !text.chars().all(|c| c.is_ascii_digit())
    };
    match part {
        Part::Prefix(words) if is_plain(words) => Some(vec![words.clone(), format!("{words} *")]),
        Part::Exact(words) | Part::Glob(words) if is_plain(words) => Some(vec![words.clone()]),
        Part::Prefix(_) | Part::Exact(_) | Part::Glob(_) => None,
    }
}

/// For opencode, `npm run *` is `npm run` too.
fn bare_command(part: &Part) -> Option<String> {
    match part {
        Part::Glob(glob) if inputs(part).is_some() => glob.strip_suffix(" *").map(str::to_owned),
        Part::Glob(_) | Part::Prefix(_) | Part::Exact(_) => None,
    }
}

fn allows(rules: &EffectiveRules, command: &str) -> bool {
    let call = format!("Bash({command})").parse();
    call.is_ok_and(|call| rules.allowed.iter().any(|pattern| pattern.allows(&call)))
}

/// A key stands once, where it counts.
fn last_of_each(list: Vec<(String, &'static str)>) -> Vec<(String, &'static str)> {
    let mut kept: Vec<(String, &'static str)> = Vec::new();
    for (key, action) in list {
        kept.retain(|(known, _)| *known != key);
        kept.push((key, action));
    }
    kept
}

fn written(map: &[(&str, Rule)]) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let entries = map.iter().map(|(key, rule)| {
        let value = match rule {
            Rule::Always(action) => text(action),
            Rule::ByInput(list) => {
                let lines: Vec<String> = list
                    .iter()
                    .map(|(input, action)| format!("      {}: {}", text(input), text(action)))
                    .collect();
                format!("{{\n{}\n    }}", lines.join(",\n"))
            }
        };
        format!("    {}: {value}", text(key))
    });
    let entries: Vec<String> = entries.collect();
    let head = "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"autoupdate\": false,\n  \"share\": \"disabled\",\n";
    format!("{head}  \"permission\": {{\n{}\n  }}\n}}\n", entries.join(",\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(allowed: &[&str], forbidden: &[&str], key: &str, expected: Value) {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let rules = EffectiveRules { allowed: parse(allowed), forbidden: parse(forbidden) };
        let skills = ["notes".parse().unwrap()];
        let document: Value = serde_json::from_str(&permissions(&rules, &skills).files[0].content).unwrap();
        let map = &document["permission"];
        assert_eq!(map["*"], "deny");
        assert_eq!(map[key], expected);
    }

    #[test]
    fn keys_are_allowed_when_all_that_they_cover_is() {
        check(&["Read"], &[], "read", json!("allow"));
        check(&["read"], &[], "read", json!("allow"));
        check(&["Read"], &["Read(.env)"], "read", Value::Null);
        check(&["Edit"], &[], "edit", Value::Null);
        check(&["Edit", "write"], &[], "edit", json!("allow"));
        check(&["*"], &["write", "edit"], "edit", Value::Null);
        check(&[], &[], "skill", json!({"*": "deny", "notes": "allow"}));
        check(&[], &["skill"], "skill", json!("deny"));
    }

    #[test]
    fn commands_are_allowed_as_far_as_they_can_be_written() {
        check(&["Bash"], &[], "bash", json!("allow"));
        check(&[], &[], "bash", json!("deny"));
        let npm = json!({"*": "deny", "npm run *": "allow", "npm run": "deny"});
        check(&["Bash(npm run *)", "Bash(ls {env:KEY})", "Bash(7)"], &[], "bash", npm);
        check(&["Bash"], &["Bash(rm ?)"], "bash", json!("deny"));
    }

    #[test]
    fn what_is_forbidden_comes_last() {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let rules =
            EffectiveRules { allowed: parse(&["Bash(git:*)"]), forbidden: parse(&["Bash(git push:*)"]) };
        let content = permissions(&rules, &[]).files[0].content.clone();
        let place = |text: &str| content.find(text).unwrap();
        assert!(place("\"*\": \"deny\"") < place("\"git *\": \"allow\""));
        assert!(place("\"git *\": \"allow\"") < place("\"git push\": \"deny\""));
        assert!(place("\"git push\": \"deny\"") < place("\"git push *\": \"deny\""));
    }
}
