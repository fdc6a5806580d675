//! The data folder is its owner's alone: what is made in it, and what lies in it from earlier, whatever the umask was then.

use std::ffi::CStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};

use camino::Utf8Path;
use rustix::fs::{Dir, FileType, Mode, OFlags, fchmod, fstat, openat};

use crate::process::{effective_user, set_umask};

/// What others may not do.
const OTHERS: u32 = 0o077;
/// Folders inside each other that are looked into. What is deeper is below a folder that others cannot enter.
const DEPTH_MAX: usize = 40;
/// Files and folders that are looked at.
const ENTRIES_MAX: usize = 500_000;

/// What came of closing a folder to others.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Closed {
    /// Files and folders that others could use before.
    pub changed: usize,
    /// Those that could not be looked at, or were beyond the limits. Others cannot reach them through this folder.
    pub left: usize,
}

/// Lets this process make files and folders for its own user alone.
pub fn keep_files_private() {
    set_umask(OTHERS);
}

/// Makes a folder that only its owner can enter. One that is there and belongs to this user is closed to others.
pub fn make_private_folder(folder: &Utf8Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    close(File::open(folder)?.as_fd()).map(drop)
}

/// Takes the rights of others from everything in a folder that belongs to this user. Links are not followed, files with
/// several names are left alone since another name may lie elsewhere, and nothing is added to what its owner may do.
pub fn close_to_others(folder: &Utf8Path) -> io::Result<Closed> {
    let root = File::open(folder)?;
    let mut closed = Closed { changed: usize::from(close(root.as_fd())?), left: 0 };
    let mut open = vec![Dir::new(OwnedFd::from(root))?];
    let mut seen = 0;
    while let Some(dir) = open.last_mut() {
        let Some(entry) = dir.read() else {
            open.pop();
            continue;
        };
        let Ok(entry) = entry else {
            closed.left += 1;
            open.pop();
            continue;
        };
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        seen += 1;
        if seen > ENTRIES_MAX {
            closed.left += 1;
            return Ok(closed);
        }
        match close_entry(dir, entry.file_name(), entry.file_type()) {
            Ok((is_changed, inner)) => {
                closed.changed += usize::from(is_changed);
                match inner.map(Dir::new) {
                    Some(Ok(inner)) if open.len() < DEPTH_MAX => open.push(inner),
                    Some(_) => closed.left += 1,
                    None => {}
                }
            }
            Err(_) => closed.left += 1,
        }
    }
    Ok(closed)
}

/// Closes one entry of a folder; says whether it was open, and returns it when it is a folder.
fn close_entry(dir: &Dir, name: &CStr, kind: FileType) -> io::Result<(bool, Option<OwnedFd>)> {
    match kind {
        FileType::Directory | FileType::RegularFile | FileType::Unknown => {}
        // A link has no rights of its own, and the others cannot be opened without an effect.
        FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice => return Ok((false, None)),
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let entry = openat(dir.fd()?, name, flags, Mode::empty())?;
    let is_changed = close(entry.as_fd())?;
    let is_folder = FileType::from_raw_mode(fstat(&entry)?.st_mode) == FileType::Directory;
    Ok((is_changed, is_folder.then_some(entry)))
}

/// Takes the rights of others; says whether they had any.
fn close(entry: std::os::fd::BorrowedFd<'_>) -> io::Result<bool> {
    let metadata = File::from(entry.try_clone_to_owned()?).metadata()?;
    let is_own = metadata.uid() == effective_user();
    let is_alone = metadata.is_dir() || (metadata.is_file() && metadata.nlink() == 1);
    if !is_own || !is_alone || metadata.mode() & OTHERS == 0 {
        return Ok(false);
    }
    fchmod(entry, Mode::from_raw_mode(metadata.mode() & 0o700))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use camino::Utf8PathBuf;

    use super::*;

    fn mode(path: &Utf8Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    fn set(path: &Utf8Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn an_old_folder_is_closed_to_others_and_nothing_outside_is_touched() {
        let place = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(place.path().to_owned()).unwrap();
        let data = base.join("data");
        fs::create_dir_all(data.join("hubs/a")).unwrap();
        for (path, open) in [("artel.db", 0o666), ("hubs/a/run.sh", 0o755), ("hubs/a/odd", 0o6755)] {
            fs::write(data.join(path), "x").unwrap();
            set(&data.join(path), open);
        }
        fs::write(base.join("outside"), "x").unwrap();
        set(&base.join("outside"), 0o644);
        symlink(base.join("outside"), data.join("link")).unwrap();
        symlink(&base, data.join("folder-link")).unwrap();
        fs::hard_link(base.join("outside"), data.join("second-name")).unwrap();
        for folder in [&data, &data.join("hubs"), &data.join("hubs/a")] {
            set(folder, 0o777);
        }
        let closed = close_to_others(&data).unwrap();
        assert_eq!(closed, Closed { changed: 6, left: 0 });
        for (path, expected) in [
            ("", 0o700),
            ("hubs", 0o700),
            ("hubs/a", 0o700),
            ("artel.db", 0o600),
            ("hubs/a/run.sh", 0o700),
            ("hubs/a/odd", 0o700),
        ] {
            assert_eq!(mode(&data.join(path)), expected, "{path}");
        }
        assert_eq!(mode(&base.join("outside")), 0o644, "neither a link nor a second name leads outside");
        assert_eq!(close_to_others(&data).unwrap(), Closed::default());
    }

    #[test]
    fn what_is_too_deep_is_counted_and_not_entered() {
        let place = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(place.path().to_owned()).unwrap();
        fs::create_dir_all(base.join("d/".repeat(60))).unwrap();
        let closed = close_to_others(&base).unwrap();
        assert_eq!(closed.left, 1, "{closed:?}");
    }

    #[test]
    fn a_private_folder_is_private_also_when_it_was_there() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(place.path().join("a/b")).unwrap();
        make_private_folder(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700);
        set(&folder, 0o755);
        make_private_folder(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700);
    }
}
