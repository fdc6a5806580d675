//! The folder of a saved skill: `SKILL.md`, written from its fields, and its other files.

use artel_model::catalog::{CustomFile, CustomSkill};
use artel_model::name::SkillName;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use super::metadata::{Written, frontmatter};
use crate::frontmatter_writer::{FieldValue, write_frontmatter};
use crate::source::MemoryTree;

/// What the folder is made of.
pub(super) struct Fields<'a> {
    pub(super) name: &'a SkillName,
    pub(super) title: Option<&'a str>,
    pub(super) description: &'a str,
    pub(super) content: &'a str,
    pub(super) metadata: &'a Map<String, Value>,
    pub(super) files: &'a [CustomFile],
}

/// Returns the files of a saved skill. The same fields give the same bytes.
pub fn custom_tree(skill: &CustomSkill) -> MemoryTree {
    Fields {
        name: &skill.name,
        title: skill.title.as_deref(),
        description: &skill.description,
        content: &skill.content,
        metadata: &skill.metadata,
        files: &skill.files,
    }
    .tree()
}

/// Returns the folder below `root` for exactly this content of a saved skill. It ends with the skill's name, as folders
/// of skills do.
pub fn custom_folder(root: &Utf8Path, skill: &CustomSkill) -> Utf8PathBuf {
    let hash = skill.content_hash.rsplit(':').next().unwrap_or_default();
    root.join(skill.id.to_string()).join(hash).join(skill.name.as_str())
}

impl Fields<'_> {
    pub(super) fn tree(&self) -> MemoryTree {
        let mut tree = MemoryTree::default();
        tree.add("SKILL.md", self.skill_md(), false);
        for file in self.files {
            tree.add(file.path.as_str(), file.content.as_slice(), file.is_executable);
        }
        tree
    }

    fn skill_md(&self) -> String {
        let further = frontmatter(self.metadata);
        let mut lines: Vec<(&str, FieldValue<'_>)> =
            vec![("name", self.name.as_str().into()), ("description", self.description.into())];
        let value = |value| match value {
            &Written::Flag(flag) => FieldValue::Flag(flag),
            Written::Text(text) => FieldValue::Text(text),
        };
        let (own, others): (Vec<_>, Vec<_>) = further.iter().partition(|(key, _)| !key.contains('.'));
        lines.extend(own.iter().map(|(key, written)| (key.as_str(), value(written))));
        lines.extend(self.title.map(|title| ("metadata.title", title.into())));
        lines.extend(others.iter().map(|(key, written)| (key.as_str(), value(written))));
        let end = if self.content.ends_with('\n') { "" } else { "\n" };
        format!("{}\n{}{end}", write_frontmatter(&lines), self.content)
    }
}
