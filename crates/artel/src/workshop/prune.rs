//! Removing what ended long ago: runs, and the files that only they made; what agents that are gone worked in.

use artel_app::Storeroom;
use artel_engine::{AssetStore, DataFolders, Pruned};
use artel_model::time::Timestamp;

use super::drivers::KEPT;
use super::open::ASSETS;
use super::shelf::absolute;
use super::store::Store;
use crate::command::Context;
use crate::failure::Failure;

/// Returns where files lie that runs and agents made.
pub(super) fn storeroom(context: Context<'_>) -> Result<Storeroom, Failure> {
    let data = absolute(&context.config.data.value)?;
    Ok(Storeroom {
        assets: AssetStore::new(data.join(ASSETS)),
        work: data.join(KEPT),
        data: DataFolders::new(&data),
    })
}

/// Removes the runs that ended before `before`.
pub(crate) async fn prune(context: Context<'_>, store: &Store, before: Timestamp) -> Result<Pruned, Failure> {
    let room = storeroom(context)?;
    let pruned = artel_engine::prune(&*store.runs, &room.assets, &room.data, before).await;
    pruned.map_err(|error| Failure::unavailable(&error))
}

/// Removes the folders that programs of agents worked in which are gone, and returns how many.
pub(crate) async fn prune_work(context: Context<'_>, store: &Store) -> Result<usize, Failure> {
    let pruned = artel_agents::prune_work_folders(&storeroom(context)?.work, &*store.agents).await;
    pruned.map_err(|error| Failure::unavailable(&error))
}
