//! Permissions for Codex: it has no list of tools, but a sandbox and switches for what it can do at all.

use artel_model::name::SkillName;

use super::permissions::Permissions;
use super::rules::EffectiveRules;

/// What is always off: what no policy of artel can name.
const OFF: &[&str] =
    &["apps", "browser_use", "code_mode", "computer_use", "hooks", "memories", "multi_agent", "plugins"];

/// Arguments that would lift the permissions, refused in command lines of one's own.
pub(super) const LIFTING: &[&str] = &[
    "--add-dir",
    "--approve-for-me",
    "--ask-for-approval",
    "--config",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-bypass-hook-trust",
    "--enable",
    "--full-auto",
    "--profile",
    "--sandbox",
    "--search",
    "--yolo",
    "-a",
    "-c",
    "-p",
    "-s",
];

/// Makes the permissions of Codex.
pub(super) fn permissions(rules: &EffectiveRules, _: &[SkillName]) -> Permissions {
    let may = |tool: &str| rules.wholly(&[tool]);
    let may_write = may("Edit") && may("Write");
    // A version that does not know a switch would leave on what the switch turns off; like this it does not start.
    let mut arguments = vec!["--strict-config".to_owned(), "--sandbox".to_owned()];
    arguments.push(if may_write { "workspace-write" } else { "read-only" }.to_owned());
    let mut set = |what: String| arguments.extend(["-c".to_owned(), what]);
    set("approval_policy=\"never\"".to_owned());
    set("mcp_servers={}".to_owned());
    set(format!("web_search=\"{}\"", if may("WebSearch") { "live" } else { "disabled" }));
    set(format!("sandbox_workspace_write.network_access={}", may_write && may("Bash") && may("WebFetch")));
    set(format!("features.shell_tool={}", may("Bash")));
    if !may("Bash") {
        set("features.unified_exec=false".to_owned());
    }
    for feature in OFF {
        set(format!("features.{feature}=false"));
    }
    Permissions { files: Vec::new(), arguments }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(allowed: &[&str], forbidden: &[&str], expected: &[&str]) {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let rules = EffectiveRules { allowed: parse(allowed), forbidden: parse(forbidden) };
        let made = permissions(&rules, &[]);
        let told: Vec<&str> =
            made.arguments.iter().map(String::as_str).filter(|word| *word != "-c").collect();
        assert_eq!(told[..3], ["--strict-config", "--sandbox", expected[0]]);
        for word in &expected[1..] {
            assert!(told.contains(word), "{word}: {told:?}");
        }
    }

    #[test]
    fn the_sandbox_is_as_narrow_as_the_policy() {
        let no_shell = "features.shell_tool=false";
        check(&[], &[], &["read-only", no_shell, "features.unified_exec=false", "web_search=\"disabled\""]);
        check(&["Read", "Bash(git:*)"], &[], &["read-only", no_shell]);
        check(&["Bash"], &[], &["read-only", "features.shell_tool=true"]);
        check(
            &["Bash", "Edit", "Write"],
            &[],
            &["workspace-write", "sandbox_workspace_write.network_access=false"],
        );
        check(&["*"], &["write"], &["read-only", "sandbox_workspace_write.network_access=false"]);
        check(
            &["*"],
            &[],
            &["workspace-write", "sandbox_workspace_write.network_access=true", "web_search=\"live\""],
        );
        check(&["*"], &["Bash(rm:*)"], &["workspace-write", no_shell]);
    }
}
