//! Copies a whole store into another file while it is in use.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use artel_store::StoreError;
use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::Connection;

use crate::store::SqliteStore;

/// Why there is no copy; nothing is left at the target.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Something is there already, and a copy never overwrites.
    #[error("`{target}` is there already")]
    Exists {
        /// Where the copy should go.
        target: Utf8PathBuf,
    },
    /// The target cannot be written.
    #[error("cannot write `{target}`")]
    Target {
        /// Where the copy should go.
        target: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store could not be copied.
    #[error("cannot copy the store")]
    Store(#[source] StoreError),
}

impl SqliteStore {
    /// Copies the store as it stands into a file at `target`, which must not be there. Writers go on meanwhile.
    pub async fn backup(&self, target: &Utf8Path) -> Result<(), BackupError> {
        create(target)?;
        let copy = target.to_owned();
        let query = move |connection: &Connection| {
            connection.execute("VACUUM INTO ?1", [copy.as_str()])?;
            Ok(())
        };
        let what = format!("copy the store to `{target}`, from what is");
        let copied = self.readers.read(&what, query).await.map_err(BackupError::Store);
        let finished = copied.and_then(|()| sync(target));
        if finished.is_err() {
            // Half a copy helps nobody; that it could not be removed either does not say more.
            let _ = fs::remove_file(target);
        }
        finished
    }
}

/// Makes an empty file for nobody but us, which SQLite then fills.
fn create(target: &Utf8Path) -> Result<(), BackupError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(target) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(BackupError::Exists { target: target.to_owned() })
        }
        Err(source) => Err(BackupError::Target { target: target.to_owned(), source }),
    }
}

/// Makes the copy and its name survive a power cut.
fn sync(target: &Utf8Path) -> Result<(), BackupError> {
    let folder = target.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let synced = File::open(target).and_then(|file| file.sync_all());
    let synced = synced.and_then(|()| File::open(folder)?.sync_all());
    synced.map_err(|source| BackupError::Target { target: target.to_owned(), source })
}
