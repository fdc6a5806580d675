//! The connection that writes: it makes many changes in one transaction and answers them together.
//!
//! Who holds it when is not decided here.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use artel_store::StoreError;
use metrics::Gauge;
use rusqlite::{Connection, wal::CheckpointMode};

use crate::checkpoint::{CheckpointHandle, LOG_COPIED};
use crate::clock::moment;
use crate::failure::{is_busy, store_error};
use crate::job::Job;
use crate::metrics::{CheckpointMeters, WriteMeters};
use crate::queue::Queue;

/// How many pages the log of SQLite holds before they are copied into the database in the background.
const WAL_PAGES: i32 = 8_000;
/// How many more it holds before that is done again, because somebody wrote meanwhile.
const WAL_PAGES_STEP: i32 = 6_000;
/// How many it holds before writing stops for that, so that the log begins anew.
const WAL_PAGES_MAX: i32 = 4 * WAL_PAGES;
/// The pauses between looks at a file that another program writes to, in microseconds.
const BUSY_PAUSE_US: u64 = 50;
const BUSY_PAUSE_US_MAX: u64 = 5_000;

/// What writes, and the changes that are being written.
pub(crate) struct Pen {
    checkpoint: CheckpointHandle,
    // Closed after that of the checkpoints; see there.
    connection: Connection,
    batch: Vec<Box<dyn Job>>,
    wal_pages: Arc<AtomicI32>,
    /// The length of the log at which it is copied next.
    copy_at: i32,
    busy_ms: u64,
    meters: WriteMeters,
    checkpoints: CheckpointMeters,
}

/// What came of an attempt to write without waiting for anything.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Attempt {
    /// Everything is written and answered.
    Written,
    /// Something is left to do that may take long; [`Pen::write`] does it.
    Unfinished,
}

impl Pen {
    /// Prepares a connection for writing; `path` is that of its file.
    pub(crate) fn new(
        mut connection: Connection,
        checkpoint: CheckpointHandle,
        path: &str,
        busy_ms: u64,
    ) -> Result<Self, StoreError> {
        let wal_pages = checkpoint.wal_pages();
        let count = wal_pages.clone();
        let prepare = |connection: &mut Connection| {
            // Locks are waited for by `begin`, with shorter pauses than SQLite's.
            connection.busy_timeout(Duration::ZERO)?;
            connection.wal_hook(Some(move |_: &mut _, pages| {
                count.store(pages, Ordering::Relaxed);
                Ok(())
            }))
        };
        prepare(&mut connection).map_err(|error| store_error(&format!("open `{path}`"), &error))?;
        let (meters, checkpoints) = (WriteMeters::new(), CheckpointMeters::new());
        let (batch, copy_at) = (Vec::new(), WAL_PAGES);
        Ok(Self { checkpoint, connection, batch, wal_pages, copy_at, busy_ms, meters, checkpoints })
    }

    /// Takes changes that wait, up to the limits of a transaction, and returns how many it took.
    pub(crate) fn take(&mut self, waiting: &mut Queue) -> usize {
        let taken = waiting.fill(&mut self.batch);
        self.meters.queue.set(u32::try_from(waiting.len()).unwrap_or(u32::MAX));
        taken
    }

    /// Returns what shows how many changes wait to be taken.
    pub(crate) fn queue_meter(&self) -> Gauge {
        self.meters.queue.clone()
    }

    /// Says whether it has taken changes that are not written.
    pub(crate) fn is_loaded(&self) -> bool {
        !self.batch.is_empty()
    }

    /// Says whether the next write is free of fsyncs, as almost all are.
    pub(crate) fn is_quick(&self) -> bool {
        let pages = self.wal_pages.load(Ordering::Relaxed);
        pages != LOG_COPIED && pages < WAL_PAGES_MAX
    }

    /// Writes what was taken, unless another program writes or something fails.
    pub(crate) fn try_write(&mut self) -> Attempt {
        let since = moment();
        let begun = self.connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([]));
        if begun.is_err() || self.finish().is_err() {
            self.roll_back();
            return Attempt::Unfinished;
        }
        self.meters.committed(self.batch.len(), since);
        self.batch.drain(..).for_each(Job::succeed);
        self.ask_for_checkpoint();
        Attempt::Written
    }

    /// Writes what was taken, waits for other programs as long as needed, and answers everybody.
    pub(crate) fn write(&mut self) {
        let begun = self.begin();
        let since = moment();
        match begun.map(|()| self.finish()) {
            Ok(Ok(())) => {
                self.meters.committed(self.batch.len(), since);
                self.batch.drain(..).for_each(Job::succeed);
            }
            Ok(Err(error)) => self.write_one_by_one(&error),
            Err(error) => self.fail_all(&error),
        }
        self.ask_for_checkpoint();
        self.keep_log_short();
    }

    /// Makes the changes and commits the transaction that has begun.
    fn finish(&mut self) -> rusqlite::Result<()> {
        self.batch.iter_mut().try_for_each(|job| job.apply(&self.connection))?;
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }

    /// One change that fails must not fail the others of its batch: each is tried again alone.
    fn write_one_by_one(&mut self, error: &rusqlite::Error) {
        self.roll_back();
        if self.batch.len() == 1 {
            self.fail_all(error);
        }
        for mut job in mem::take(&mut self.batch) {
            let mut attempt = || {
                self.begin()?;
                let since = moment();
                job.apply(&self.connection)?;
                self.connection.execute_batch("COMMIT").map(|()| since)
            };
            match attempt() {
                Ok(since) => {
                    self.meters.committed(1, since);
                    job.succeed();
                }
                Err(error) => {
                    self.roll_back();
                    self.meters.failed.increment(1);
                    job.fail(&error);
                }
            }
        }
    }

    /// Answers everybody that nothing was written.
    fn fail_all(&mut self, error: &rusqlite::Error) {
        self.meters.failed.increment(self.batch.len() as u64);
        self.batch.drain(..).for_each(|job| job.fail(error));
    }

    /// Begins a transaction as soon as no other program writes.
    fn begin(&self) -> rusqlite::Result<()> {
        let mut begin = self.connection.prepare_cached("BEGIN IMMEDIATE")?;
        let mut pause = BUSY_PAUSE_US;
        let mut waited = 0;
        loop {
            match begin.execute([]) {
                Ok(_) => return Ok(()),
                Err(error) if is_busy(&error) && waited < self.busy_ms * 1000 => {}
                Err(error) => return Err(error),
            }
            thread::sleep(Duration::from_micros(pause));
            waited += pause;
            pause = (pause * 2).min(BUSY_PAUSE_US_MAX);
        }
    }

    fn roll_back(&self) {
        // SQLite has rolled back already after some failures; there is nothing to undo then.
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// Has the log of SQLite copied into the database before it grows too long.
    fn ask_for_checkpoint(&mut self) {
        let pages = self.wal_pages.load(Ordering::Relaxed);
        self.meters.wal_pages.set(pages.max(0));
        if pages < WAL_PAGES {
            self.copy_at = WAL_PAGES;
        } else if pages >= self.copy_at {
            self.copy_at = pages + WAL_PAGES_STEP;
            self.checkpoint.request();
        }
    }

    /// While somebody writes all the time, the background never catches up; only here nothing is written meanwhile. A
    /// copy that cannot be made at the moment is made after a later write.
    fn keep_log_short(&self) {
        if self.wal_pages.load(Ordering::Relaxed) < WAL_PAGES_MAX {
            return;
        }
        let pages = self.connection.wal_checkpoint_v2(None::<&str>, CheckpointMode::PASSIVE);
        self.checkpoints.copied(&pages);
        if pages.is_ok_and(|(all, copied)| all == copied) {
            self.wal_pages.store(LOG_COPIED, Ordering::Relaxed);
        }
    }
}
