//! A skill whose files are in memory: out of a store, an upload or an archive.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::tree::{FileEntry, FileTree, Listing, ReadError};

/// The files of a skill, in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    files: BTreeMap<String, MemoryFile>,
}

#[derive(Clone, Debug)]
struct MemoryFile {
    content: Vec<u8>,
    is_executable: bool,
}

impl MemoryTree {
    /// Adds a file; one that had the same path is replaced.
    pub fn add(&mut self, path: impl Into<Utf8PathBuf>, content: impl Into<Vec<u8>>, is_executable: bool) {
        let file = MemoryFile { content: content.into(), is_executable };
        self.files.insert(path.into().into_string(), file);
    }
}

impl FileTree for MemoryTree {
    fn listing(&self) -> Listing {
        let entry = |(path, file): (&String, &MemoryFile)| FileEntry {
            path: Utf8PathBuf::from(path),
            size: file.content.len() as u64,
            is_executable: file.is_executable,
            modified: None,
            is_link: false,
        };
        Listing { files: self.files.iter().map(entry).collect(), ..Listing::default() }
    }

    fn read(&self, path: &Utf8Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        let file = self.files.get(path.as_str()).ok_or_else(|| ReadError::Missing(path.to_owned()))?;
        if file.content.len() as u64 > bytes_max {
            return Err(ReadError::TooLarge { path: path.to_owned(), bytes_max });
        }
        Ok(file.content.clone())
    }
}
