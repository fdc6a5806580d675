//! Work on what was fetched that takes the processor for a while, away from where others wait.

use artel_catalog::hub::{ArchiveTop, Fetched, Gathered, HubLimits, Revision, read_archive};
use camino::Utf8PathBuf;
use tokio::task::spawn_blocking;

use super::error::HubError;
use super::request::HubRequest;

/// Reads the archive of a repository.
pub(super) async fn read_repository_archive(
    file: Utf8PathBuf,
    request: &HubRequest,
    limits: HubLimits,
) -> Result<Gathered, HubError> {
    let include = request.include_paths.clone();
    blocking(move || {
        let opened = std::fs::File::open(&file).map_err(|source| HubError::Folder { path: file, source })?;
        let reader = std::io::BufReader::new(opened);
        Ok(read_archive(reader, ArchiveTop::OneFolder, &include, limits)?)
    })
    .await?
}

/// Looks into the skills that were read.
pub(super) async fn look_into(
    revision: Revision,
    request: &HubRequest,
    gathered: Gathered,
) -> Result<Fetched, HubError> {
    let root_name = request.location.root_name();
    blocking(move || Fetched::new(revision, root_name, gathered)).await
}

/// Runs something that does not wait. It ends by itself, since all that it works on is bounded.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HubError> {
    spawn_blocking(work).await.map_err(|error| HubError::Machine(error.to_string()))
}
