//! The skills there are and how well they have been doing, before anything is started.

use std::sync::Arc;

use artel_catalog::{Catalog, Keep};
use artel_engine::{Clock, SkillShelf};
use artel_model::data_scope::OwnerKey;
use artel_store::{SkillHealth, seen_health};
use camino::{Utf8Path, Utf8PathBuf};

use super::store::Store;
use crate::command::Context;
use crate::failure::Failure;

/// Skills to choose from, and the store when there is one.
pub(crate) struct Shelf {
    pub(crate) skills: Arc<SkillShelf>,
    pub(super) store: Option<Store>,
}

impl Shelf {
    /// Loads the skills, and looks up their health.
    pub(crate) async fn open(context: Context<'_>, keep: Keep) -> Result<Self, Failure> {
        let store = Store::open_existing(context.config).await?;
        let health = match &store {
            Some(store) => local_health(store).await?,
            None => Vec::new(),
        };
        let catalog: Catalog = context.catalog(keep)?;
        // Paths in plans are those of the folder one is in.
        let base = Utf8PathBuf::from(".");
        let skills = SkillShelf::new(catalog, health, base, absolute(&context.config.data.value)?);
        let skills = skills.with_shared_data(context.config.grants.value.shared_data.clone());
        Ok(Self { skills: Arc::new(skills), store })
    }

    /// Returns the catalog.
    pub(crate) fn catalog(&self) -> &Catalog {
        self.skills.catalog()
    }
}

/// A shelf without skills: for who sees them elsewhere.
pub(super) fn empty_shelf(data: &Utf8Path) -> SkillShelf {
    SkillShelf::new(Catalog::of(Vec::new(), Vec::new()), Vec::new(), Utf8PathBuf::from("."), data.to_owned())
}

/// A folder that need not be there, whatever the folder one is in.
pub(super) fn absolute(folder: &Utf8PathBuf) -> Result<Utf8PathBuf, Failure> {
    camino::absolute_utf8(folder)
        .map_err(|error| Failure::missing(format!("cannot find `{folder}`: {error}")))
}

/// Returns the health of skills as the local owner sees it; what is not there is healthy.
pub(crate) async fn local_health(store: &Store) -> Result<Vec<SkillHealth>, Failure> {
    let counts = store.health.health_counts().await.map_err(|error| Failure::unavailable(&error))?;
    Ok(seen_health(&counts, &OwnerKey::of(None), Clock::system().now()))
}
