//! artel's store on PostgreSQL: the same promises as the embedded one, for many nodes on one database.
//!
//! Knows tables, rows and statements. Every operation is one statement, so that it is atomic, costs one round trip and
//! can be repeated when the connection is lost in the middle of it. Nothing here knows what runs are for.

mod error;
mod execution;
mod health;
mod id;
mod migrate;
mod options;
mod row;
mod run;
mod statement;
mod store;

pub use options::{PostgresOptions, SchemaName, SchemaNameError};
pub use store::PostgresStore;
