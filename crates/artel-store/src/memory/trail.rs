//! The trails of skills, in memory.

use std::collections::BTreeMap;

use artel_model::catalog::TrailEntry;
use artel_model::time::Timestamp;
use async_trait::async_trait;
use uuid::Uuid;

use super::listing::page_of;
use super::store::MemoryStore;
use crate::error::StoreError;
use crate::page::{Page, PageRequest};
use crate::trail::{TrailFilter, TrailStore};

/// Entries by id.
pub(super) type TrailTable = BTreeMap<Uuid, TrailEntry>;

#[async_trait]
impl TrailStore for MemoryStore {
    async fn add_trail(&self, entries: &[TrailEntry]) -> Result<(), StoreError> {
        let mut tables = self.tables();
        let before = tables.trail.len();
        for entry in entries {
            tables.trail.entry(entry.id).or_insert_with(|| entry.clone());
        }
        tables.version += u64::from(tables.trail.len() > before);
        Ok(())
    }

    async fn trail(&self, filter: &TrailFilter, page: &PageRequest) -> Result<Page<TrailEntry>, StoreError> {
        let tables = self.tables();
        let entries = tables.trail.values().filter(|entry| filter.fits(entry));
        page_of(entries.cloned(), page, |entry| (entry.at, entry.id))
    }

    async fn prune_trail(&self, before: Timestamp, entries_max: u64) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let count = tables.trail.len();
        tables.trail.retain(|_, entry| entry.user.is_none() || entry.at >= before);
        let about_people = tables.trail.values().filter(|entry| entry.user.is_some());
        let mut places: Vec<(Timestamp, Uuid)> = about_people.map(|entry| (entry.at, entry.id)).collect();
        places.sort_unstable();
        let surplus = places.len().saturating_sub(usize::try_from(entries_max).unwrap_or(usize::MAX));
        for (_, id) in places.into_iter().take(surplus) {
            tables.trail.remove(&id);
        }
        let removed = count - tables.trail.len();
        tables.version += u64::from(removed > 0);
        Ok(removed as u64)
    }
}
