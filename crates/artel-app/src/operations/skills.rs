//! Skills that a caller is entitled to: what is served, and the files of it. What is not the caller's to see is not there.

use std::sync::Arc;

use artel_api::skills::SkillEntry;
use artel_catalog::shared::{Entry, EntryFile, Snapshot, View};
use artel_catalog::{Loaded, file_hash, holds_settings};
use artel_model::access::Principal;
use artel_model::limit::{INCLUDED_BYTES_MAX, INCLUDED_FILE_BYTES_MAX};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use camino::Utf8Path;

use crate::app::App;
use crate::catalog::Reread;
use crate::error::OperationError;

/// Returns what is served to somebody; a failing source is never shown as an empty catalog.
pub fn served(app: &App, caller: &Principal) -> Result<(Arc<Snapshot>, Arc<View>), OperationError> {
    let unavailable = || {
        OperationError::unavailable(
            "skills_unavailable",
            "Skills are temporarily unavailable. Please try again later.",
        )
    };
    app.catalogs().served(&caller.viewer).ok_or_else(unavailable)
}

/// Says whether a skill does something when it is run, and not only instructs.
pub fn is_runnable(entry: &Entry) -> bool {
    entry.loaded.skill.as_ref().is_some_and(|skill| skill.entrypoint.is_some() || skill.composite.is_some())
}

/// Returns a file of a skill: its bytes are those that were scanned, or it is not shown.
pub async fn read_skill_file(
    app: &App,
    entry: &Entry,
    path: &str,
) -> Result<(EntryFile, Vec<u8>), OperationError> {
    let file = entry.file(path).ok_or_else(|| OperationError::not_found("file"))?.clone();
    if is_secret(&entry.loaded, file.path.as_str()) {
        return Err(OperationError::not_found("file"));
    }
    let (loaded, wanted) = (Arc::clone(&entry.loaded), file.clone());
    let read = tokio::task::spawn_blocking(move || {
        let content = loaded.location.tree()?.read(&wanted.path, wanted.size.max(1)).ok()?;
        (file_hash(&content) == wanted.hash).then_some(content)
    });
    let content =
        read.await.map_err(|_| OperationError::unavailable("interrupted", "the request was interrupted"))?;
    if content.is_none() {
        // Somebody changed the folder under us; the next snapshot says what is there.
        let _ = app.catalogs().refresh(Reread::Folders).await;
    }
    let changed = || OperationError::unavailable("file_changed", "The file has changed; please ask again.");
    content.map(|content| (file, content)).ok_or_else(changed)
}

/// Says whether a file holds what an operator set for the skill, which may be secret: it is shown masked, and only there.
fn is_secret(loaded: &Loaded, path: &str) -> bool {
    loaded.files.iter().any(|file| file.path == path && holds_settings(loaded, file))
}

/// Adds the contents of its files to a skill.
pub async fn with_contents(loaded: Arc<Loaded>, mut entry: SkillEntry) -> Result<SkillEntry, OperationError> {
    let read = tokio::task::spawn_blocking(move || {
        Contents::default().add(&loaded, &mut entry);
        entry
    });
    read.await.map_err(|_| OperationError::unavailable("interrupted", "the request was interrupted"))
}

/// The contents of files in one answer, of which there may be [`INCLUDED_BYTES_MAX`] bytes.
pub struct Contents {
    bytes_left: u64,
}

impl Default for Contents {
    fn default() -> Self {
        Self { bytes_left: INCLUDED_BYTES_MAX }
    }
}

impl Contents {
    /// Adds the contents of its files to a skill, as long as they fit. Only the bytes that were scanned are told.
    pub fn add(&mut self, loaded: &Loaded, entry: &mut SkillEntry) {
        let Some(tree) = loaded.location.tree() else {
            entry.contents_left_out = Some(entry.files.len());
            return;
        };
        let mut left_out = 0;
        for file in &mut entry.files {
            if is_secret(loaded, &file.path) {
                continue;
            }
            let fits = file.size <= self.bytes_left.min(INCLUDED_FILE_BYTES_MAX);
            let content = fits.then(|| tree.read(Utf8Path::new(&file.path), file.size.max(1)).ok()).flatten();
            match content.filter(|content| file_hash(content).to_string() == file.hash) {
                Some(content) => {
                    self.bytes_left -= file.size;
                    match String::from_utf8(content) {
                        Ok(text) => file.text = Some(text),
                        Err(bytes) => file.base64 = Some(STANDARD.encode(bytes.as_bytes())),
                    }
                }
                None => left_out += 1,
            }
        }
        entry.contents_left_out = Some(left_out);
    }
}
