//! Workspaces in SQLite. All of the crate's SQL is here; rules about what to write are not.

mod database;
mod metrics;
mod schema;
mod view;
mod workspaces;
mod write;

pub use database::Store;
use database::failed;
pub(crate) use metrics::CallRecord;
pub use metrics::MethodMetrics;
pub use view::{Stored, VersionKey, VersionRef, View, WorkspaceKey, WorkspaceRow};
pub use workspaces::{HistoryRow, MergeRow};
pub use write::{Change, Commit, Content, Put, Receipt};
