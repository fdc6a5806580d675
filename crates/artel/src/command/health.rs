//! How well skills have been doing, for lists. Looks only where something was run before.

use std::collections::BTreeMap;

use artel_catalog::{FileTree, Listing, Loaded, content_hash};
use artel_model::health::Health;
use artel_model::name::SkillName;
use artel_store::SkillHealth;

use super::context::Context;
use crate::failure::Failure;
use crate::workshop::{Store, wait_for};

/// What is known about skills that were run.
pub(super) struct KnownHealth(BTreeMap<SkillName, SkillHealth>);

impl KnownHealth {
    /// Reads it from the store, if there is one.
    pub(super) fn read(context: Context<'_>) -> Result<Self, Failure> {
        let known = wait_for(async {
            match Store::open_existing(context.config).await? {
                Some(store) => store.health.health().await.map_err(|error| Failure::unavailable(&error)),
                None => Ok(Vec::new()),
            }
        })?;
        Ok(Self(known.into_iter().map(|health| (health.skill.clone(), health)).collect()))
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

/// Forgets how badly a skill did.
pub(super) fn reset(context: Context<'_>, skill: &SkillName) -> Result<(), Failure> {
    wait_for(async {
        match Store::open_existing(context.config).await? {
            Some(store) => {
                store.health.reset_health(skill).await.map_err(|error| Failure::unavailable(&error))
            }
            None => Ok(()),
        }
    })
}

/// Returns the hash of a skill's files.
pub(super) fn hash(entry: &Loaded) -> Option<String> {
    let tree: Box<dyn FileTree> = entry.location.tree()?;
    let listing = Listing { files: entry.files.clone(), ..Listing::default() };
    content_hash(tree.as_ref(), &listing).ok().map(|hash| hash.to_string())
}
