//! The application: everything that callers can do, apart from how they ask. HTTP, MCP, the chat and the command line call
//! the same operations on one [`App`], each with the principal who calls.
//!
//! Knows nothing of HTTP or MCP, holds no SQL and starts no processes.

mod app;
mod assistant;
mod audit;
mod catalog;
mod clock;
mod convert;
mod credential_watch;
mod error;
mod idempotency;
mod keys;
mod metrics;
pub mod operations;
mod poller;
mod precondition;
mod probe;
mod quota_turns;
mod stream;
mod trail;

pub use app::{App, AppParts, ArtifactDirs, NamedPlanners, RunSettings, Stores};
pub use assistant::{Assistant, ChatTools, ToolAnswer, ToolOutcome};
pub use audit::audit;
pub use catalog::{
    AudienceError, AudienceRule, CatalogConfig, CatalogParts, CatalogShelves, Catalogs, FileChange,
    FolderWatch, FolderWatching, HubAudience, HubError, Hubs, ImportFailed, LoadDefault, NewHub,
    RefreshFailed, RepositoryImport, Reread, Rescanned, SaveError, Saved, SupervisorStatus, SyncStatus,
};
pub use clock::moment;
pub use convert::{SourceDetail, seen_entry, skill_entry, skill_file, source_name, unavailable_sources};
pub use credential_watch::until_refused;
pub use error::OperationError;
pub use idempotency::IdempotencyKey;
pub use keys::{Busy, KeyRing, KeyText, Lane, Owners, Turn, Unproved, fresh_admin_token, random_bytes};
pub use metrics::METRICS;
pub use poller::Poller;
pub use precondition::{IfMatch, saved_tag};
pub use probe::{NotReady, Probe, Readiness, readiness};
pub use stream::{Next, Source, StreamEvent};
pub use trail::{Trail, TrailQuestion, read_trail};
