//! Removing what ended long ago: runs, and the files that only they made; what agents that are gone worked in.

use artel_engine::{AssetStore, Pruned};
use artel_model::time::Timestamp;

use super::drivers::KEPT;
use super::open::ASSETS;
use super::shelf::absolute;
use super::store::Store;
use crate::command::Context;
use crate::failure::Failure;

/// Removes the runs that ended before `before`.
pub(crate) async fn prune(context: Context<'_>, store: &Store, before: Timestamp) -> Result<Pruned, Failure> {
    let assets = AssetStore::new(absolute(&context.config.data.value)?.join(ASSETS));
    let pruned = artel_engine::prune(&*store.runs, &assets, before).await;
    pruned.map_err(|error| Failure::unavailable(&error))
}

/// Removes the folders that programs of agents worked in which are gone, and returns how many.
pub(crate) async fn prune_work(context: Context<'_>, store: &Store) -> Result<usize, Failure> {
    let kept = absolute(&context.config.data.value)?.join(KEPT);
    let pruned = artel_agents::prune_work_folders(&kept, &*store.agents).await;
    pruned.map_err(|error| Failure::unavailable(&error))
}
