//! Carries a plan out: every file is replaced in one step, and nothing is overwritten that the plan did not see.

use std::fs::OpenOptions;
use std::io::Error;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

use camino::{Utf8Path, Utf8PathBuf};

use super::change::Fix;
use super::plan::{Edit, FixPlan, is_taken};
use crate::file::{Access, write_atomically};
use crate::source::{DiskTree, FileTree, ReadError};

/// Why a plan was not carried out in full.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    /// A file could not be compared with what the plan saw; nothing was changed.
    #[error("cannot look at the skill again before mending it")]
    Read(#[source] ReadError),
    /// A file is not what the plan saw; nothing was changed.
    #[error("`{0}` has changed in the meantime; nothing was mended")]
    Changed(Utf8PathBuf),
    /// Something lies where a file or the folder should go.
    #[error("`{0}` exists already")]
    Taken(Utf8PathBuf),
    /// A file could not be replaced.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: Error,
    },
    /// A file could not be made executable.
    #[error("cannot make `{path}` executable")]
    Permissions {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: Error,
    },
    /// A file or the folder could not be renamed.
    #[error("cannot rename `{from}` to `{to}`")]
    Rename {
        /// What was to be renamed.
        from: Utf8PathBuf,
        /// Its name afterwards.
        to: Utf8PathBuf,
        /// Why.
        source: Error,
    },
}

/// Carries out a plan; returns the folder, by its name afterwards. Of skills inside a skill the inner ones come first.
///
/// Everything is checked before anything is changed. Should a step fail all the same, the steps before it are done
/// and whole, and planning again gives the rest.
pub fn apply_fixes(plan: &FixPlan) -> Result<Utf8PathBuf, FixError> {
    check(plan)?;
    for edit in &plan.edits {
        replace(&plan.folder, edit)?;
    }
    let mut folder = plan.folder.clone();
    for fix in &plan.fixes {
        match fix {
            Fix::ByteOrderMarkRemoved { .. }
            | Fix::Quoted { .. }
            | Fix::NameChanged { .. }
            | Fix::FieldMoved { .. } => {}
            Fix::MadeExecutable { path } => make_executable(&folder.join(path))?,
            Fix::FileRenamed { from, to } => rename(&folder.join(from), &folder.join(to))?,
            Fix::FolderRenamed { from, to } => {
                let target = folder.with_file_name(to.as_str());
                rename(&folder.with_file_name(from), &target)?;
                folder = target;
            }
        }
    }
    Ok(folder)
}

fn check(plan: &FixPlan) -> Result<(), FixError> {
    let tree = DiskTree::new(&*plan.folder);
    for edit in &plan.edits {
        let path = plan.folder.join(&edit.path);
        let content = tree.read(&edit.path, edit.before.len().max(1) as u64);
        let is_same = match content {
            Ok(content) => content == edit.before && !path.is_symlink(),
            Err(ReadError::TooLarge { .. }) => false,
            Err(error @ (ReadError::Missing(_) | ReadError::Special(_) | ReadError::Io { .. })) => {
                return Err(FixError::Read(error));
            }
        };
        if !is_same {
            return Err(FixError::Changed(path));
        }
    }
    for fix in &plan.fixes {
        let (own, target) = match fix {
            Fix::FileRenamed { from, to } => (plan.folder.join(from), plan.folder.join(to)),
            Fix::FolderRenamed { from, to } => {
                (plan.folder.with_file_name(from), plan.folder.with_file_name(to.as_str()))
            }
            Fix::ByteOrderMarkRemoved { .. }
            | Fix::Quoted { .. }
            | Fix::NameChanged { .. }
            | Fix::FieldMoved { .. }
            | Fix::MadeExecutable { .. } => continue,
        };
        if is_taken(&target, &own) {
            return Err(FixError::Taken(target));
        }
    }
    Ok(())
}

/// Writes a file beside the old one and moves it there: whoever reads sees one or the other.
fn replace(folder: &Utf8Path, edit: &Edit) -> Result<(), FixError> {
    let path = folder.join(&edit.path);
    write_atomically(&path, edit.after.as_bytes(), Access::Shared)
        .map_err(|source| FixError::Write { path, source })
}

/// Lets everybody execute the file who may read it.
fn make_executable(path: &Utf8Path) -> Result<(), FixError> {
    let change = || -> Result<(), Error> {
        // A link that was put in the file's place meanwhile is not followed, and a pipe does not block.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let mut permissions = file.metadata()?.permissions();
        let mode = permissions.mode();
        permissions.set_mode(mode | (mode & 0o444) >> 2);
        file.set_permissions(permissions)
    };
    change().map_err(|source| FixError::Permissions { path: path.to_owned(), source })
}

fn rename(from: &Utf8Path, to: &Utf8Path) -> Result<(), FixError> {
    if is_taken(to, from) {
        return Err(FixError::Taken(to.to_owned()));
    }
    let failed = |source| FixError::Rename { from: from.to_owned(), to: to.to_owned(), source };
    std::fs::rename(from, to).map_err(failed)
}
