//! Permissions for goose: `permission.yaml` in its folder of settings, by tool; it knows nothing of arguments.
//!
//! It runs in the mode that asks before anything that is not allowed, and nobody answers.

use artel_model::name::SkillName;
use serde_json::json;

use super::granted::Extent;
use super::permissions::{Below, PermissionFile, Permissions, pretty};
use super::rules::EffectiveRules;

/// A tool of goose, in every spelling, and what a policy must allow for it.
struct Tool {
    spellings: &'static [&'static str],
    needs: Needs,
}

enum Needs {
    /// All of these tools, wholly.
    Tools(&'static [&'static str]),
    /// That the agent has skills.
    Skills,
    /// Nothing is enough.
    Never,
}

const TOOLS: &[Tool] = &[
    Tool {
        spellings: &["developer__analyze", "analyze__analyze", "analyze"],
        needs: Needs::Tools(&["Read", "Glob", "Grep"]),
    },
    Tool { spellings: &["developer__edit", "edit"], needs: Needs::Tools(&["Read", "Edit"]) },
    Tool {
        spellings: &["developer__image_processor", "developer__read_image", "read_image"],
        needs: Needs::Tools(&["Read"]),
    },
    Tool { spellings: &["developer__list_windows", "developer__screen_capture"], needs: Needs::Never },
    Tool { spellings: &["developer__shell", "shell"], needs: Needs::Tools(&["Bash"]) },
    Tool {
        spellings: &["developer__text_editor", "text_editor"],
        needs: Needs::Tools(&["Read", "Edit", "Write"]),
    },
    Tool { spellings: &["developer__tree", "tree"], needs: Needs::Tools(&["Glob"]) },
    Tool { spellings: &["developer__write", "write"], needs: Needs::Tools(&["Write"]) },
    Tool {
        spellings: &["skills__loadSkill", "skills__load_skill", "summon__load", "load", "load_skill"],
        needs: Needs::Skills,
    },
    Tool {
        spellings: &["subagent__delegate", "summon__delegate", "delegate"],
        needs: Needs::Tools(&["Task"]),
    },
    Tool { spellings: &["todo__todo_write", "todo_write"], needs: Needs::Tools(&["TodoWrite"]) },
    Tool {
        spellings: &[
            "extensionmanager__manage_extensions",
            "extensionmanager__search_available_extensions",
            "platform__manage_extensions",
            "platform__manage_schedule",
        ],
        needs: Needs::Never,
    },
];

/// Arguments that would lift the permissions, refused in command lines of one's own.
pub(super) const LIFTING: &[&str] = &[
    "--recipe",
    "--with-builtin",
    "--with-extension",
    "--with-remote-extension",
    "--with-streamable-http-extension",
];

/// Makes the permissions of goose.
pub(super) fn permissions(rules: &EffectiveRules, skills: &[SkillName]) -> Permissions {
    let (mut allow, mut never): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for tool in TOOLS {
        let is_allowed = match tool.needs {
            Needs::Tools(needed) => needed.iter().all(|name| rules.wholly(&[name])),
            Needs::Skills => !skills.is_empty() && rules.refused(&["Skill"]) == Extent::Nothing,
            Needs::Never => false,
        };
        let list = if is_allowed { &mut allow } else { &mut never };
        list.extend(tool.spellings);
    }
    let document = json!({"user": {"always_allow": allow, "ask_before": [], "never_allow": never}});
    // Every JSON document is a YAML document.
    let content = pretty(&document);
    let file = PermissionFile { below: Below::Private, path: "goose/config/permission.yaml", content };
    Permissions { files: vec![file], arguments: Vec::new() }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn tools_are_allowed_when_all_that_they_can_do_is() {
        let check = |allowed: &[&str], forbidden: &[&str], skills: &[&str], tool: &str| {
            let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
            let rules = EffectiveRules { allowed: parse(allowed), forbidden: parse(forbidden) };
            let skills: Vec<SkillName> = skills.iter().map(|name| name.parse().unwrap()).collect();
            let document: Value =
                serde_json::from_str(&permissions(&rules, &skills).files[0].content).unwrap();
            let has = |list: &str| document["user"][list].as_array().unwrap().contains(&tool.into());
            assert_ne!(has("always_allow"), has("never_allow"), "{tool}");
            has("always_allow")
        };
        assert!(check(&["Bash"], &[], &[], "developer__shell"));
        assert!(!check(&["Bash(git:*)"], &[], &[], "developer__shell"));
        assert!(!check(&["Bash"], &["Bash(rm:*)"], &[], "developer__shell"));
        assert!(!check(&["Read", "Edit"], &[], &[], "developer__text_editor"));
        assert!(check(&["Read", "Edit", "Write"], &[], &[], "developer__text_editor"));
        assert!(!check(&["*"], &["write"], &[], "developer__text_editor"));
        assert!(!check(&["*"], &[], &[], "platform__manage_extensions"));
        assert!(check(&[], &[], &["notes"], "summon__load"));
        assert!(!check(&["*"], &[], &[], "summon__load"));
    }
}
