//! Tells when something below a folder changes.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Quiet time after which a burst of changes counts as one.
const QUIET: Duration = Duration::from_millis(150);

/// Watches folders.
pub struct Watcher {
    events: Receiver<notify::Result<Event>>,
    // Dropping it ends the watch.
    _watcher: RecommendedWatcher,
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
    /// Watches everything below `roots`. A folder that does not exist yet is found when its parent changes.
    pub fn new(roots: &[Utf8PathBuf]) -> Result<Self, WatchError> {
        let (sender, events) = channel();
        let first = roots.first().cloned().unwrap_or_default();
        let mut watcher = notify::recommended_watcher(sender)
            .map_err(|source| WatchError::Watch { path: first, source })?;
        for root in roots {
            let (path, mode) = match nearest_folder(root) {
                Some(path) if path == *root => (path, RecursiveMode::Recursive),
                Some(path) => (path, RecursiveMode::NonRecursive),
                None => continue,
            };
            watcher
                .watch(path.as_std_path(), mode)
                .map_err(|source| WatchError::Watch { path: path.clone(), source })?;
        }
        Ok(Self { events, _watcher: watcher })
    }

    /// Waits until something changed and has been quiet again for a moment.
    pub fn changed(&self) -> Result<(), WatchError> {
        loop {
            let event = self.events.recv().map_err(|_| WatchError::Ended)?;
            if !event.is_ok_and(|event| is_change(&event)) {
                continue;
            }
            loop {
                match self.events.recv_timeout(QUIET) {
                    Ok(_) => {}
                    Err(RecvTimeoutError::Timeout) => return Ok(()),
                    Err(RecvTimeoutError::Disconnected) => return Err(WatchError::Ended),
                }
            }
        }
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
    fn a_change_is_told_also_in_a_folder_made_later() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let watcher = Watcher::new(&[root.to_owned(), root.join("later")]).unwrap();
        std::fs::create_dir(root.join("demo")).unwrap();
        std::fs::write(root.join("demo/SKILL.md"), "x").unwrap();
        watcher.changed().unwrap();
        std::fs::create_dir(root.join("later")).unwrap();
        watcher.changed().unwrap();
    }
}
