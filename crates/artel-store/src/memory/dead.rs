//! Dead letters in memory.

use std::collections::BTreeMap;

use artel_model::id::AgentId;
use artel_model::message::{DeadLetter, DeadReason};
use uuid::Uuid;

use super::listing::page_of;
use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// Dead letters, and how many there ever were.
#[derive(Debug, Default)]
pub(super) struct Cemetery {
    letters: BTreeMap<u64, DeadLetter>,
    counts: BTreeMap<DeadReason, u64>,
    buried: u64,
}

impl Cemetery {
    /// Keeps a dead letter.
    pub(super) fn bury(&mut self, letter: DeadLetter) {
        self.buried += 1;
        *self.counts.entry(letter.reason).or_default() += 1;
        self.letters.insert(self.buried, letter);
    }

    /// Removes all but the latest.
    pub(super) fn keep_latest(&mut self, max: usize) {
        let mut places: Vec<_> = self.letters.iter().map(|(number, letter)| (letter.at, *number)).collect();
        places.sort_unstable();
        for (_, number) in places.iter().rev().skip(max) {
            self.letters.remove(number);
        }
    }

    /// Returns one page of them.
    pub(super) fn page(
        &self,
        recipient: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError> {
        let fits = |letter: &DeadLetter| recipient.is_none() || letter.recipient_id == recipient;
        let letters = self.letters.iter().filter(|(_, letter)| fits(letter));
        let found =
            page_of(letters, page, |(number, letter)| (letter.at, Uuid::from_u128((**number).into())))?;
        let items = found.items.into_iter().map(|(_, letter)| letter.clone()).collect();
        Ok(Page { items, next: found.next })
    }

    /// Counts all there ever were.
    pub(super) fn counts(&self) -> Vec<(DeadReason, u64)> {
        DeadReason::ALL.iter().filter_map(|reason| Some((*reason, *self.counts.get(reason)?))).collect()
    }
}
