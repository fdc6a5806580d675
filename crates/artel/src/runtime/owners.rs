//! Who is alive of those that began runs and agents.

use std::sync::Arc;

use artel_agents::IsAlive;
use artel_engine::{Owners, Tenancy};
use artel_store::OwnerId;

use super::shelf::absolute;
use crate::config::{Config, StoreChoice};
use crate::failure::Failure;

/// Returns what says whether a live process drives what an owner began.
pub(crate) fn owners(config: &Config) -> Result<IsAlive, Failure> {
    let data = absolute(&config.data.value)?;
    let owners = Owners::of(&data, tenancy(config)?).map_err(|error| Failure::unavailable(&error))?;
    Ok(Arc::new(move |owner: &OwnerId| owners.is_alive(owner)))
}

/// Says whether other data folders may use the same store.
pub(super) fn tenancy(config: &Config) -> Result<Tenancy, Failure> {
    let data = absolute(&config.data.value)?;
    let is_shared = match &config.store.value {
        StoreChoice::File(path) => absolute(path)?.parent() != Some(data.as_path()),
        StoreChoice::Postgres(_) => true,
    };
    Ok(if is_shared { Tenancy::ManyFolders } else { Tenancy::OneFolder })
}
