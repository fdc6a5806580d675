//! What tells a client what it may do: files, arguments, variables. Knows nothing of any client.

use artel_model::name::SkillName;
use serde_json::{Value, json};

use super::rules::EffectiveRules;

/// What tells a client what it may do.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Permissions {
    /// Files to write.
    pub(super) files: Vec<PermissionFile>,
    /// Arguments on its command line.
    pub(super) arguments: Vec<String>,
}

/// A file that tells a client what it may do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct PermissionFile {
    /// Below which folder it lies.
    pub(super) below: Below,
    /// Its path there.
    pub(super) path: &'static str,
    /// What it says.
    pub(super) content: String,
}

/// The folders of a piece of work.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Below {
    /// Where the program works.
    Work,
    /// What is only for the client itself.
    Private,
}

/// Makes what tells a client what it may do, of the rules and the skills that it gets.
pub(super) type MakePermissions = fn(&EffectiveRules, &[SkillName]) -> Permissions;

/// For programs that artel does not know: the rules themselves, for those that care.
pub(super) fn of_any(rules: &EffectiveRules, _: &[SkillName]) -> Permissions {
    let document = json!({"allowed": rules.allowed, "forbidden": rules.forbidden});
    let file = PermissionFile { below: Below::Work, path: ".artel/policy.json", content: pretty(&document) };
    Permissions { files: vec![file], arguments: Vec::new() }
}

/// Writes a document for people and machines.
pub(super) fn pretty(document: &Value) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("a document of texts can be written");
    text.push('\n');
    text
}
