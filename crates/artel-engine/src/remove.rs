//! Removes folders that hostile programs filled: any depth and any names, without recursion, by descriptor, with two
//! folders open at once.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use camino::Utf8Path;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, unlinkat};

/// A folder on the way down: which it is, what it is called in the one above, and the folders in it that are left.
struct Level {
    identity: (u64, u64),
    name: CString,
    left: Vec<CString>,
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
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
        fs::create_dir(&folder).unwrap();
        let name = std::ffi::OsStr::from_bytes(b"\xff\xfe");
        let mut inner = OwnedFd::from(fs::File::open(&folder).unwrap());
        for _ in 0..18_000 {
            rustix::fs::mkdirat(&inner, name, Mode::RWXU).unwrap();
            inner = openat(&inner, name, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        }
        drop(inner);
        let removal = std::thread::Builder::new().stack_size(64 * 1024);
        removal.spawn(move || remove_folder(&folder).unwrap()).unwrap().join().unwrap();
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    }
}
