//! Writes a lock file's text: the same for the same skills, one thing a line, so that a change reads well in a review.

use std::collections::BTreeMap;

use artel_model::data_scope::DataScope;
use artel_model::skill::SkillPin;
use serde::Serialize;

use super::locked::{LockFile, LockScope, LockedFile, LockedSkill};
use super::permission::Permission;

/// The form of the file.
pub(super) const VERSION: i64 = 1;

/// What stands behind the hash of a file that may be executed.
pub(super) const EXECUTABLE: &str = " executable";

const HEAD: &str = "# Which skills this project uses, and what they may do. Made by `artel skill lock`; do not edit.\n\
                    # `artel skill verify` compares the skills with it, `artel skill update` accepts what changed.\n";

#[derive(Serialize)]
struct Document<'a> {
    version: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<&'a str>>,
    skill: Vec<SkillTable<'a>>,
}

#[derive(Serialize)]
struct SkillTable<'a> {
    name: &'a str,
    version: String,
    source: &'static str,
    location: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<&'a str>,
    content_hash: String,
    permissions: PermissionsTable<'a>,
    files: BTreeMap<&'a str, String>,
}

#[derive(Default, Serialize)]
struct PermissionsTable<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    network: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_scope: Option<DataScope>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writes: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reads: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variables: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed_tools: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    forbidden_tools: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uses: Vec<&'a str>,
    called_by: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scripts: Vec<ScriptTable<'a>>,
}

#[derive(Serialize)]
struct ScriptTable<'a> {
    name: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    interpreter: Option<&'a str>,
}

impl LockFile {
    /// Returns the text of the lock file.
    pub fn to_text(&self) -> String {
        let names = match &self.scope {
            LockScope::All => None,
            LockScope::Named(names) => Some(names.iter().map(artel_model::name::SkillName::as_str).collect()),
        };
        let skill = self.skills.iter().map(|(pin, skill)| skill_table(pin, skill)).collect();
        let document = Document { version: VERSION, names, skill };
        let text = toml::to_string_pretty(&document).expect("texts, numbers and tables are TOML");
        format!("{HEAD}{text}")
    }
}

fn skill_table<'a>(pin: &'a SkillPin, skill: &'a LockedSkill) -> SkillTable<'a> {
    let file = |(path, file): (&'a String, &LockedFile)| {
        let mark = if file.is_executable { EXECUTABLE } else { "" };
        (path.as_str(), format!("{}{mark}", file.hash))
    };
    SkillTable {
        name: pin.name.as_str(),
        version: pin.version.to_string(),
        source: skill.origin.source.as_str(),
        location: &skill.origin.location,
        revision: skill.origin.revision.as_deref(),
        content_hash: skill.content_hash().to_string(),
        permissions: permissions_table(skill),
        files: skill.files.iter().map(file).collect(),
    }
}

fn permissions_table(skill: &LockedSkill) -> PermissionsTable<'_> {
    let mut table = PermissionsTable::default();
    for permission in &skill.permissions {
        match permission {
            Permission::Network => table.network = true,
            Permission::SharesData(scope) => table.data_scope = Some(*scope),
            Permission::Writes(path) => table.writes.push(path),
            Permission::Reads(path) => table.reads.push(path),
            Permission::Sees(name) => table.variables.push(name),
            Permission::Allows(tool) => table.allowed_tools.push(tool),
            Permission::Forbids(tool) => table.forbidden_tools.push(tool),
            Permission::Uses(name) => table.uses.push(name),
            Permission::CalledByModel => table.called_by.push("model"),
            Permission::CalledByUser => table.called_by.push("user"),
            Permission::Runs { name, path, interpreter } => table.scripts.push(ScriptTable {
                name,
                path: path.as_str(),
                interpreter: interpreter.as_deref(),
            }),
        }
    }
    table
}
