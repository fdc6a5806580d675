//! The search indexes of views.
//!
//! Every view has an index of exactly the skills that are in it, so that nobody's private skill has a part in anybody
//! else's ranks, scores, counts or times. That costs memory, so views that hold the same skills share one index: all
//! people without skills of their own do. An index is known by what was put into it and outlives the snapshot it was made
//! for: a change that a view does not hold leaves its index in place. What was not searched for the longest is forgotten
//! and built again when it is needed.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use artel_model::limit::{CATALOG_INDEX_BYTES_MAX, CATALOG_INDEXES_MAX};

use super::digest::Hash;
use super::recent::Recent;
use crate::search::SearchIndex;

/// The search indexes of all views, shared by one snapshot and those that follow it.
#[derive(Debug, Default)]
pub struct Indexes(Mutex<Recent<Hash, Arc<OnceLock<SearchIndex>>>>);

impl Indexes {
    /// Makes a place for indexes; it is empty.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Asks the index that is known by `key`. It is built when it is not there; whoever asks meanwhile waits for it.
    pub(super) fn ask<R>(
        &self,
        key: &Hash,
        build: impl FnOnce() -> SearchIndex,
        question: impl FnOnce(&SearchIndex) -> R,
    ) -> R {
        let slot = self.slot(key);
        let mut is_built = false;
        let index = slot.get_or_init(|| {
            is_built = true;
            build()
        });
        if is_built {
            self.shrink();
        }
        question(index)
    }

    fn slot(&self, key: &Hash) -> Arc<OnceLock<SearchIndex>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).unwrap_or_else(|| {
            let slot = Arc::new(OnceLock::new());
            kept.insert(*key, Arc::clone(&slot));
            slot
        })
    }

    fn shrink(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = |kept: &Recent<Hash, Arc<OnceLock<SearchIndex>>>| -> usize {
            kept.values().filter_map(|slot| slot.get()).map(SearchIndex::heap_bytes).sum()
        };
        while kept.len() > CATALOG_INDEXES_MAX || bytes(&kept) > CATALOG_INDEX_BYTES_MAX {
            if !kept.forget_one() {
                break;
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
