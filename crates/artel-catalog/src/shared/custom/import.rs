//! A whole skill out of a folder or an archive, as a draft that its author can look at before it is saved.

use artel_model::catalog::CustomFile;
use artel_model::skill::Skill;
use camino::Utf8PathBuf;
use serde_json::{Map, Value};

use super::draft::CustomDraft;
use crate::load::{Keep, Location, load_tree};
use crate::source::{FileTree, MemoryTree};

/// A skill that was taken from elsewhere.
#[derive(Clone, Debug)]
pub struct ImportedSkill {
    /// Its fields and files; who sees it is for the author to say.
    pub draft: CustomDraft,
    /// What it says that was not taken over.
    pub warnings: Vec<String>,
}

/// Why a skill cannot be taken over.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// There is no `SKILL.md`.
    #[error("there is no `SKILL.md`")]
    NoSkill,
    /// It is not that of a skill.
    #[error("`SKILL.md` cannot be read: {0}")]
    Unreadable(String),
}

/// Fields that are read from elsewhere than the metadata they may stand in, too.
const OWN: [&str; 4] = ["display_name", "title", "name", "description"];

/// Takes a skill over: its `SKILL.md` becomes fields, the other files stay as they are.
pub fn import_skill(skill_md: &[u8], files: Vec<CustomFile>) -> Result<ImportedSkill, ImportError> {
    let mut tree = MemoryTree::default();
    tree.add("SKILL.md", skill_md, false);
    let loaded = load_tree(&tree, tree.listing(), Location::Folder(Utf8PathBuf::new()), Keep::Instructions);
    let Some(skill) = loaded.skill.as_ref().filter(|_| loaded.is_usable()) else {
        let why = loaded.findings.first().map_or("it says nothing", |finding| finding.message.as_str());
        return Err(ImportError::Unreadable(why.to_owned()));
    };
    let mut warnings = Vec::new();
    let metadata = metadata(skill, &mut warnings);
    let draft = CustomDraft {
        name: skill.name.to_string(),
        title: skill.about.display_name.clone(),
        description: skill.description.clone(),
        content: loaded.instructions.as_deref().unwrap_or_default().to_owned(),
        metadata,
        files,
        ..CustomDraft::default()
    };
    Ok(ImportedSkill { draft, warnings })
}

fn metadata(skill: &Skill, warnings: &mut Vec<String>) -> Map<String, Value> {
    let mut metadata = Map::new();
    let mut members: Vec<(&String, &Value)> = skill.about.metadata.iter().collect();
    members.sort_by_key(|(key, _)| *key);
    for (key, value) in members.into_iter().filter(|(key, _)| !OWN.contains(&key.as_str())) {
        let is_kept = match value {
            Value::String(_) | Value::Number(_) | Value::Bool(_) => true,
            Value::Array(_) => key == "tags",
            Value::Null | Value::Object(_) => false,
        };
        if is_kept {
            metadata.insert(key.clone(), value.clone());
        } else {
            warnings.push(format!("`{}` is not a plain value and was left out", crate::text::visible(key)));
        }
    }
    let about = &skill.about;
    for (key, text) in [("license", &about.license), ("compatibility", &about.compatibility)] {
        if let Some(text) = text {
            metadata.insert(key.to_owned(), Value::from(text.as_str()));
        }
    }
    let tools: Vec<String> = skill.rules.allowed_tools.iter().map(ToString::to_string).collect();
    if !tools.is_empty() {
        metadata.insert("allowed-tools".to_owned(), Value::from(tools));
    }
    for (key, flag, usual) in [
        ("disable-model-invocation", !skill.invocation.by_model, false),
        ("user-invocable", skill.invocation.by_user, true),
    ] {
        metadata.remove(key);
        if flag != usual {
            metadata.insert(key.to_owned(), Value::from(flag));
        }
    }
    metadata
}

impl ImportedSkill {
    /// Takes over the skill whose files are in `tree`.
    pub fn of(tree: &dyn FileTree) -> Result<Self, ImportError> {
        let mut skill_md = None;
        let mut files = Vec::new();
        for file in tree.listing().files {
            let read = tree.read(&file.path, file.size.max(1));
            let content = read.map_err(|why| ImportError::Unreadable(why.to_string()))?;
            if file.path == "SKILL.md" {
                skill_md = Some(content);
            } else {
                let path = file.path.into_string();
                files.push(CustomFile { path, content, is_executable: file.is_executable });
            }
        }
        import_skill(&skill_md.ok_or(ImportError::NoSkill)?, files)
    }
}
