//! A store in a folder of its own.

use std::sync::Arc;

use artel_store::RunStore;
use artel_store::contract::{new_run, note, run_id};
use artel_store::{Fence, Revision, RunAppend};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

/// A folder that is removed with everything in it.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns the path of a database in a folder that is not there yet.
    pub(crate) fn database(&self) -> Utf8PathBuf {
        self.file("data/artel.db")
    }

    pub(crate) fn file(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.0.path()).unwrap().join(name)
    }

    pub(crate) fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.database(), SqliteOptions::default()).unwrap()
    }
}

/// Returns an empty store for the contract.
pub(crate) async fn empty_store() -> (Arc<SqliteStore>, Folder) {
    let folder = Folder::new();
    (Arc::new(folder.open()), folder)
}

/// Keeps run 1 with one event.
pub(crate) async fn create(store: &SqliteStore) {
    store.create(new_run(run_id(1), 10)).await.unwrap();
}

/// Returns an append of one event to run 1.
pub(crate) fn append(expected: u64, text: &str) -> RunAppend {
    RunAppend {
        run: run_id(1),
        expected: Revision(expected),
        fence: Some(Fence(1)),
        events: vec![note(11, text)],
        summary: None,
        executions: Vec::new(),
        health: Vec::new(),
    }
}

/// Returns how many events the log of run 1 has, after checking that the whole store is sound.
pub(crate) async fn sound_length(store: &SqliteStore) -> u64 {
    let report = store.check().await.unwrap();
    assert!(report.is_sound(), "{report:?}");
    let log = store.events(run_id(1), Revision(0), usize::MAX).await.unwrap();
    log.len() as u64
}
