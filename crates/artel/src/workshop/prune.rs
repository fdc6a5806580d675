//! Removing what ended long ago: runs, and the files that only they made.

use artel_engine::{AssetStore, Pruned};
use artel_model::time::Timestamp;

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
