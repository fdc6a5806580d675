//! Removing what ended long ago: runs, and the files that only they made; what agents that are gone worked in.

use artel_app::ArtifactDirs;
use artel_engine::{AssetStore, DataFolders};

use super::drivers::KEPT;
use super::open::ASSETS;
use super::shelf::absolute;
use crate::command::Context;
use crate::failure::Failure;

/// Returns where files lie that runs and agents made.
pub(super) fn artifact_dirs(context: Context<'_>) -> Result<ArtifactDirs, Failure> {
    let data = absolute(&context.config.data.value)?;
    Ok(ArtifactDirs {
        assets: AssetStore::new(data.join(ASSETS)),
        work: data.join(KEPT),
        data: DataFolders::new(&data),
    })
}
