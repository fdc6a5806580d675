//! Copies the log of SQLite into the database in the background, where its fsyncs hold up nobody.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use artel_store::StoreError;
use rusqlite::{Connection, wal::CheckpointMode};

/// Asks for a copy.
#[derive(Debug)]
pub(crate) struct CheckpointHandle {
    requests: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl CheckpointHandle {
    /// Starts the thread with a connection of its own.
    pub(crate) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (requests, wanted) = sync_channel(1);
        let run = move || copy_when_asked(&connection, &wanted);
        let spawned = thread::Builder::new().name("artel-checkpoint".to_owned()).spawn(run);
        let thread = spawned.map_err(|error| StoreError::Unavailable {
            what: "start the thread that copies the log".to_owned(),
            source: error.into(),
        })?;
        Ok(Self { requests: Some(requests), thread: Some(thread) })
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

fn copy_when_asked(connection: &Connection, wanted: &Receiver<()>) {
    while wanted.recv().is_ok() {
        // What cannot be copied stays in the log, where it is as safe; the next write asks again.
        let _ = connection.wal_checkpoint_v2(None::<&str>, CheckpointMode::PASSIVE);
    }
}
