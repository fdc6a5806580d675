//! The catalog that the server serves: sources are read and scanned, put into one snapshot, and swapped in at once.
//!
//! Readers never wait: they hold a snapshot. Whoever changes something waits for one rebuild at a time. Knows nothing of
//! requests.

mod agreement;
mod custom;
mod findings;
mod hub_audience;
mod hub_content;
mod hubs;
mod import;
mod rescan;
mod scans;
mod service;
mod shelves;
mod sources;
mod supervisor;
mod tidy;
mod watching;

pub use custom::{FileChange, SaveError, Saved};
pub use hub_audience::{AudienceError, AudienceRule, HubAudience};
pub use hubs::{HubError, Hubs, NewHub};
pub use import::{ImportFailed, RepositoryImport};
pub use rescan::Rescanned;
pub use service::{CatalogConfig, CatalogParts, Catalogs, LoadDefault, RefreshFailed, Reread};
pub use shelves::CatalogShelves;
pub use supervisor::{SupervisorStatus, SyncStatus};
pub use watching::{FolderWatch, FolderWatching};
