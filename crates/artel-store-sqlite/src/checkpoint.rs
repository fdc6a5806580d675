//! Copies the log of SQLite into the database in the background, where its fsyncs hold up nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use artel_store::StoreError;
use rusqlite::{Connection, wal::CheckpointMode};

use crate::metrics::CheckpointMeters;

/// The number of pages in a log that is copied as a whole: the next write begins it anew, with an fsync.
pub(crate) const LOG_COPIED: i32 = -1;

/// Asks for a copy.
#[derive(Debug)]
pub(crate) struct CheckpointHandle {
    wal_pages: Arc<AtomicI32>,
    requests: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl CheckpointHandle {
    /// Starts the thread with a connection of its own.
    pub(crate) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (requests, wanted) = sync_channel(1);
        let wal_pages = Arc::new(AtomicI32::new(LOG_COPIED));
        let count = wal_pages.clone();
        let meters = CheckpointMeters::new();
        let run = move || copy_when_asked(&connection, &wanted, &count, &meters);
        let spawned = thread::Builder::new().name("artel-checkpoint".to_owned()).spawn(run);
        let thread = spawned.map_err(|error| StoreError::Unavailable {
            what: "start the thread that copies the log".to_owned(),
            source: error.into(),
        })?;
        Ok(Self { wal_pages, requests: Some(requests), thread: Some(thread) })
    }

    /// Returns where the number of pages in the log is kept; who writes tells it there.
    pub(crate) fn wal_pages(&self) -> Arc<AtomicI32> {
        self.wal_pages.clone()
    }

    /// Asks for a copy, unless somebody has already.
    pub(crate) fn request(&self) {
        // A full channel means that a copy is about to be made.
        let _ = self.requests.as_ref().map(|requests| requests.try_send(()));
    }
}

impl Drop for CheckpointHandle {
    /// Waits until the connection is closed, so that the last one to close finds itself alone and removes the log.
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told when it happened.
            let _ = thread.join();
        }
    }
}

fn copy_when_asked(
    connection: &Connection,
    wanted: &Receiver<()>,
    wal_pages: &AtomicI32,
    meters: &CheckpointMeters,
) {
    while wanted.recv().is_ok() {
        let pages = connection.wal_checkpoint_v2(None::<&str>, CheckpointMode::PASSIVE);
        meters.copied(&pages);
        // What cannot be copied stays in the log, where it is as safe; the next write asks again.
        if pages.is_ok_and(|(all, copied)| all == copied) {
            wal_pages.store(LOG_COPIED, Ordering::Relaxed);
        }
    }
}
