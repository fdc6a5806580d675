//! The catalog that everybody shares: skills of all sources, what scanners said of them, and what each person sees.
//!
//! Everything here is immutable and decided from arguments. Knows nothing of stores, requests, repositories or clocks.

mod audience;
pub mod custom;
mod digest;
mod draft;
mod entry;
mod entry_id;
mod indexes;
mod judge;
mod list;
mod recent;
mod sealed;
mod snapshot;
mod source_state;
mod view;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use draft::{SavedSkill, SnapshotDraft};
pub use entry::{Entry, EntryFile};
pub use entry_id::{EntryId, EntryIdError};
pub use indexes::Indexes;
pub use judge::{EngineState, Judge, ScanState};
pub use list::{ListQuery, Listing, ListingItem, NO_MATCHES, Page, PageError, UnknownWho, Who};
pub use sealed::{Sealed, seal, seal_all, seal_tree};
pub(crate) use sealed::{manifest_file, manifest_hash};
pub use snapshot::Snapshot;
pub use source_state::{Freshness, SourceState};
pub use view::{Seen, View};
