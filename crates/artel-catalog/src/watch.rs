//! Tells when something below a folder changes.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use artel_model::limit::WATCH_EVENTS_MAX;
use camino::{Utf8Path, Utf8PathBuf};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Quiet time after which a burst of changes counts as one.
const QUIET: Duration = Duration::from_millis(150);

/// Watches folders.
pub struct Watcher {
    roots: Vec<Utf8PathBuf>,
    events: Receiver<notify::Result<Event>>,
    // Dropping it ends the watch.
    watcher: RecommendedWatcher,
}

/// Why folders cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The operating system refused.
    #[error("cannot watch `{path}`")]
    Watch {
        /// The folder.
        path: Utf8PathBuf,
        /// Why.
        source: notify::Error,
    },
    /// The watcher stopped by itself.
    #[error("watching for changes ended")]
    Ended,
}

impl Watcher {
    /// Watches everything below `roots`. For a folder that does not exist, its nearest parent is watched until it does.
    pub fn new(roots: &[Utf8PathBuf]) -> Result<Self, WatchError> {
        let (sender, events) = sync_channel(WATCH_EVENTS_MAX);
        let first = roots.first().cloned().unwrap_or_default();
        let watcher = notify::recommended_watcher(move |event| {
            // When it is full, a change is waiting to be told anyway.
            let _ = sender.try_send(event);
        })
        .map_err(|source| WatchError::Watch { path: first, source })?;
        let mut watcher = Self { roots: roots.to_vec(), events, watcher };
        watcher.watch_roots()?;
        Ok(watcher)
    }

    /// Waits until something changed and has been quiet again for a moment.
    pub fn changed(&mut self) -> Result<(), WatchError> {
        loop {
            let event = self.events.recv().map_err(|_| WatchError::Ended)?;
            // What went wrong while watching may have hidden a change.
            if event.is_ok_and(|event| !is_change(&event)) {
                continue;
            }
            loop {
                match self.events.recv_timeout(QUIET) {
                    Ok(_) => {}
                    Err(RecvTimeoutError::Timeout) => return self.watch_roots(),
                    Err(RecvTimeoutError::Disconnected) => return Err(WatchError::Ended),
                }
            }
        }
    }

    /// Watches what exists of the roots, which may be more than before.
    fn watch_roots(&mut self) -> Result<(), WatchError> {
        for root in &self.roots {
            let (path, mode) = match nearest_folder(root) {
                Some(path) if path == *root => (path, RecursiveMode::Recursive),
                Some(path) => (path, RecursiveMode::NonRecursive),
                None => continue,
            };
            self.watcher
                .watch(path.as_std_path(), mode)
                .map_err(|source| WatchError::Watch { path: path.clone(), source })?;
        }
        Ok(())
    }
}

/// Reading a file is no change.
fn is_change(event: &Event) -> bool {
    match event.kind {
        EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Any => true,
        EventKind::Access(_) | EventKind::Other => false,
    }
}

fn nearest_folder(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let start = if path.is_relative() { Utf8Path::new(".").join(path) } else { path.to_owned() };
    if path.is_dir() {
        return Some(path.to_owned());
    }
    start.ancestors().find(|folder| folder.is_dir()).map(Utf8Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_also_in_folders_made_later() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let skills = root.join("later/skills");
        let mut watcher = Watcher::new(std::slice::from_ref(&skills)).unwrap();
        std::fs::create_dir(root.join("later")).unwrap();
        watcher.changed().unwrap();
        std::fs::create_dir(&skills).unwrap();
        watcher.changed().unwrap();
        std::fs::create_dir(skills.join("demo")).unwrap();
        watcher.changed().unwrap();
        std::fs::write(skills.join("demo/SKILL.md"), "x").unwrap();
        watcher.changed().unwrap();
    }
}
