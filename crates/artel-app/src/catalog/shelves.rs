//! The skills of everybody as the engine needs them: a shelf for what each viewer sees.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use artel_catalog::Catalog;
use artel_catalog::shared::Entry;
use artel_engine::{Shelves, SkillShelf};
use artel_model::access::Viewer;
use artel_model::catalog::Visibility;
use artel_model::data_scope::SkillOrigin;
use artel_model::name::SkillName;
use artel_model::skill::SkillPin;
use artel_store::SkillHealth;
use camino::Utf8PathBuf;

use super::service::{Catalogs, nobody};

/// How many shelves are kept: those of views that were used last, also of earlier snapshots, whose plans may still run.
const SHELVES_MAX: usize = 64;

/// The shelves of a server.
pub struct CatalogShelves {
    catalogs: Catalogs,
    /// Whose eyes the local owner sees with.
    local: Viewer,
    /// By the tag of what is on them, the last used first.
    kept: Mutex<VecDeque<(String, Arc<SkillShelf>)>>,
}

impl CatalogShelves {
    /// Makes shelves of what a catalog serves. `local` is whose eyes the local owner sees with, where there is one; otherwise
    /// what has no viewer sees only what every caller sees.
    pub fn new(catalogs: Catalogs, local: Option<Viewer>) -> Self {
        Self { catalogs, local: local.unwrap_or_else(nobody), kept: Mutex::default() }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, VecDeque<(String, Arc<SkillShelf>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self, tag: &str, make: impl FnOnce() -> SkillShelf) -> Arc<SkillShelf> {
        let taken = {
            let mut kept = self.kept();
            let place = kept.iter().position(|(known, _)| known == tag);
            place.and_then(|place| kept.remove(place)).inspect(|found| kept.push_front(found.clone()))
        };
        if let Some((_, shelf)) = taken {
            return shelf;
        }
        let shelf = Arc::new(make());
        let mut kept = self.kept();
        kept.push_front((tag.to_owned(), Arc::clone(&shelf)));
        kept.truncate(SHELVES_MAX);
        shelf
    }

    fn shelf_of<'e>(
        &self,
        catalog: Catalog,
        health: Vec<SkillHealth>,
        entries: impl Iterator<Item = &'e Entry>,
    ) -> SkillShelf {
        let config = &self.catalogs.parts().config;
        let (data, shared_data): (Utf8PathBuf, _) = (config.data.clone(), config.shared_data.clone());
        // Who calls a server is in no folder of it, and need not know which there are.
        let origins: BTreeMap<SkillName, SkillOrigin> =
            entries.map(|entry| (entry.name.clone(), origin(entry))).collect();
        SkillShelf::without_paths(catalog, health, data).with_origins(origins).with_shared_data(shared_data)
    }
}

/// Returns which skill of which source an entry is.
fn origin(entry: &Entry) -> SkillOrigin {
    let teams = match &entry.visibility {
        Visibility::Team { team_ids } => team_ids.clone(),
        Visibility::Global | Visibility::Personal { .. } => BTreeSet::new(),
    };
    SkillOrigin { id: entry.id.to_string(), teams }
}

impl Shelves for CatalogShelves {
    fn shelf(&self, viewer: Option<&Viewer>) -> Arc<SkillShelf> {
        // An error or nothing served gives no skills, never all.
        match self.catalogs.view(viewer.unwrap_or(&self.local)) {
            Some(view) => {
                // How well skills do is a part of what is decided with them. Where all do well, viewers share shelves.
                let health = self.catalogs.health(viewer);
                let tag = format!("{} {health:?}", view.etag());
                self.found(&tag, || self.shelf_of(view.catalog(), health, view.entries()))
            }
            None => self
                .found("", || self.shelf_of(Catalog::of(Vec::new(), Vec::new()), Vec::new(), [].into_iter())),
        }
    }

    fn holding(&self, skill: &SkillPin, content_hash: &str) -> Option<Arc<SkillShelf>> {
        let shelves: Vec<Arc<SkillShelf>> = self.kept().iter().map(|(_, shelf)| Arc::clone(shelf)).collect();
        let kept = shelves.into_iter().find(|shelf| shelf.holds(skill, content_hash));
        // After a restart nobody has looked yet; the run was allowed to whoever started it.
        kept.or_else(|| {
            let snapshot = self.catalogs.snapshot()?;
            let entry = snapshot.entries().iter().find(|entry| entry.content_hash == content_hash)?;
            let catalog = Catalog::of(vec![Arc::clone(&entry.loaded)], Vec::new());
            let shelf = self.found(content_hash, || self.shelf_of(catalog, Vec::new(), [entry].into_iter()));
            shelf.holds(skill, content_hash).then_some(shelf)
        })
    }
}
