//! artel's default store: one SQLite file, one thread that writes in batches, one that makes writes survive a power cut,
//! and a few connections that read.
//!
//! Knows SQL and files; decides nothing about runs.

mod backup;
mod change;
mod check;
mod checkpoint;
mod connection;
mod failure;
mod listing;
mod migrate;
mod options;
mod reader;
mod row;
mod stats;
mod store;
mod sync;
mod writer;

pub use backup::BackupError;
pub use check::CheckReport;
pub use migrate::{MIGRATIONS, Migration};
pub use options::SqliteOptions;
pub use store::SqliteStore;
