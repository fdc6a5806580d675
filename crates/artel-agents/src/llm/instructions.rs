//! The texts of an agent's skills, read where the catalog did not keep them.

use std::sync::Arc;

use artel_catalog::{Keep, Loaded, load_tree};
use artel_engine::SkillShelf;
use artel_model::name::SkillName;

/// A skill as a model reads it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct SkillText {
    pub(super) name: SkillName,
    pub(super) description: String,
    pub(super) instructions: String,
}

/// Returns the texts of skills, in their order; one that is gone has none.
pub(super) async fn skill_texts(shelf: Arc<SkillShelf>, names: Vec<SkillName>) -> Vec<SkillText> {
    let read = move || names.iter().filter_map(|name| skill_text(&shelf, name)).collect();
    tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| {
        tracing::error!(%error, "the instructions of skills were not read");
        Vec::new()
    })
}

fn skill_text(shelf: &SkillShelf, name: &SkillName) -> Option<SkillText> {
    let entry = shelf.catalog().find(name, None).ok()?;
    let skill = entry.skill.as_deref()?;
    Some(SkillText {
        name: skill.name.clone(),
        description: skill.description.clone(),
        instructions: instructions(entry).trim().to_owned(),
    })
}

fn instructions(entry: &Loaded) -> Arc<str> {
    if let Some(kept) = &entry.instructions {
        return kept.clone();
    }
    let tree = entry.location.tree();
    let read = tree.and_then(|tree| {
        load_tree(&*tree, tree.listing(), entry.location.clone(), Keep::Instructions).instructions
    });
    read.unwrap_or_default()
}
