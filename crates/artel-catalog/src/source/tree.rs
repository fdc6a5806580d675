//! What a source of files can do.

use artel_model::diagnostic::Finding;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

/// The files of one skill.
pub trait FileTree: Send + Sync {
    /// Returns every file of the skill, by path, with what is wrong with the folder.
    fn listing(&self) -> Listing;

    /// Returns the content of a file, at most `bytes_max` bytes.
    fn read(&self, path: &Utf8Path, bytes_max: u64) -> Result<Vec<u8>, ReadError>;
}

/// The files of a skill's folder.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The files, by path.
    pub files: Vec<FileEntry>,
    /// Links that lead out of the folder; they are not among the files.
    pub escaping: Vec<Utf8PathBuf>,
    /// Folders that are not part of the skill and were not looked into.
    pub passed_over: Vec<Utf8PathBuf>,
    /// What is wrong with the folder.
    pub findings: Vec<Finding>,
}

/// One file of a skill.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FileEntry {
    /// Its path below the skill's folder.
    pub path: Utf8PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it may be executed.
    pub is_executable: bool,
    /// When it was last changed; nothing for what is inside the binary.
    #[serde(skip)]
    pub modified: Option<std::time::SystemTime>,
    /// Whether it is reached through a link.
    #[serde(skip)]
    pub is_link: bool,
}

impl Listing {
    /// Returns the entry of that path.
    pub fn file(&self, path: &str) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.path == path)
    }
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It does not exist.
    #[error("there is no file `{0}`")]
    Missing(Utf8PathBuf),
    /// It is a pipe, a socket, a device or a folder.
    #[error("`{0}` is not a plain file")]
    Special(Utf8PathBuf),
    /// It is larger than it may be.
    #[error("`{path}` is larger than {bytes_max} bytes")]
    TooLarge {
        /// The file.
        path: Utf8PathBuf,
        /// How large it may be.
        bytes_max: u64,
    },
    /// The operating system refused.
    #[error("cannot read `{path}`")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
