//! The one thread that writes: it takes all changes that wait, makes them in one transaction, and answers them together.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use artel_store::StoreError;
use rusqlite::{Connection, wal::CheckpointMode};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use crate::change::Change;
use crate::checkpoint::CheckpointHandle;
use crate::failure::{is_busy, store_error};

/// How many changes go into one transaction.
const BATCH_MAX: usize = 1024;
/// How many bytes of events and records go into one transaction, or those of a single change.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// How often the thread looks for more work before it sleeps: being woken costs more than a small write.
const LOOKS_BEFORE_SLEEP: u32 = 200;
/// How many pages the log of SQLite holds before they are copied into the database in the background.
const WAL_PAGES: i32 = 8_000;
/// How many it holds before the writer itself stops for that, so that the log begins anew.
const WAL_PAGES_MAX: i32 = 4 * WAL_PAGES;
/// The pauses between looks at a file that another program writes to, in microseconds.
const BUSY_PAUSE_US: u64 = 50;
const BUSY_PAUSE_US_MAX: u64 = 5_000;

/// Gives changes to the writer.
#[derive(Debug)]
pub(crate) struct WriterHandle {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    path: Arc<str>,
}

/// What the writer needs.
pub(crate) struct WriterConfig {
    pub(crate) connection: Connection,
    pub(crate) checkpoint: CheckpointHandle,
    pub(crate) path: Arc<str>,
    pub(crate) queue_max: usize,
    pub(crate) busy_ms: u64,
}

impl WriterHandle {
    /// Starts the thread.
    pub(crate) fn start(config: WriterConfig) -> Result<Self, StoreError> {
        let (queue, changes) = mpsc::channel(config.queue_max);
        let path = config.path.clone();
        let writer = Writer::new(config, changes)?;
        let spawned = thread::Builder::new().name("artel-write".to_owned()).spawn(move || writer.run());
        let thread = spawned.map_err(|error| StoreError::Unavailable {
            what: "start the thread that writes".to_owned(),
            source: error.into(),
        })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), path })
    }

    /// Makes a change and returns when it is written.
    pub(crate) async fn write<C: Change>(&self, change: C) -> Result<C::Answer, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Pending { change, outcome: None, reply, path: self.path.clone() });
        let queue = self.queue.as_ref().expect("the queue is open until the handle is dropped");
        queue.send(job).await.map_err(|_| gone::<C>())?;
        answer.await.map_err(|_| gone::<C>())?
    }
}

fn gone<C: Change>() -> StoreError {
    StoreError::Unavailable { what: C::WHAT.to_owned(), source: "the thread that writes is gone".into() }
}

impl Drop for WriterHandle {
    /// Waits for what is in the queue: it may be written although nobody asks for the answer.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told when it happened.
            let _ = thread.join();
        }
    }
}

/// A change of any kind, and who waits for its answer.
trait Job: Send {
    fn bytes(&self) -> usize;
    fn apply(&mut self, connection: &Connection) -> rusqlite::Result<()>;
    /// Answers with what came of the change, which is written.
    fn succeed(self: Box<Self>);
    /// Answers that nothing was written.
    fn fail(self: Box<Self>, error: &rusqlite::Error);
}

struct Pending<C: Change> {
    change: C,
    outcome: Option<C::Answer>,
    reply: oneshot::Sender<Result<C::Answer, StoreError>>,
    path: Arc<str>,
}

impl<C: Change> Job for Pending<C> {
    fn bytes(&self) -> usize {
        self.change.bytes()
    }

    fn apply(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.outcome = Some(self.change.apply(connection)?);
        Ok(())
    }

    fn succeed(self: Box<Self>) {
        let outcome = self.outcome.expect("a change is made before it is answered");
        // Who asked may have gone; the change stays.
        let _ = self.reply.send(Ok(outcome));
    }

    fn fail(self: Box<Self>, error: &rusqlite::Error) {
        let what = format!("{} in `{}`", C::WHAT, self.path);
        let _ = self.reply.send(Err(store_error(&what, error)));
    }
}

struct Writer {
    checkpoint: CheckpointHandle,
    // Closed after that of the checkpoints; see there.
    connection: Connection,
    changes: mpsc::Receiver<Box<dyn Job>>,
    wal_pages: Arc<AtomicI32>,
    busy_ms: u64,
}

impl Writer {
    fn new(config: WriterConfig, changes: mpsc::Receiver<Box<dyn Job>>) -> Result<Self, StoreError> {
        let WriterConfig { mut connection, checkpoint, path, busy_ms, queue_max: _ } = config;
        let wal_pages = Arc::new(AtomicI32::new(0));
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
        Ok(Self { connection, changes, checkpoint, wal_pages, busy_ms })
    }

    fn run(mut self) {
        let mut batch = Vec::new();
        while self.collect(&mut batch) {
            self.write(&mut batch);
            self.keep_log_short();
        }
    }

    /// Waits for changes and takes all there are, up to the limits; returns nothing when nobody is left to send any.
    fn collect(&mut self, batch: &mut Vec<Box<dyn Job>>) -> bool {
        let Some(first) = self.next() else { return false };
        let mut bytes = first.bytes();
        batch.push(first);
        while batch.len() < BATCH_MAX && bytes < BATCH_BYTES_MAX {
            let Ok(job) = self.changes.try_recv() else { break };
            bytes += job.bytes();
            batch.push(job);
        }
        true
    }

    fn next(&mut self) -> Option<Box<dyn Job>> {
        for _ in 0..LOOKS_BEFORE_SLEEP {
            match self.changes.try_recv() {
                Ok(job) => return Some(job),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => hint::spin_loop(),
            }
        }
        self.changes.blocking_recv()
    }

    fn write(&mut self, batch: &mut Vec<Box<dyn Job>>) {
        if let Err(error) = self.begin() {
            batch.drain(..).for_each(|job| job.fail(&error));
            return;
        }
        let together = batch.iter_mut().try_for_each(|job| job.apply(&self.connection));
        match together.and_then(|()| self.connection.execute_batch("COMMIT")) {
            Ok(()) => batch.drain(..).for_each(Job::succeed),
            Err(error) => self.write_one_by_one(batch, &error),
        }
    }

    /// One change that fails must not fail the others of its batch: each is tried again alone.
    fn write_one_by_one(&mut self, batch: &mut Vec<Box<dyn Job>>, error: &rusqlite::Error) {
        self.roll_back();
        if batch.len() == 1 {
            batch.drain(..).for_each(|job| job.fail(error));
        }
        for mut job in batch.drain(..) {
            let mut attempt = || {
                self.begin()?;
                job.apply(&self.connection)?;
                self.connection.execute_batch("COMMIT")
            };
            match attempt() {
                Ok(()) => job.succeed(),
                Err(error) => {
                    self.roll_back();
                    job.fail(&error);
                }
            }
        }
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
    fn keep_log_short(&self) {
        let pages = self.wal_pages.load(Ordering::Relaxed);
        if pages >= WAL_PAGES {
            self.checkpoint.request();
        }
        // While somebody writes all the time, the background never catches up; only here nothing is written meanwhile.
        // A copy that cannot be made at the moment is made after a later write.
        if pages >= WAL_PAGES_MAX
            && let Ok((all, copied)) =
                self.connection.wal_checkpoint_v2(None::<&str>, CheckpointMode::PASSIVE)
            && all == copied
        {
            self.wal_pages.store(0, Ordering::Relaxed);
        }
    }
}
