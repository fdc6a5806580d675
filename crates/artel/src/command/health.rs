//! How well skills have been doing, for lists. Looks only where something was run before.

use std::collections::BTreeMap;

use artel_catalog::{FileTree, Listing, Loaded, content_hash};
use artel_model::health::Health;
use artel_model::name::SkillName;
use artel_store::SkillHealth;

use super::context::Context;
use crate::desk;
use crate::failure::Failure;

/// What is known about skills that were run.
pub(super) struct KnownHealth(BTreeMap<SkillName, SkillHealth>);

impl KnownHealth {
    /// Asks for it, where something was run before.
    pub(super) fn read(context: Context<'_>) -> Result<Self, Failure> {
        let known = desk::health(context)?.into_iter();
        Ok(Self(known.map(|health| (health.skill.clone(), health)).collect()))
    }

    /// Returns the health of a skill; what its files were before does not count.
    pub(super) fn of(&self, entry: &Loaded) -> Health {
        let known = entry.skill.as_ref().and_then(|skill| self.0.get(&skill.name));
        match known {
            Some(known) if hash(entry).as_ref() == Some(&known.content_hash) => known.health,
            Some(_) | None => Health::NEW,
        }
    }
}

/// Returns the hash of a skill's files.
pub(super) fn hash(entry: &Loaded) -> Option<String> {
    let tree: Box<dyn FileTree> = entry.location.tree()?;
    if let Some(offer) = &entry.offer {
        return Some(offer.content_hash.to_string());
    }
    let listing = Listing { files: entry.files.clone(), ..Listing::default() };
    content_hash(tree.as_ref(), &listing).ok().map(|hash| hash.to_string())
}
