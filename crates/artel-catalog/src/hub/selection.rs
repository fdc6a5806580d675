//! The files that are taken from a hub, filled in one by one as their source reads them.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::limits::HubLimits;
use super::notes::Notes;
use super::path::shown;
use crate::source::MemoryTree;

/// Bytes at the start of a file that tell whether it is text.
const SNIFF_BYTES: usize = 8 * 1024;

/// The files to read, by the numbers that their source knows them by.
#[derive(Clone, Debug)]
pub struct Selection {
    limits: HubLimits,
    folders: Vec<(Utf8PathBuf, MemoryTree)>,
    wanted: BTreeMap<usize, Place>,
    files: usize,
    bytes: u64,
    pub(crate) notes: Notes,
}

/// A file of a skill that is wanted.
#[derive(Clone, Debug)]
pub(crate) struct WantedFile {
    pub(crate) number: usize,
    pub(crate) path: Utf8PathBuf,
    pub(crate) size: u64,
    pub(crate) is_executable: bool,
}

#[derive(Clone, Debug)]
struct Place {
    folder: usize,
    file: WantedFile,
}

/// The skills of a hub, as they were read and before anybody looked into them.
#[derive(Clone, Debug)]
pub struct Gathered {
    pub(crate) folders: Vec<(Utf8PathBuf, MemoryTree)>,
    pub(crate) notes: Notes,
}

impl Selection {
    pub(crate) fn new(limits: HubLimits, notes: Notes) -> Self {
        Self { limits, folders: Vec::new(), wanted: BTreeMap::new(), files: 0, bytes: 0, notes }
    }

    pub(crate) fn take(&mut self, folder: &Utf8Path, files: Vec<WantedFile>) {
        let index = self.folders.len();
        self.folders.push((folder.to_owned(), MemoryTree::default()));
        for file in files {
            self.files += 1;
            self.bytes += file.size;
            self.wanted.insert(file.number, Place { folder: index, file });
        }
    }

    /// Returns how many files are taken.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Returns how many bytes they have.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the numbers of the files that are still to be read, in their order.
    pub fn wanted(&self) -> Vec<usize> {
        self.wanted.keys().copied().collect()
    }

    /// Returns how large a file should be; nothing when it is not wanted.
    pub fn size_of(&self, number: usize) -> Option<u64> {
        self.wanted.get(&number).map(|place| place.file.size)
    }

    /// Fills in a file. One that nobody wants is dropped.
    pub fn add(&mut self, number: usize, content: Vec<u8>) {
        let Some(Place { folder, file }) = self.wanted.remove(&number) else { return };
        let Some((path, tree)) = self.folders.get_mut(folder) else { return };
        if content.len() as u64 > self.limits.text_file_bytes_max && is_text(&content) {
            let bytes_max = self.limits.text_file_bytes_max;
            let name = shown(path.join(&file.path).as_str().as_bytes());
            self.notes.warn(&format!("`{name}` is left out: it is a text of more than {bytes_max} bytes"));
            return;
        }
        tree.add(file.path, content, file.is_executable);
    }

    /// Returns the skills. Those of which a file was not found are skipped.
    pub fn finish(mut self) -> Gathered {
        let mut broken: Vec<usize> = self.wanted.values().map(|place| place.folder).collect();
        broken.sort_unstable();
        broken.dedup();
        for index in broken.into_iter().rev() {
            let (path, _) = self.folders.remove(index);
            self.notes.skip(&path, "one of its files could not be read");
        }
        Gathered { folders: self.folders, notes: self.notes }
    }
}

/// Goes by the start of a file, as git does.
fn is_text(content: &[u8]) -> bool {
    let start = &content[..content.len().min(SNIFF_BYTES)];
    let is_cut = |error: std::str::Utf8Error| error.error_len().is_none() && content.len() > SNIFF_BYTES;
    !start.contains(&0) && std::str::from_utf8(start).map_or_else(is_cut, |_| true)
}
