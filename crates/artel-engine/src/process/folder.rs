//! The size of folders, measured in small steps so that the launcher is never busy for long. Goes from folder to folder by
//! descriptor, so that no path is too long for it, and follows no links.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

/// Entries that are looked at in one step.
const ENTRIES_A_STEP: usize = 1000;
/// Folders inside each other that are followed, as each takes a descriptor. What is nested deeper is too deep.
pub(super) const DEPTH_MAX: usize = 256;
/// An entry takes room even when it is empty.
const ENTRY_BYTES_MIN: u64 = 512;
const BLOCK_BYTES: u64 = 512;

/// Returns the bytes of folders and all that is in them, or more than `enough` as soon as there are more; what is nested too
/// deeply to be measured counts as more.
pub(crate) fn folder_bytes(folders: Vec<PathBuf>, enough: u64) -> u64 {
    let mut measure = FolderMeasure::begin(folders);
    loop {
        match measure.step() {
            Progress::AtLeast(bytes) if bytes <= enough => {}
            Progress::AtLeast(bytes) | Progress::Total(bytes) => return bytes,
            Progress::TooDeep => return u64::MAX,
        }
    }
}

/// A measurement on its way.
#[derive(Debug)]
pub(super) struct FolderMeasure {
    folders: Vec<PathBuf>,
    open: Vec<Open>,
    bytes: u64,
}

#[derive(Debug)]
struct Open {
    folder: OwnedFd,
    entries: Dir,
}

/// How far a measurement is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Progress {
    /// At least this many bytes; there is more to look at.
    AtLeast(u64),
    /// This many bytes.
    Total(u64),
    /// Folders are nested too deeply to be measured.
    TooDeep,
}

impl FolderMeasure {
    /// Begins to measure folders and all that is in them.
    pub(super) fn begin(folders: Vec<PathBuf>) -> Self {
        Self { folders, open: Vec::new(), bytes: 0 }
    }

    /// Looks at some more entries.
    pub(super) fn step(&mut self) -> Progress {
        for _ in 0..ENTRIES_A_STEP {
            let Some(last) = self.open.last_mut() else {
                let Some(next) = self.folders.pop() else { return Progress::Total(self.bytes) };
                self.open.extend(Open::at(CWD, next.as_path()));
                continue;
            };
            match last.entries.next() {
                None => drop(self.open.pop()),
                Some(Err(_)) => {}
                Some(Ok(entry)) => {
                    let (bytes, inner) = last.count(entry.file_name());
                    self.bytes += bytes;
                    if inner.is_some() && self.open.len() >= DEPTH_MAX {
                        return Progress::TooDeep;
                    }
                    self.open.extend(inner);
                }
            }
        }
        Progress::AtLeast(self.bytes)
    }
}

impl Open {
    fn at(parent: impl AsFd, name: impl rustix::path::Arg) -> Option<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let place = openat(parent, name, flags | OFlags::PATH, Mode::empty()).ok()?;
        let open = || openat(&place, c".", flags, Mode::empty());
        let folder = match open() {
            // What the owner has locked is measured too.
            Err(Errno::ACCESS) => unlock(&place).and_then(|()| open()),
            other => other,
        };
        let folder = folder.ok()?;
        let entries = Dir::read_from(&folder).ok()?;
        Some(Self { folder, entries })
    }

    /// Returns the bytes of an entry, and the entry when it is a folder.
    fn count(&self, name: &CStr) -> (u64, Option<Self>) {
        if name == c"." || name == c".." {
            return (0, None);
        }
        let Ok(status) = statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return (0, None) };
        let blocks = u64::try_from(status.st_blocks).unwrap_or(0);
        let is_folder = FileType::from_raw_mode(status.st_mode) == FileType::Directory;
        let inner = if is_folder { Self::at(&self.folder, name) } else { None };
        ((blocks * BLOCK_BYTES).max(ENTRY_BYTES_MIN), inner)
    }
}

/// Lets the owner of a folder list it. The link leads to exactly this folder.
fn unlock(place: &OwnedFd) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(statat(place, c"", AtFlags::EMPTY_PATH)?.st_mode & 0o7777);
    let link = format!("/proc/self/fd/{}", place.as_raw_fd());
    rustix::fs::chmodat(CWD, link, mode | Mode::RUSR | Mode::XUSR, AtFlags::empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn total(mut measure: FolderMeasure) -> (u64, usize) {
        for steps in 1.. {
            match measure.step() {
                Progress::AtLeast(_) => {}
                Progress::Total(bytes) => return (bytes, steps),
                Progress::TooDeep => panic!("the folder is not deep"),
            }
        }
        unreachable!("a folder has an end")
    }

    #[test]
    fn bytes_and_entries_count_and_links_do_not() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("inner/file"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink("/usr", folder.path().join("link")).unwrap();
        let (bytes, _) = total(FolderMeasure::begin(vec![folder.path().to_owned()]));
        assert!((1 << 20..2 << 20).contains(&bytes), "{bytes}");
        assert_eq!(total(FolderMeasure::begin(vec!["/does/not/exist".into()])).0, 0);
    }

    #[test]
    fn many_entries_take_many_steps() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..2500 {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let (bytes, steps) = total(FolderMeasure::begin(vec![folder.path().to_owned()]));
        assert!(bytes >= 2500 * ENTRY_BYTES_MIN);
        assert_eq!(steps, 3);
    }

    #[test]
    fn what_is_nested_too_deeply_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let measure = |depth: usize| {
            let top = folder.path().join(depth.to_string());
            fs::create_dir_all(top.join("d/".repeat(depth))).unwrap();
            fs::write(top.join("d/".repeat(depth)).join("file"), vec![1; 1 << 20]).unwrap();
            let mut measure = FolderMeasure::begin(vec![top]);
            std::iter::repeat_with(|| measure.step())
                .find(|step| !matches!(step, Progress::AtLeast(_)))
                .unwrap()
        };
        assert!(matches!(measure(DEPTH_MAX - 1), Progress::Total(1_048_576..)));
        assert_eq!(measure(DEPTH_MAX), Progress::TooDeep);
    }
}
