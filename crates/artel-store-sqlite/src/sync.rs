//! The thread that makes writes survive a power cut: one fsync for all who asked before it began, beside further writes.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use artel_store::StoreError;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::sync::{mpsc, oneshot};

use crate::clock::moment;
use crate::metrics::SyncMeters;

/// Asks for an fsync.
#[derive(Debug)]
pub(crate) struct SyncHandle {
    queue: Option<mpsc::UnboundedSender<Reply>>,
    thread: Option<JoinHandle<()>>,
    has_failed: Arc<AtomicBool>,
}

type Reply = oneshot::Sender<Result<(), StoreError>>;

impl SyncHandle {
    /// Starts the thread for the log of the database at `path`, which must be there.
    ///
    /// The log is all that needs an fsync: SQLite itself syncs what it copied into the database before it lets the log
    /// begin anew. The file stays the same while a connection is open, and SQLite holds no locks on it that closing it
    /// would drop.
    pub(crate) fn start(path: &Utf8Path) -> Result<Self, StoreError> {
        let wal = Utf8PathBuf::from(format!("{path}-wal"));
        let unavailable =
            |what: String| move |error: io::Error| StoreError::Unavailable { what, source: error.into() };
        let file = File::open(&wal).map_err(unavailable(format!("open `{wal}`")))?;
        sync_folder(path).map_err(unavailable(format!("sync the folder of `{path}`")))?;
        let (queue, requests) = mpsc::unbounded_channel();
        let meters = SyncMeters::new();
        let has_failed = Arc::new(AtomicBool::new(false));
        let failed = has_failed.clone();
        let run = move || sync_when_asked(&file, &wal, requests, &meters, &failed);
        let spawned = thread::Builder::new().name("artel-sync".to_owned()).spawn(run);
        let thread = spawned.map_err(unavailable("start the thread that syncs".to_owned()))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), has_failed })
    }

    /// Says whether an fsync failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Returns when everything written before survives a power cut.
    pub(crate) async fn sync(&self) -> Result<(), StoreError> {
        let gone = || StoreError::Unavailable {
            what: "sync the log".to_owned(),
            source: "the thread that syncs is gone".into(),
        };
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().expect("the queue is open until the handle is dropped");
        queue.send(reply).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Drop for SyncHandle {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told when it happened.
            let _ = thread.join();
        }
    }
}

/// Makes the names of the database and its log survive a power cut too.
fn sync_folder(path: &Utf8Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    File::open(folder)?.sync_all()
}

fn sync_when_asked(
    file: &File,
    path: &Utf8Path,
    mut requests: mpsc::UnboundedReceiver<Reply>,
    meters: &SyncMeters,
    has_failed: &AtomicBool,
) {
    let mut failed = None;
    while let Some(first) = requests.blocking_recv() {
        let mut waiting = vec![first];
        while let Ok(reply) = requests.try_recv() {
            waiting.push(reply);
        }
        // After a failed fsync the system may have dropped what it could not write, and the next one would say that all
        // is well. Only a restart reads what is really there.
        if failed.is_none() {
            let since = moment();
            failed = file.sync_data().err();
            has_failed.store(failed.is_some(), Ordering::Relaxed);
            meters.took.record(since.elapsed());
        }
        meters.wanted.increment(waiting.len() as u64);
        for reply in waiting {
            let answer = failed.as_ref().map_or(Ok(()), |error| Err(sync_error(path, error)));
            // Who asked may have gone.
            let _ = reply.send(answer);
        }
    }
}

fn sync_error(path: &Utf8Path, error: &io::Error) -> StoreError {
    let what = format!("sync `{path}` (what was written since may be lost in a power cut; restart artel)");
    StoreError::Lost { what, source: error.to_string().into() }
}
