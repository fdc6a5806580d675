//! Puts the files of a skill into a folder, so that its scripts can be started. The folder is there as a whole or not at
//! all.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};

use crate::source::{DiskTree, FileTree, content_hash};

/// Why a folder was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The skill's own files cannot be read.
    #[error("cannot read the files of the skill")]
    Read(#[source] crate::source::ReadError),
    /// A file or folder cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The file or folder.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Writes the files of a skill into `folder`, whose paths have been checked. A folder that holds exactly these files is left
/// as it is; one that holds others is replaced.
pub fn write_tree(tree: &dyn FileTree, folder: &Utf8Path) -> Result<(), WriteError> {
    let expected = content_hash(tree, &tree.listing()).map_err(WriteError::Read)?;
    let holds_it = || {
        let disk = DiskTree::new(folder);
        content_hash(&disk, &disk.listing()).is_ok_and(|found| found == expected)
    };
    if holds_it() {
        return Ok(());
    }
    let failed = |source| WriteError::Write { path: folder.to_owned(), source };
    let parent = folder.parent().unwrap_or(Utf8Path::new("."));
    fs::create_dir_all(parent).map_err(failed)?;
    let draft = tempfile::Builder::new().prefix(".writing-").tempdir_in(parent).map_err(failed)?;
    let inside =
        Utf8Path::from_path(draft.path()).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
    let (fresh, replaced) = (inside.join("fresh"), inside.join("replaced"));
    write_files(tree, &fresh)?;
    // Whatever was there goes with the draft's folder.
    match fs::rename(folder, &replaced) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(failed(source)),
        Ok(()) | Err(_) => {}
    }
    match fs::rename(&fresh, folder) {
        // Somebody else wrote the same meanwhile.
        Err(_) if holds_it() => Ok(()),
        written => written.map_err(failed),
    }
}

fn write_files(tree: &dyn FileTree, folder: &Utf8Path) -> Result<(), WriteError> {
    for file in tree.listing().files {
        let content = tree.read(&file.path, file.size.max(1)).map_err(WriteError::Read)?;
        let path = folder.join(&file.path);
        let failed = |source| WriteError::Write { path: path.clone(), source };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&path, content).map_err(failed)?;
        let mode = if file.is_executable { 0o700 } else { 0o600 };
        fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(failed)?;
    }
    Ok(())
}
