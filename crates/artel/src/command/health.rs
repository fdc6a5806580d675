//! How well skills have been doing, for lists. Looks only where something was run before.

use std::collections::BTreeMap;

use artel_catalog::{FileTree, Listing, Loaded, content_hash};
use artel_model::health::Health;
use artel_model::name::SkillName;

use super::context::Context;
use crate::backend;
use crate::failure::Failure;

/// What is known about skills that were run.
pub(super) struct KnownHealth(BTreeMap<(SkillName, String), Health>);

impl KnownHealth {
    /// Asks for it, where something was run before.
    pub(super) fn read(context: Context<'_>) -> Result<Self, Failure> {
        let known = backend::health(context)?.into_iter();
        Ok(Self(known.map(|seen| ((seen.skill, seen.content_hash), seen.health)).collect()))
    }

    /// Returns the health of a skill; what its files were before does not count.
    pub(super) fn of(&self, entry: &Loaded) -> Health {
        if self.0.is_empty() {
            return Health::NEW;
        }
        let files = entry.skill.as_ref().map(|skill| skill.name.clone()).zip(hash(entry));
        files.and_then(|files| self.0.get(&files)).copied().unwrap_or(Health::NEW)
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
