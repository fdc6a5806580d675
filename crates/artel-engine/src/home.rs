//! Where a skill's files lie on disk, so that its scripts can be started. Skills from inside the binary are unpacked.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;

use artel_catalog::{FileTree, Loaded, Location};
use camino::{Utf8Path, Utf8PathBuf};

/// The name of the folder for what is unpacked, inside the data folder.
const UNPACKED: &str = "builtin";
/// The file that says which content was unpacked.
const MARKER: &str = ".content-hash";

/// Why a skill has no folder.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// It is an entry of a registry file.
    #[error("the skill is defined in `{0}`, which has no folder with scripts")]
    NoFolder(Utf8PathBuf),
    /// Its files cannot be unpacked.
    #[error("cannot unpack the skill into `{path}`")]
    Unpack {
        /// Where.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its folder cannot be found.
    #[error("cannot find the skill's folder `{path}`")]
    Missing {
        /// The folder.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Returns the real folder of a skill, every link followed.
pub(crate) fn home(entry: &Loaded, content_hash: &str, data: &Utf8Path) -> Result<Utf8PathBuf, HomeError> {
    match &entry.location {
        Location::Folder(path) => {
            path.canonicalize_utf8().map_err(|source| HomeError::Missing { path: path.clone(), source })
        }
        Location::RegistryFile { path, .. } => Err(HomeError::NoFolder(path.clone())),
        Location::BuiltIn(name) => {
            let path = data.join(UNPACKED).join(name);
            let failed = |source| HomeError::Unpack { path: path.clone(), source };
            if let Some(tree) = entry.location.tree() {
                unpack(&*tree, content_hash, &path).map_err(failed)?;
            }
            path.canonicalize_utf8().map_err(failed)
        }
    }
}

/// Writes the files of a tree, unless they are there. Each is put in place whole, so that several processes may do so
/// at once. The skill's own `data/` is left alone.
fn unpack(tree: &dyn FileTree, content_hash: &str, folder: &Utf8Path) -> io::Result<()> {
    let marker = folder.join(MARKER);
    if fs::read_to_string(&marker).is_ok_and(|found| found == content_hash) {
        return Ok(());
    }
    for file in tree.listing().files {
        let content = tree.read(&file.path, file.size.max(1)).map_err(io::Error::other)?;
        let mode = if file.is_executable { 0o700 } else { 0o600 };
        write_whole(&folder.join(&file.path), &content, mode)?;
    }
    write_whole(&marker, content_hash.as_bytes(), 0o600)
}

fn write_whole(path: &Utf8Path, content: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.as_file().set_permissions(Permissions::from_mode(mode))?;
    file.persist(path)?;
    Ok(())
}
