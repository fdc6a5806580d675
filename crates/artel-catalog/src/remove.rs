//! Removes folders that hostile programs filled: any depth and any names, without recursion, by descriptor, with two
//! folders open at once.

use std::ffi::{CStr, CString};
use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, unlinkat};
use uuid::Uuid;

/// A folder on the way down: which it is, what it is called in the one above, and the folders in it that are left.
struct Level {
    identity: (u64, u64),
    name: CString,
    left: Vec<CString>,
}

/// A folder for something that takes a while, removed with all that is in it. Programs of others may fill it.
#[derive(Debug)]
pub struct ScratchFolder {
    path: Utf8PathBuf,
}

impl ScratchFolder {
    /// Makes a folder of its own, for its owner alone, in one that is there. The name begins with `prefix`.
    pub fn make_in(place: &Utf8Path, prefix: &str) -> io::Result<Self> {
        let path = place.join(format!("{prefix}{}", Uuid::new_v4()));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    /// Returns where it is.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Leaves the folder as it is.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // What cannot be removed is removed with the folder that it is in.
        let _ = remove_folder(&self.path);
    }
}

/// Removes a folder as [`remove_folder`] does; a folder that is not there is no error.
pub fn remove_folder_if_there(folder: &Utf8Path) -> io::Result<()> {
    match remove_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes a folder and all that is in it. Links are removed, not followed; a link in place of the folder is an error.
///
/// Goes down by name and up by `..`, so that neither a path nor the stack nor the number of open folders grows with the
/// depth. A folder that is moved elsewhere meanwhile is an error.
pub fn remove_folder(folder: &Utf8Path) -> io::Result<()> {
    let name = CString::new(folder.as_str())?;
    let mut current = open_own(CWD, &name)?;
    let mut levels = vec![Level::of(&current, name)?];
    while let Some(level) = levels.last_mut() {
        if let Some(inner) = level.left.pop() {
            current = open_own(&current, &inner)?;
            levels.push(Level::of(&current, inner)?);
            continue;
        }
        let name = std::mem::take(&mut level.name);
        levels.pop();
        let Some(above) = levels.last() else { return Ok(unlinkat(CWD, &name, AtFlags::REMOVEDIR)?) };
        current = openat(&current, c"..", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        if identity(&current)? != above.identity {
            return Err(io::Error::other(format!(
                "a folder inside `{folder}` was moved while it was removed"
            )));
        }
        unlinkat(&current, &name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

impl Level {
    /// Removes the files of a folder, and notes the folders in it.
    fn of(folder: &OwnedFd, name: CString) -> io::Result<Self> {
        Ok(Self { identity: identity(folder)?, name, left: remove_files(folder)? })
    }
}

fn identity(folder: &OwnedFd) -> io::Result<(u64, u64)> {
    let status = rustix::fs::statat(folder, c"", AtFlags::EMPTY_PATH)?;
    Ok((status.st_dev, status.st_ino))
}

/// Opens a folder, whatever its owner has allowed himself.
fn open_own(parent: impl std::os::fd::AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat(parent, name, flags | OFlags::PATH, Mode::empty())?;
    // A descriptor of this kind cannot be given a mode, but the link to it leads to exactly this folder.
    let link = format!("/proc/self/fd/{}", place.as_raw_fd());
    rustix::fs::chmodat(CWD, link, Mode::RWXU, AtFlags::empty())?;
    Ok(openat(&place, c".", flags | OFlags::RDONLY, Mode::empty())?)
}

/// Removes the files of a folder, and returns the names of the folders in it.
fn remove_files(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut folders = Vec::new();
    for entry in Dir::read_from(folder.as_fd())? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if kind(folder, name, entry.file_type())? == FileType::Directory {
            folders.push(name.to_owned());
        } else {
            unlinkat(folder, name, AtFlags::empty())?;
        }
    }
    Ok(folders)
}

/// Returns what an entry is; some file systems do not say so in the listing.
fn kind(folder: &OwnedFd, name: &CStr, listed: FileType) -> io::Result<FileType> {
    if listed != FileType::Unknown {
        return Ok(listed);
    }
    let status = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(status.st_mode))
}

/// Folders inside each other that a recursive removal does not survive on a small stack.
#[cfg(test)]
pub(crate) const DEEP: usize = 800;

/// Makes a folder with so many inside each other, whose names are no text.
#[cfg(test)]
pub(crate) fn make_deep(folder: &Utf8Path, depth: usize) {
    use std::os::unix::ffi::OsStrExt as _;
    std::fs::create_dir_all(folder).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    let mut inner = OwnedFd::from(std::fs::File::open(folder).unwrap());
    for _ in 0..depth {
        rustix::fs::mkdirat(&inner, name, Mode::RWXU).unwrap();
        inner = openat(&inner, name, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    }
}

/// Does something where nothing that goes down folder by folder on the stack comes far.
#[cfg(test)]
pub(crate) fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(128 * 1024).spawn(work).unwrap().join().unwrap()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn place() -> (tempfile::TempDir, camino::Utf8PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(place.path()).unwrap().to_owned();
        (place, path)
    }

    #[test]
    fn folders_of_any_depth_are_removed_and_links_are_not_followed() {
        let (_place, place) = place();
        fs::create_dir_all(place.join("kept")).unwrap();
        fs::write(place.join("kept/file"), "x").unwrap();
        let folder = place.join("folder");
        fs::create_dir_all(folder.join("a/b/c")).unwrap();
        fs::create_dir_all(folder.join("a/d")).unwrap();
        fs::write(folder.join("a/b/file"), "x").unwrap();
        symlink(place.join("kept"), folder.join("a/link")).unwrap();
        fs::set_permissions(folder.join("a/b"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::create_dir_all(folder.join("n/".repeat(1500))).unwrap();
        remove_folder(&folder).unwrap();
        assert!(!folder.exists());
        assert_eq!(fs::read_to_string(place.join("kept/file")).unwrap(), "x");
        symlink(place.join("kept"), &folder).unwrap();
        assert!(remove_folder(&folder).is_err());
        assert_eq!(fs::read_to_string(place.join("kept/file")).unwrap(), "x");
    }

    #[test]
    fn eighteen_thousand_folders_with_names_that_are_no_text_are_removed_on_a_small_stack() {
        let (_place, place) = place();
        let folder = place.join("folder");
        make_deep(&folder, 18_000);
        on_a_small_stack(move || remove_folder(&folder).unwrap());
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    }

    #[test]
    fn a_scratch_folder_goes_with_whatever_a_program_left_in_it() {
        let (_place, place) = place();
        let scratch = ScratchFolder::make_in(&place, "x-").unwrap();
        assert_eq!(fs::metadata(scratch.path()).unwrap().permissions().mode() & 0o777, 0o700);
        make_deep(&scratch.path().join("deep"), DEEP);
        on_a_small_stack(move || drop(scratch));
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    }
}
