//! Skills that a caller is entitled to: what is served, and the files of it. What is not the caller's to see is not there.

use std::sync::Arc;

use artel_catalog::shared::{Entry, EntryFile, Snapshot, View};
use artel_catalog::{file_hash, holds_settings};
use artel_model::access::Principal;

use crate::app::App;
use crate::catalog::Reread;
use crate::error::ApiError;

/// Returns what is served to somebody; a failing source is never shown as an empty catalog.
pub(crate) fn served(app: &App, caller: &Principal) -> Result<(Arc<Snapshot>, Arc<View>), ApiError> {
    let unavailable = || {
        ApiError::unavailable(
            "skills_unavailable",
            "Skills are temporarily unavailable. Please try again later.",
        )
    };
    app.catalogs().served(&caller.viewer).ok_or_else(unavailable)
}

/// Says whether a skill does something when it is run, and not only instructs.
pub(crate) fn is_runnable(entry: &Entry) -> bool {
    entry.loaded.skill.as_ref().is_some_and(|skill| skill.entrypoint.is_some() || skill.composite.is_some())
}

/// Returns a file of a skill: its bytes are those that were scanned, or it is not shown.
pub(crate) async fn read_skill_file(
    app: &App,
    entry: &Entry,
    path: &str,
) -> Result<(EntryFile, Vec<u8>), ApiError> {
    let file = entry.file(path).ok_or_else(|| ApiError::not_found("file"))?.clone();
    // What somebody set for a skill may be secret; it is shown masked, and only there.
    let listed = entry.loaded.files.iter().find(|listed| listed.path == file.path);
    if listed.is_some_and(|listed| holds_settings(&entry.loaded, listed)) {
        return Err(ApiError::not_found("file"));
    }
    let (loaded, wanted) = (Arc::clone(&entry.loaded), file.clone());
    let read = tokio::task::spawn_blocking(move || {
        let content = loaded.location.tree()?.read(&wanted.path, wanted.size.max(1)).ok()?;
        (file_hash(&content) == wanted.hash).then_some(content)
    });
    let content =
        read.await.map_err(|_| ApiError::unavailable("interrupted", "the request was interrupted"))?;
    if content.is_none() {
        // Somebody changed the folder under us; the next snapshot says what is there.
        let _ = app.catalogs().refresh(Reread::Folders).await;
    }
    let changed = || ApiError::unavailable("file_changed", "The file has changed; please ask again.");
    content.map(|content| (file, content)).ok_or_else(changed)
}
