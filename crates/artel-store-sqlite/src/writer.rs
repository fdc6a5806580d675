//! Who writes: whoever has a change and finds the pen free writes for all who wait, so that a lone write needs no other
//! thread. What may take long is left to a thread of our own, because callers must not block theirs.
//!
//! Knows nothing about transactions; the pen does.

use std::fmt;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use artel_store::StoreError;
use metrics::Gauge;
use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};
use tokio::task;

use crate::change::Change;
use crate::checkpoint::CheckpointHandle;
use crate::job::{Job, Pending};
use crate::pen::{Attempt, Pen};
use crate::queue::Queue;

/// How often a caller writes what came meanwhile, before it leaves that to the thread and goes on with its own work.
const ROUNDS_MAX: usize = 2;

/// Gives changes to the writer.
#[derive(Debug)]
pub(crate) struct WriterHandle {
    queue: Arc<WriteQueue>,
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
        let WriterConfig { connection, checkpoint, path, queue_max, busy_ms } = config;
        let pen = Pen::new(connection, checkpoint, &path, busy_ms)?;
        let queue = Arc::new(WriteQueue::new(pen, queue_max));
        let of_thread = queue.clone();
        let write = move || {
            while let Some(turn) = of_thread.wait_for_turn() {
                turn.write_all();
            }
        };
        let spawned = thread::Builder::new().name("artel-write".to_owned()).spawn(write);
        let thread = spawned.map_err(|error| StoreError::Unavailable {
            what: "start the thread that writes".to_owned(),
            source: error.into(),
        })?;
        Ok(Self { queue, thread: Some(thread), path })
    }

    /// Makes a change and returns when it is written.
    pub(crate) async fn write<C: Change>(&self, change: C) -> Result<C::Answer, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Pending { change, outcome: None, reply, path: self.path.clone() });
        self.queue.room.acquire().await.map_err(|_| gone::<C>())?.forget();
        let queued = self.queue.queue(job, task::try_id());
        if queued.has_company {
            // The others that are about to write get into the same transaction.
            task::yield_now().await;
        }
        queued.write();
        answer.await.map_err(|_| gone::<C>())?
    }
}

fn gone<C: Change>() -> StoreError {
    StoreError::Unavailable { what: C::WHAT.to_owned(), source: "what writes is gone after a panic".into() }
}

impl Drop for WriterHandle {
    /// Waits for what is in the queue: it may be written although nobody asks for the answer.
    fn drop(&mut self) {
        self.queue.lock().closing = true;
        self.queue.called.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told when it happened.
            let _ = thread.join();
        }
    }
}

/// Where changes wait and the pen lies.
struct WriteQueue {
    state: Mutex<State>,
    /// The thread waits here.
    called: Condvar,
    /// For how many more changes there is room.
    room: Semaphore,
    /// Shows how many changes wait.
    waiting: Gauge,
}

struct State {
    waiting: Queue,
    /// The task that put in the latest change.
    writer: Option<task::Id>,
    pen: Place,
    closing: bool,
}

/// Where the pen is. It never lies free with changes waiting, unless one of their callers is about to take it.
enum Place {
    Free(Box<Pen>),
    InUse,
    /// Nobody but the thread may take it.
    ForThread(Box<Pen>),
    /// The store is being dropped, or whoever wrote has panicked.
    Gone,
}

impl fmt::Debug for WriteQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WriteQueue").finish_non_exhaustive()
    }
}

impl WriteQueue {
    fn new(pen: Pen, queue_max: usize) -> Self {
        let waiting = pen.queue_meter();
        let state = State {
            waiting: Queue::default(),
            writer: None,
            pen: Place::Free(Box::new(pen)),
            closing: false,
        };
        Self { state: Mutex::new(state), called: Condvar::new(), room: Semaphore::new(queue_max), waiting }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a change into the queue, for which the caller has got room.
    fn queue(&self, job: Box<dyn Job>, writer: Option<task::Id>) -> Queued<'_> {
        let mut state = self.lock();
        let has_company = mem::replace(&mut state.writer, writer) != writer;
        // When the pen is gone, the job is dropped here, which tells its caller.
        if !matches!(state.pen, Place::Gone) {
            state.waiting.push(job);
            self.waiting.set(u32::try_from(state.waiting.len()).unwrap_or(u32::MAX));
            if !state.waiting.is_brief() {
                self.call_thread(&mut state);
            }
        }
        Queued { queue: self, has_company }
    }

    /// Leaves the pen to the thread, unless somebody has it who looks for what waits before giving it back.
    fn call_thread(&self, state: &mut State) {
        state.pen = match mem::replace(&mut state.pen, Place::InUse) {
            Place::Free(pen) => {
                self.called.notify_one();
                Place::ForThread(pen)
            }
            place @ (Place::InUse | Place::ForThread(_) | Place::Gone) => place,
        };
    }

    /// Takes the pen and what waits, if the pen is free and all of it is written quickly.
    fn take_turn(&self) -> Option<Turn<'_>> {
        let mut state = self.lock();
        let State { waiting, pen: place, .. } = &mut *state;
        match mem::replace(place, Place::InUse) {
            Place::Free(mut pen) if waiting.is_brief() && pen.is_quick() && !waiting.is_empty() => {
                self.room.add_permits(pen.take(waiting));
                return Some(Turn { queue: self, pen: Some(pen) });
            }
            other @ (Place::Free(_) | Place::InUse | Place::ForThread(_) | Place::Gone) => *place = other,
        }
        if !waiting.is_empty() {
            self.call_thread(&mut state);
        }
        None
    }

    /// Waits until the thread is to write; nothing when there is nothing to write any more.
    fn wait_for_turn(&self) -> Option<Turn<'_>> {
        let mut state = self.lock();
        loop {
            match mem::replace(&mut state.pen, Place::InUse) {
                Place::ForThread(pen) => return Some(Turn { queue: self, pen: Some(pen) }),
                Place::Free(pen) if state.closing && !state.waiting.is_empty() => {
                    return Some(Turn { queue: self, pen: Some(pen) });
                }
                Place::Free(_) if state.closing => {
                    state.pen = Place::Gone;
                    return None;
                }
                Place::Gone => {
                    state.pen = Place::Gone;
                    return None;
                }
                place @ (Place::Free(_) | Place::InUse) => state.pen = place,
            }
            state = self.called.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A change in the queue whose caller has yet to see to it that somebody writes it.
struct Queued<'a> {
    queue: &'a WriteQueue,
    /// Whether another task wrote last.
    has_company: bool,
}

impl Queued<'_> {
    /// Writes it with all else that waits, unless somebody else does. There is no waiting in here, so a caller that is
    /// dropped never takes the pen along.
    fn write(self) {
        let queue = self.queue;
        mem::forget(self);
        if let Some(turn) = queue.take_turn() {
            turn.write_briefly();
        }
    }
}

impl Drop for Queued<'_> {
    /// The caller is gone before it has written: the thread does it.
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        if !state.waiting.is_empty() {
            self.queue.call_thread(&mut state);
        }
    }
}

/// The pen in somebody's hands.
struct Turn<'a> {
    queue: &'a WriteQueue,
    /// Nothing when it was given back.
    pen: Option<Box<Pen>>,
}

impl Turn<'_> {
    /// Writes what was taken and what came meanwhile, as long as it takes no time worth speaking of; the rest is left to
    /// the thread.
    fn write_briefly(mut self) {
        for round in 1.. {
            let attempt = self.pen().try_write();
            let mut state = self.queue.lock();
            let State { waiting, pen: place, .. } = &mut *state;
            let mut pen = self.pen.take().expect(IN_HAND);
            if attempt == Attempt::Written && waiting.is_empty() {
                *place = Place::Free(pen);
                return;
            }
            if attempt == Attempt::Unfinished || round == ROUNDS_MAX || !waiting.is_brief() || !pen.is_quick()
            {
                *place = Place::ForThread(pen);
                self.queue.called.notify_one();
                return;
            }
            self.queue.room.add_permits(pen.take(waiting));
            self.pen = Some(pen);
        }
    }

    /// Writes everything there is, however long that takes.
    fn write_all(mut self) {
        loop {
            let mut state = self.queue.lock();
            let mut pen = self.pen.take().expect(IN_HAND);
            self.queue.room.add_permits(pen.take(&mut state.waiting));
            if !pen.is_loaded() {
                state.pen = Place::Free(pen);
                return;
            }
            drop(state);
            self.pen.insert(pen).write();
        }
    }

    fn pen(&mut self) -> &mut Pen {
        self.pen.as_mut().expect(IN_HAND)
    }
}

/// Why a turn has the pen.
const IN_HAND: &str = "the pen is in hand until it is given back";

impl Drop for Turn<'_> {
    /// After a panic nobody writes any more, and who waits is told.
    fn drop(&mut self) {
        let Some(pen) = self.pen.take() else { return };
        self.queue.room.close();
        let mut state = self.queue.lock();
        let waiting = mem::take(&mut state.waiting);
        state.pen = Place::Gone;
        self.queue.called.notify_one();
        drop(state);
        drop((waiting, pen));
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;
    use crate::connection::{create_file, open_writer};
    use crate::effort::Effort;
    use crate::options::SqliteOptions;

    /// A change that writes a row, or panics.
    enum Note {
        Fine,
        FineButLong,
        Panics,
    }

    impl Change for Note {
        /// The name of the thread that took it.
        type Answer = Option<String>;
        const WHAT: &'static str = "take a note";

        fn effort(&self) -> Effort {
            match self {
                Self::Fine | Self::Panics => Effort::ROW,
                Self::FineButLong => Effort::Long(0),
            }
        }

        fn apply(&self, connection: &Connection) -> rusqlite::Result<Option<String>> {
            match self {
                Self::Fine | Self::FineButLong => connection
                    .execute_batch("CREATE TABLE IF NOT EXISTS notes (note); INSERT INTO notes VALUES (1)")?,
                Self::Panics => panic!("on purpose"),
            }
            Ok(thread::current().name().map(str::to_owned))
        }
    }

    fn writer(folder: &Utf8Path) -> Arc<WriterHandle> {
        let (path, options) = (folder.join("test.db"), SqliteOptions::default());
        create_file(&path).unwrap();
        let config = WriterConfig {
            connection: open_writer(&path, &options).unwrap(),
            checkpoint: CheckpointHandle::start(open_writer(&path, &options).unwrap()).unwrap(),
            path: path.as_str().into(),
            queue_max: 4,
            busy_ms: 0,
        };
        Arc::new(WriterHandle::start(config).unwrap())
    }

    #[tokio::test]
    async fn what_may_be_long_is_not_done_by_the_caller() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(Utf8Path::from_path(folder.path()).unwrap());
        let caller = thread::current().name().map(str::to_owned);
        let mut tries = 0;
        // The thread takes the first write, and others as long as it has the pen.
        while writer.write(Note::Fine).await.unwrap() != caller {
            tries += 1;
            assert!(tries < 10_000, "no caller ever writes");
            task::yield_now().await;
        }
        for _ in 0..3 {
            let taken_by = writer.write(Note::FineButLong).await.unwrap();
            assert_eq!(taken_by.as_deref(), Some("artel-write"));
        }
        let (long, fine) = tokio::join!(writer.write(Note::FineButLong), writer.write(Note::Fine));
        assert_eq!(long.unwrap().as_deref(), Some("artel-write"));
        assert!(fine.is_ok());
    }

    #[tokio::test]
    async fn after_a_panic_everybody_is_told_and_nobody_waits() {
        for before in 0..3 {
            let folder = tempfile::tempdir().unwrap();
            let writer = writer(Utf8Path::from_path(folder.path()).unwrap());
            for _ in 0..before {
                writer.write(Note::Fine).await.unwrap();
            }
            let panics = {
                let writer = writer.clone();
                tokio::spawn(async move { writer.write(Note::Panics).await })
            };
            // On the thread of the caller the panic is the caller's; on that of the writer it is an answer.
            assert!(!matches!(panics.await, Ok(Ok(_))));
            for _ in 0..10 {
                let refused = writer.write(Note::Fine).await;
                assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
            }
        }
    }
}
