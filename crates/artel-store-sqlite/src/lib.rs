//! artel's default store: one SQLite file, one connection that writes in batches on the thread of whoever comes first, one
//! thread that makes writes survive a power cut, and a few connections that read.
//!
//! Knows SQL and files; decides nothing about runs.

mod agent;
mod audit;
mod backup;
mod change;
mod check;
mod check_catalog;
mod checkpoint;
mod clock;
mod connection;
mod custom;
mod dead;
mod effort;
mod failure;
mod hub;
mod job;
mod key;
mod listing;
mod mail;
mod metrics;
mod migrate;
mod options;
mod pen;
mod person;
mod post;
mod queue;
mod reader;
mod row;
mod scan;
mod stats;
mod store;
mod sync;
mod topic;
mod trail;
mod version;
mod wait;
mod writer;

pub use backup::BackupError;
pub use check::CheckReport;
pub use metrics::METRICS;
pub use migrate::{MIGRATIONS, Migration};
pub use options::SqliteOptions;
pub use store::SqliteStore;
pub use version::sqlite_version;
