//! `artel.lock` on disk.

use artel_model::limit::LOCK_BYTES_MAX;
use camino::{Utf8Path, Utf8PathBuf};

use super::locked::LockFile;
use super::read::LockProblem;
use crate::file::{Access, write_atomically};
use crate::source::{ReadError, read_file};

/// Why a lock file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    /// It cannot be read.
    #[error("cannot read the lock file")]
    Read(#[source] ReadError),
    /// It is not UTF-8.
    #[error("{0} is not a lock file: it is not UTF-8")]
    NotText(Utf8PathBuf),
    /// It is not what it should be.
    #[error("{path}:{problem}")]
    Damaged {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong, and where.
        problem: LockProblem,
    },
    /// It cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Reads a lock file; nothing when there is none.
pub fn read_lock(path: &Utf8Path) -> Result<Option<LockFile>, LockFileError> {
    let bytes = match read_file(path, LOCK_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing(_)) => return Ok(None),
        Err(error @ (ReadError::Special(_) | ReadError::TooLarge { .. } | ReadError::Io { .. })) => {
            return Err(LockFileError::Read(error));
        }
    };
    let text = String::from_utf8(bytes).map_err(|_| LockFileError::NotText(path.to_owned()))?;
    let damaged = |problem| LockFileError::Damaged { path: path.to_owned(), problem };
    LockFile::parse(&text).map(Some).map_err(damaged)
}

/// Writes a lock file; nobody sees it half written.
pub fn write_lock(path: &Utf8Path, file: &LockFile) -> Result<(), LockFileError> {
    write_atomically(path, file.to_text().as_bytes(), Access::Shared)
        .map_err(|source| LockFileError::Write { path: path.to_owned(), source })
}
