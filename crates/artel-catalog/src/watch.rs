//! Tells when something below a folder changes.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use artel_model::limit::WATCH_EVENTS_MAX;
use camino::{Utf8Path, Utf8PathBuf};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Quiet time after which a burst of changes counts as one.
const QUIET: Duration = Duration::from_millis(150);

/// How often quiet is waited for before a burst that does not end is told.
const BURST_QUIETS_MAX: usize = 6;
/// The folder of a skill that its scripts write, and that is no part of what is published.
const DATA_FOLDER: &str = "data";
/// The files that make a folder a skill's.
const SKILL_FILES: [&str; 3] = ["SKILL.md", "skill.json", "skill.yaml"];

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
        let roots = roots.iter().map(|root| absolute(root)).collect();
        let mut watcher = Self { roots, events, watcher };
        watcher.watch_roots()?;
        Ok(watcher)
    }

    /// Waits until something changed and has been quiet again for a moment.
    pub fn changed(&mut self) -> Result<(), WatchError> {
        loop {
            let event = self.events.recv().map_err(|_| WatchError::Ended)?;
            if self.is_told(&event) {
                return self.settle();
            }
        }
    }

    /// Waits for about so long, and says whether something changed; if so, it has been quiet again for a moment, or has not
    /// been for long.
    pub fn changed_within(&mut self, wait: Duration) -> Result<bool, WatchError> {
        match self.events.recv_timeout(wait) {
            Ok(event) if self.is_told(&event) => self.settle().map(|()| true),
            Ok(_) | Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => Err(WatchError::Ended),
        }
    }

    /// Waits until the burst is over. One that does not end is told all the same.
    fn settle(&mut self) -> Result<(), WatchError> {
        for _ in 0..BURST_QUIETS_MAX {
            std::thread::sleep(QUIET);
            if self.events.try_iter().filter(|event| self.is_told(event)).count() == 0 {
                break;
            }
        }
        self.watch_roots()
    }

    /// What went wrong while watching may have hidden a change. Where a folder does not exist, its neighbours are of no
    /// interest.
    fn is_told(&self, event: &notify::Result<Event>) -> bool {
        let Ok(event) = event else { return true };
        let is_near = |path: &Path| {
            self.roots.iter().any(|root| path.starts_with(root) || root.as_std_path().starts_with(path))
        };
        is_change(event) && (event.paths.is_empty() || event.paths.iter().any(|path| is_near(path)))
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

/// Reading a file is no change, and neither is what a skill writes for itself while it runs.
fn is_change(event: &Event) -> bool {
    match event.kind {
        EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Any => {
            event.paths.is_empty() || !event.paths.iter().all(|path| is_own_data(path))
        }
        EventKind::Access(_) | EventKind::Other => false,
    }
}

/// Says whether something lies in a folder that a skill keeps its own data in.
fn is_own_data(path: &Path) -> bool {
    let is_data = |folder: &&Path| folder.file_name().is_some_and(|name| name == DATA_FOLDER);
    let is_skill = |folder: &Path| SKILL_FILES.iter().any(|file| folder.join(file).is_file());
    path.ancestors().skip(1).filter(is_data).any(|data| data.parent().is_some_and(is_skill))
}

fn nearest_folder(path: &Utf8Path) -> Option<Utf8PathBuf> {
    path.ancestors().find(|folder| folder.is_dir()).map(Utf8Path::to_owned)
}

/// Events name files by whole paths. A path that cannot be made whole is taken as it is.
fn absolute(path: &Utf8Path) -> Utf8PathBuf {
    let whole = std::path::absolute(path).ok().and_then(|whole| Utf8PathBuf::from_path_buf(whole).ok());
    whole.unwrap_or_else(|| path.to_owned())
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

    #[test]
    fn what_a_skill_writes_for_itself_is_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        for path in ["demo/data/deep", "data/other"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        std::fs::write(root.join("demo/SKILL.md"), "x").unwrap();
        let check = |path: &str, is_own: bool| {
            assert_eq!(is_own_data(root.join(path).as_std_path()), is_own, "{path}");
        };
        check("demo/data/state.json", true);
        check("demo/data/deep/state.json", true);
        check("demo/SKILL.md", false);
        check("demo/data", false);
        check("data/other/SKILL.md", false);
        let mut watcher = Watcher::new(&[root.clone(), root.join("none/skills")]).unwrap();
        std::fs::write(root.join("demo/data/state.json"), "{}").unwrap();
        std::fs::write(root.join("demo/SKILL.md"), "y").unwrap();
        watcher.changed().unwrap();
        assert!(!watcher.changed_within(Duration::from_millis(1)).unwrap());
    }

    #[test]
    fn neighbours_of_a_folder_that_is_not_there_are_of_no_interest() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let mut watcher = Watcher::new(&[root.join("later/skills")]).unwrap();
        std::fs::write(root.join("history"), "x").unwrap();
        std::fs::create_dir(root.join("later")).unwrap();
        watcher.changed().unwrap();
        std::fs::write(root.join("later/notes"), "x").unwrap();
        assert!(!watcher.changed_within(Duration::from_millis(200)).unwrap());
    }
}
