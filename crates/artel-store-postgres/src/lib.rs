//! artel's store on PostgreSQL: the same promises as the embedded one, for many nodes on one database.
//!
//! Knows tables, rows and statements. Every write is one statement, so that it is atomic, costs one round trip and
//! can be repeated when the connection is lost in the middle of it. Nothing here knows what runs or
//! agents are for.
//!
//! A write is answered before it is on the server's disk; [`sync`](artel_store::RunStore::sync) waits for that. See
//! docs/design/0006-two-promises.md.

mod address;
mod agent;
mod audit;
mod clock;
mod custom;
mod dead;
mod era;
mod error;
mod execution;
mod health;
mod hub;
mod id;
mod key;
mod mail;
mod metrics;
mod migrate;
mod options;
mod person;
mod post;
mod row;
mod run;
mod scan;
mod shared_sync;
mod statement;
mod store;
mod topic;
mod trail;
mod version;
mod wait;

pub use metrics::METRICS;
pub use migrate::SCHEMA_VERSION;
pub use options::{PostgresOptions, SchemaName, SchemaNameError};
pub use store::PostgresStore;
