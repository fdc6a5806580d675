//! Folders are read again when they change. Where they cannot be watched, they are read again now and then.

use std::sync::Arc;
use std::time::Duration;

use artel_catalog::{WatchError, Watcher};
use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::mpsc;

use super::service::{Catalogs, Reread};

/// How often folders are read that cannot be watched.
const POLL: Duration = Duration::from_secs(10);
/// How often the thread that watches looks whether anybody still listens.
const LISTENING_CHECK: Duration = Duration::from_millis(500);

/// How changes of the server's folders are noticed.
#[derive(Clone, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum FolderWatch {
    /// Not at all: they are read when somebody asks for it.
    #[default]
    Unwatched,
    /// The system tells of them.
    Watched,
    /// The folders are read now and then, because the system does not tell.
    Polled {
        /// Why not.
        reason: String,
    },
}

/// How folders are watched.
#[derive(Clone)]
pub struct FolderWatching {
    /// Begins to watch. Blocks.
    pub open: Arc<dyn Fn() -> Result<Watcher, WatchError> + Send + Sync>,
    /// How often they are read when they cannot be watched.
    pub poll: Duration,
}

impl FolderWatching {
    /// Watches these folders.
    pub fn of(roots: Vec<Utf8PathBuf>) -> Self {
        Self { open: Arc::new(move || Watcher::new(&roots)), poll: POLL }
    }
}

/// What the thread that watches tells.
enum WatchEvent {
    /// From here on every change is told; what happened before is not known.
    Ready,
    Changed,
    Failed(String),
}

impl Catalogs {
    /// Reads folders again whenever they change, until it is dropped.
    pub async fn follow_folders(self, watching: FolderWatching) {
        loop {
            let mut told = watch(watching.clone());
            while let Some(event) = told.recv().await {
                match event {
                    WatchEvent::Ready => {
                        self.set_folder_watch(FolderWatch::Watched);
                        self.read_folders().await;
                    }
                    WatchEvent::Changed => self.read_folders().await,
                    WatchEvent::Failed(reason) => self.cannot_watch(reason),
                }
            }
            tokio::time::sleep(watching.poll).await;
            self.read_folders().await;
        }
    }

    async fn read_folders(&self) {
        match self.refresh(Reread::Folders).await {
            Ok(_) => drop(self.rebuild_supervisor()),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "changed folders cannot be served");
            }
        }
    }

    /// Said once, not every time that watching is tried again.
    fn cannot_watch(&self, reason: String) {
        if !matches!(self.folder_watch(), FolderWatch::Polled { .. }) {
            tracing::warn!(reason, "folders cannot be watched; they are read again now and then");
        }
        self.set_folder_watch(FolderWatch::Polled { reason });
    }
}

/// Watches in a thread of its own, since that blocks. It ends when nobody listens any more, or with a failure.
fn watch(watching: FolderWatching) -> mpsc::Receiver<WatchEvent> {
    // One change that waits to be told stands for all that happen meanwhile; the other place is for a failure.
    let (sender, receiver) = mpsc::channel(2);
    let failing = sender.clone();
    let thread = std::thread::Builder::new().name("folders".to_owned());
    let started = thread.spawn(move || {
        if let Err(error) = tell(&watching, &sender) {
            let _ = sender.blocking_send(WatchEvent::Failed(reason(&error)));
        }
    });
    if let Err(error) = started {
        let _ = failing.try_send(WatchEvent::Failed(error.to_string()));
    }
    receiver
}

fn tell(watching: &FolderWatching, sender: &mpsc::Sender<WatchEvent>) -> Result<(), WatchError> {
    let mut watcher = (watching.open)()?;
    let _ = sender.blocking_send(WatchEvent::Ready);
    while !sender.is_closed() {
        if watcher.changed_within(LISTENING_CHECK)? {
            let _ = sender.try_send(WatchEvent::Changed);
        }
    }
    Ok(())
}

/// Says why in one line; which folder it is about is the operator's to know.
fn reason(error: &WatchError) -> String {
    match error {
        WatchError::Watch { source, .. } => format!("the system does not watch folders: {source}"),
        WatchError::Ended => error.to_string(),
    }
}
