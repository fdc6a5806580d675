//! The trails of skills.

use artel_model::access::UserId;
use artel_model::catalog::{TrailEntry, TrailKind};
use artel_model::time::Timestamp;
use async_trait::async_trait;

use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// Which entries a list holds.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TrailFilter {
    /// Of the skill with this id in the catalog.
    pub skill_id: String,
    /// About what happened; everything when absent.
    pub kind: Option<TrailKind>,
    /// About this user, or about nobody; about everybody when absent.
    pub about: Option<UserId>,
    /// Who reads: what is private to somebody else is left out. Nothing for somebody who has the data folder in hand.
    pub reader: Option<UserId>,
}

impl TrailFilter {
    /// Says whether an entry is one of the list.
    pub fn fits(&self, entry: &TrailEntry) -> bool {
        let is_about = |about: &UserId| entry.user.as_ref().is_none_or(|user| user == about);
        let may_read = |reader: &UserId| entry.private_to.as_ref().is_none_or(|owner| owner == reader);
        self.skill_id == entry.skill_id
            && self.kind.is_none_or(|kind| kind == entry.event.kind())
            && self.about.as_ref().is_none_or(is_about)
            && self.reader.as_ref().is_none_or(may_read)
    }
}

/// The trails of skills. They help to understand and are not needed to work: what was kept last may be lost in a power cut.
#[async_trait]
pub trait TrailStore: Send + Sync {
    /// Keeps entries. One whose id is there already is the same, and stays as it was kept first.
    async fn add_trail(&self, entries: &[TrailEntry]) -> Result<(), StoreError>;

    /// Returns entries: the last first, and of those at the same time the greatest id first.
    async fn trail(&self, filter: &TrailFilter, page: &PageRequest) -> Result<Page<TrailEntry>, StoreError>;

    /// Removes entries about people: those from before that moment, and then the oldest until at most so many are left.
    /// Returns how many were removed. What is about files alone stays, because it is not known a second time.
    async fn prune_trail(&self, before: Timestamp, entries_max: u64) -> Result<u64, StoreError>;
}
