//! The folders that attempts run in: each attempt has one of its own. An attempt that left nothing behind leaves its
//! folder to the next one of the same skill, as making and removing folders costs as much as a small script.
//!
//! Knows nothing of what is done in them.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use artel_catalog::remove_folder;
use artel_model::name::SkillName;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::sync::{Semaphore, SemaphorePermit};
use uuid::Uuid;

/// Empty folders that wait for an attempt.
const IDLE_MAX: usize = 64;
/// Folders that may wait to be cleared away; the ends of further attempts wait with them.
const CLEARINGS_MAX: usize = 16;

/// The folders of all attempts.
pub(crate) struct AttemptFolders {
    root: Utf8PathBuf,
    idle: Mutex<BTreeMap<Tenant, Vec<Utf8PathBuf>>>,
    clearings: Semaphore,
}

/// The folder of one attempt. When it is dropped and not cleared away, it stays until the root is removed.
pub(crate) struct AttemptFolder {
    tenant: Tenant,
    path: Utf8PathBuf,
}

/// Whose attempts may have the same folder, one after the other: a skill, as one user where it has a user of its own.
type Tenant = (SkillName, Option<u32>);

impl AttemptFolder {
    /// Returns where it is.
    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }
}

impl AttemptFolders {
    /// Makes folders below `root`, which has to be there.
    pub(crate) fn new(root: Utf8PathBuf) -> Self {
        Self { root, idle: Mutex::default(), clearings: Semaphore::new(CLEARINGS_MAX) }
    }

    /// Returns an empty folder that belongs to the user.
    pub(crate) fn take(&self, skill: &SkillName, user: Option<u32>) -> io::Result<AttemptFolder> {
        let tenant = (skill.clone(), user);
        let idle = self.idle().get_mut(&tenant).and_then(Vec::pop);
        let path = match idle {
            Some(path) => path,
            None => {
                let path = self.root.join(Uuid::new_v4().to_string());
                fs::create_dir(&path)?;
                if user.is_some() {
                    std::os::unix::fs::lchown(&path, user, user)?;
                }
                path
            }
        };
        Ok(AttemptFolder { tenant, path })
    }

    /// Waits until a folder may be left to be cleared away. Taken before the end of an attempt is told, so that whoever
    /// knows of the end can wait for the clearing with [`AttemptFolders::cleared`].
    pub(crate) async fn room(&self) -> SemaphorePermit<'_> {
        self.clearings.acquire().await.expect("the semaphore is never closed")
    }

    /// Clears a folder away. What is left there was not declared as an asset, so nobody wants it.
    pub(crate) async fn clear_away(&self, folder: AttemptFolder) {
        let Err(AttemptFolder { path, .. }) = self.keep(folder) else { return };
        let shown = path.clone();
        let removed = tokio::task::spawn_blocking(move || remove_folder(&path)).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(folder = %shown, %error, "the folder of an attempt is left behind");
        }
    }

    /// Waits until everything is cleared away whose room was taken.
    pub(crate) async fn cleared(&self) {
        let all = u32::try_from(CLEARINGS_MAX).unwrap_or(u32::MAX);
        drop(self.clearings.acquire_many(all).await);
    }

    /// Keeps a folder for another attempt, if it is as it was made.
    fn keep(&self, folder: AttemptFolder) -> Result<(), AttemptFolder> {
        if !self.is_as_made(&folder) {
            return Err(folder);
        }
        let mut idle = self.idle();
        if idle.values().map(Vec::len).sum::<usize>() >= IDLE_MAX {
            return Err(folder);
        }
        idle.entry(folder.tenant).or_default().push(folder.path);
        Ok(())
    }

    /// A script may have changed who owns its folder and who may use it.
    fn is_as_made(&self, AttemptFolder { tenant: (_, user), path }: &AttemptFolder) -> bool {
        let (Ok(found), Ok(root)) = (fs::symlink_metadata(path), fs::metadata(&self.root)) else {
            return false;
        };
        let owner = user.map_or_else(|| (root.uid(), root.gid()), |user| (user, user));
        let is_ours = found.is_dir() && (found.uid(), found.gid()) == owner;
        let is_usable = found.mode() & 0o7700 == 0o700;
        is_ours && is_usable && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, BTreeMap<Tenant, Vec<Utf8PathBuf>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    struct Place {
        _folder: tempfile::TempDir,
        folders: AttemptFolders,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        Place { _folder: folder, folders: AttemptFolders::new(root) }
    }

    impl Place {
        fn take(&self, skill: &str) -> AttemptFolder {
            self.folders.take(&skill.parse().unwrap(), None).unwrap()
        }

        fn count(&self) -> usize {
            self.folders.root.read_dir_utf8().unwrap().count()
        }
    }

    #[tokio::test]
    async fn an_empty_folder_is_for_the_next_attempt_of_the_same_skill() {
        let place = place();
        let (first, second) = (place.take("one"), place.take("one"));
        let path = first.path().to_owned();
        assert_ne!(path, second.path());
        place.folders.clear_away(first).await;
        assert_ne!(place.take("other").path(), path);
        assert_eq!(place.take("one").path(), path);
        assert_ne!(place.take("one").path(), path);
    }

    #[tokio::test]
    async fn a_folder_that_was_changed_is_removed() {
        let place = place();
        let change: [fn(&Utf8Path); 4] = [
            |path| fs::write(path.join("file"), "x").unwrap(),
            |path| fs::create_dir_all(path.join("a/b")).unwrap(),
            |path| fs::set_permissions(path, Permissions::from_mode(0o500)).unwrap(),
            |path| fs::set_permissions(path, Permissions::from_mode(0o1755)).unwrap(),
        ];
        for change in change {
            let folder = place.take("one");
            let path = folder.path().to_owned();
            change(&path);
            place.folders.clear_away(folder).await;
            assert!(!path.exists());
        }
        assert_eq!(place.count(), 0);
    }

    #[tokio::test]
    async fn only_so_many_folders_wait() {
        let place = place();
        let taken: Vec<AttemptFolder> = (0..IDLE_MAX + 5).map(|_| place.take("one")).collect();
        for folder in taken {
            place.folders.clear_away(folder).await;
        }
        assert_eq!(place.count(), IDLE_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_the_clearing_waits_for_all_whose_room_was_taken() {
        let place = place();
        let room = place.folders.room().await;
        let wait = std::time::Duration::from_secs(1);
        assert!(tokio::time::timeout(wait, place.folders.cleared()).await.is_err());
        drop(room);
        assert!(tokio::time::timeout(wait, place.folders.cleared()).await.is_ok());
    }
}
