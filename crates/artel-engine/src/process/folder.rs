//! The size of folders, measured in small steps so that the launcher is never busy for long. Follows no links.

use std::fs::{self, ReadDir};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Entries that are looked at in one step.
const ENTRIES_A_STEP: usize = 1000;
/// Folders inside each other that are followed; a process cannot hide bytes deeper, as each level is a folder to open.
const DEPTH_MAX: usize = 256;
/// An entry takes room even when it is empty.
const ENTRY_BYTES_MIN: u64 = 512;
const BLOCK_BYTES: u64 = 512;

/// A measurement on its way.
#[derive(Debug)]
pub(super) struct FolderMeasure {
    folders: Vec<PathBuf>,
    open: Vec<ReadDir>,
    bytes: u64,
}

/// How far a measurement is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Progress {
    /// At least this many bytes; there is more to look at.
    AtLeast(u64),
    /// This many bytes.
    Total(u64),
}

impl FolderMeasure {
    /// Begins to measure folders and all that is in them.
    pub(super) fn begin(folders: Vec<PathBuf>) -> Self {
        Self { folders, open: Vec::new(), bytes: 0 }
    }

    /// Looks at some more entries.
    pub(super) fn step(&mut self) -> Progress {
        for _ in 0..ENTRIES_A_STEP {
            let Some(folder) = self.open.last_mut() else {
                let Some(next) = self.folders.pop() else { return Progress::Total(self.bytes) };
                self.open.extend(fs::read_dir(next));
                continue;
            };
            match folder.next() {
                None => drop(self.open.pop()),
                Some(Err(_)) => {}
                Some(Ok(entry)) => self.count(&entry),
            }
        }
        Progress::AtLeast(self.bytes)
    }

    fn count(&mut self, entry: &fs::DirEntry) {
        let Ok(metadata) = entry.metadata() else { return };
        self.bytes += (metadata.blocks() * BLOCK_BYTES).max(ENTRY_BYTES_MIN);
        if metadata.is_dir() && self.open.len() < DEPTH_MAX {
            self.open.extend(fs::read_dir(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(mut measure: FolderMeasure) -> (u64, usize) {
        for steps in 1.. {
            if let Progress::Total(bytes) = measure.step() {
                return (bytes, steps);
            }
        }
        unreachable!("a folder has an end")
    }

    #[test]
    fn bytes_and_entries_count_and_links_do_not() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("inner/file"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink("/usr", folder.path().join("link")).unwrap();
        let (bytes, _) = total(FolderMeasure::begin(vec![folder.path().to_owned()]));
        assert!((1 << 20..2 << 20).contains(&bytes), "{bytes}");
        assert_eq!(total(FolderMeasure::begin(vec!["/does/not/exist".into()])).0, 0);
    }

    #[test]
    fn many_entries_take_many_steps() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..2500 {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let (bytes, steps) = total(FolderMeasure::begin(vec![folder.path().to_owned()]));
        assert!(bytes >= 2500 * ENTRY_BYTES_MIN);
        assert_eq!(steps, 3);
    }
}
