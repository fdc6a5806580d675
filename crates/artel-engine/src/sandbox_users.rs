//! Which user a script runs as where artel is root: one of its own for each data folder, so that no two who keep data apart
//! share a user. The choice is kept beside the data, as a link named by the user that says whose it is; making a link is
//! atomic, so several processes agree. Knows nothing of how a process becomes that user.

use std::ffi::CStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, symlink};

use artel_model::user_range::UserRange;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, openat, statat};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::process::effective_user;

/// The folder of all choices, inside artel's data folder.
const FOLDER: &str = "sandbox-users";
/// Users that are tried for a folder before the range counts as used up.
const TRIES_MAX: usize = 4096;
/// Folders inside each other that are given to a user, as each takes a descriptor.
const DEPTH_MAX: usize = 300;

/// The users of the scripts of one data folder of artel.
#[derive(Clone, Debug)]
pub struct SandboxUsers {
    range: UserRange,
    choices: Utf8PathBuf,
}

/// Why there is no user for a folder.
#[derive(Debug, Error)]
pub enum SandboxUserError {
    /// All are taken.
    #[error("no user is left in the range {0}: widen `sandbox_users`")]
    UsedUp(UserRange),
    /// The choice cannot be kept.
    #[error("cannot keep in `{path}` which user a folder belongs to")]
    Keep {
        /// Where.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder cannot be given away.
    #[error("cannot give `{folder}` to the user {user}")]
    Give {
        /// The folder.
        folder: Utf8PathBuf,
        /// The user.
        user: u32,
        /// Why.
        source: io::Error,
    },
}

impl SandboxUsers {
    /// Returns the users of a range for the scripts of artel's data folder.
    pub fn new(range: UserRange, data: &Utf8Path) -> Self {
        Self { range, choices: data.join(FOLDER) }
    }

    /// Returns the user that a folder belongs to, and gives the folder with all that is in it to that user. `name` is what
    /// the folder is known by, the same whenever it is asked for.
    pub fn own(&self, name: &str, folder: &Utf8Path) -> Result<u32, SandboxUserError> {
        let give = |user, source| SandboxUserError::Give { folder: folder.to_owned(), user, source };
        let owner = fs::symlink_metadata(folder).map_err(|source| give(0, source))?.uid();
        if self.range.contains(owner) && self.is_of(owner, name) {
            return Ok(owner);
        }
        let user = self.choose(name)?;
        give_folder(folder, user, user).map_err(|source| give(user, source))?;
        Ok(user)
    }

    /// Frees the user of a folder that is gone.
    pub fn free(&self, user: u32, name: &str) {
        if self.is_of(user, name) {
            // A choice that stays behind only keeps one user of the range.
            let _ = fs::remove_file(self.choice(user));
        }
    }

    fn choose(&self, name: &str) -> Result<u32, SandboxUserError> {
        let keep = |source| SandboxUserError::Keep { path: self.choices.clone(), source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.choices).map_err(keep)?;
        for user in self.range.from_seed(self.seed(name)).take(TRIES_MAX) {
            match symlink(name, self.choice(user)) {
                Ok(()) => return Ok(user),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if self.is_of(user, name) {
                        return Ok(user);
                    }
                }
                Err(error) => return Err(keep(error)),
            }
        }
        Err(SandboxUserError::UsedUp(self.range))
    }

    /// Two data folders of artel on one machine begin at different users.
    fn seed(&self, name: &str) -> u64 {
        let hash =
            Sha256::new().chain_update(self.choices.as_str()).chain_update([0]).chain_update(name).finalize();
        let (words, _) = hash.as_slice().as_chunks::<8>();
        words.first().copied().map_or(0, u64::from_le_bytes)
    }

    fn choice(&self, user: u32) -> Utf8PathBuf {
        self.choices.join(user.to_string())
    }

    fn is_of(&self, user: u32, name: &str) -> bool {
        fs::read_link(self.choice(user)).is_ok_and(|found| found.as_os_str() == name)
    }
}

/// Frees the user of a folder that is about to go, whichever range it is from.
pub(crate) fn free_user(data: &Utf8Path, user: u32, name: &str) {
    SandboxUsers::new(UserRange::USUAL, data).free(user, name);
}

/// Says whether users that own none of a skill's programs can execute all of them. Those in artel's own data folder are made
/// so: no other user can enter that folder, and a file that may only be executed tells nothing.
pub(crate) fn all_executable(
    mut programs: impl Iterator<Item = Utf8PathBuf>,
    home: &Utf8Path,
    data: &Utf8Path,
) -> bool {
    programs.all(|program| {
        let Ok(found) = fs::symlink_metadata(&program) else { return true };
        let mode = found.permissions().mode();
        if !found.is_file() || mode & 0o111 == 0 || mode & 0o001 != 0 {
            return true;
        }
        let is_ours = data.canonicalize_utf8().is_ok_and(|data| home.starts_with(data));
        is_ours && fs::set_permissions(&program, Permissions::from_mode(mode & 0o7777 | 0o011)).is_ok()
    })
}

/// Takes a folder back, so that it is given away whole the next time: what is made in it meanwhile belongs to artel.
pub(crate) fn take_back(folder: &Utf8Path) -> io::Result<()> {
    let own = effective_user();
    if own == 0 && fs::symlink_metadata(folder)?.uid() != own {
        std::os::unix::fs::lchown(folder, Some(own), Some(own))?;
    }
    Ok(())
}

/// Gives a folder and all that is in it to a user and a group. Links are given, not followed; files with
/// several names stay as they are, since another name may lie elsewhere. The folder itself comes last: as long as it is not
/// given, the work is not done.
pub fn give_folder(folder: &Utf8Path, user: u32, group: u32) -> io::Result<()> {
    let root = open_folder(CWD, folder.as_std_path())?;
    let mut open = vec![Dir::read_from(root.as_fd())?];
    while let Some(dir) = open.last_mut() {
        let Some(entry) = dir.read() else {
            open.pop();
            continue;
        };
        let entry = entry?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        let inner = give_entry(dir, entry.file_name(), (user, group))?;
        if inner.is_some() && open.len() >= DEPTH_MAX {
            return Err(io::Error::other(format!("more than {DEPTH_MAX} folders are inside each other")));
        }
        open.extend(inner.map(Dir::new).transpose()?);
    }
    give(&root, (user, group))
}

/// Gives one entry of a folder, and returns it when it is a folder.
fn give_entry(dir: &Dir, name: &CStr, owner: (u32, u32)) -> io::Result<Option<OwnedFd>> {
    let folder = dir.fd()?;
    let status = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_folder = FileType::from_raw_mode(status.st_mode) == FileType::Directory;
    if !is_folder && status.st_nlink > 1 {
        return Ok(None);
    }
    let place = openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    give(&place, owner)?;
    if is_folder { open_folder(&place, c".").map(Some) } else { Ok(None) }
}

fn open_folder(parent: impl std::os::fd::AsFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

fn give(place: &OwnedFd, (user, group): (u32, u32)) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    Ok(chownat(place, c"", Some(user), Some(group), AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(place.path()).unwrap().to_owned();
        (place, path)
    }

    fn owner(path: &Utf8Path) -> (u32, u32) {
        let found = fs::symlink_metadata(path).unwrap();
        (found.uid(), found.gid())
    }

    fn is_root() -> bool {
        let is_root = effective_user() == 0;
        if !is_root {
            eprintln!("only root can give folders away: not checked");
        }
        is_root
    }

    #[test]
    fn a_choice_stays_and_is_never_anothers() {
        let (_place, data) = place();
        let users = SandboxUsers::new("20000-20002".parse().unwrap(), &data);
        let [a, b, c] = ["a", "b", "c"].map(|name| users.choose(name).unwrap());
        assert!(a != b && b != c && a != c);
        assert_eq!(["c", "b", "a"].map(|name| users.choose(name).unwrap()), [c, b, a]);
        assert!(matches!(users.choose("d"), Err(SandboxUserError::UsedUp(_))));
        free_user(&data, b, "a");
        assert!(
            matches!(users.choose("d"), Err(SandboxUserError::UsedUp(_))),
            "only its owner's user is freed"
        );
        free_user(&data, b, "b");
        assert_eq!(users.choose("d").unwrap(), b);
    }

    #[test]
    fn many_processes_agree() {
        let (_place, data) = place();
        let users = SandboxUsers::new(UserRange::USUAL, &data);
        let chosen: Vec<u32> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| users.choose("one").unwrap())).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(chosen.iter().all(|user| *user == chosen[0]), "{chosen:?}");
        assert_eq!(fs::read_dir(&users.choices).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_given_with_all_that_is_in_it_and_nothing_outside() {
        if !is_root() {
            return;
        }
        let (_place, data) = place();
        let folder = data.join("folder");
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/b/file"), "x").unwrap();
        fs::write(data.join("outside"), "x").unwrap();
        symlink(data.join("outside"), folder.join("a/link")).unwrap();
        symlink(&data, folder.join("folder-link")).unwrap();
        fs::hard_link(data.join("outside"), folder.join("second-name")).unwrap();
        let users = SandboxUsers::new("20000-29999".parse().unwrap(), &data);
        let user = users.own("folder", &folder).unwrap();
        for path in ["", "a", "a/b", "a/b/file", "a/link"] {
            assert_eq!(owner(&folder.join(path)), (user, user), "{path}");
        }
        assert_eq!(owner(&data.join("outside")), (0, 0));
        assert_eq!(owner(&data), (0, 0));
        assert_eq!(users.own("folder", &folder).unwrap(), user);
        // What artel itself made while the users were switched off is given away too.
        take_back(&folder).unwrap();
        fs::write(folder.join("late"), "x").unwrap();
        assert_eq!(users.own("folder", &folder).unwrap(), user);
        assert_eq!(owner(&folder.join("late")), (user, user));
        // Another range is another user.
        let others = SandboxUsers::new("30000-39999".parse().unwrap(), &data);
        let other = others.own("folder", &folder).unwrap();
        assert!((30_000..40_000).contains(&other));
        assert_eq!(owner(&folder.join("a/b/file")), (other, other));
    }
}
