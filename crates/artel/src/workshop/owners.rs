//! Who is alive of those that began runs and agents.

use std::sync::Arc;

use artel_agents::IsAlive;
use artel_engine::{is_alive, was_here};
use artel_store::OwnerId;

use super::shelf::absolute;
use crate::config::{Config, StoreChoice};
use crate::failure::Failure;

/// Returns what says whether somebody alive drives what an owner began.
///
/// A database that several machines share may hold runs of owners who never were here; nobody here can say that they are
/// dead.
pub(super) fn owners(config: &Config) -> Result<IsAlive, Failure> {
    let data = absolute(&config.data.value)?;
    // Whether others may use the same store with a data folder of their own.
    let is_shared = match &config.store.value {
        StoreChoice::File(path) => absolute(path)?.parent() != Some(data.as_path()),
        StoreChoice::Postgres(_) => true,
    };
    Ok(Arc::new(move |owner: &OwnerId| is_alive(&data, owner) || (is_shared && !was_here(&data, owner))))
}
