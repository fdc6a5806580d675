//! Whether the process that drives a run is alive: it holds a lock on a file until it is gone, and its launcher with it.
//!
//! An owner of this data folder is judged by its lock file: without a file, or without a lock on it, the owner is dead. Of
//! owners of other data folders nothing can be said from here, so their work is left to them.

use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;

use artel_store::OwnerId;
use camino::{Utf8Path, Utf8PathBuf};

use crate::folder_id::FolderId;

/// The name of the folder of locks, inside the data folder.
const FOLDER: &str = "owners";

/// A lock that says that its holder is alive.
#[derive(Debug)]
pub struct OwnerLock {
    id: OwnerId,
    path: Utf8PathBuf,
    file: File,
}

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
#[error("cannot lock `{path}`")]
pub struct OwnerLockError {
    path: Utf8PathBuf,
    source: io::Error,
}

/// Whose work a store holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tenancy {
    /// Only that of this data folder.
    OneFolder,
    /// That of other data folders too, as they share a database.
    ManyFolders,
}

impl OwnerLock {
    /// Takes a lock of its own in a data folder, and removes the locks of owners of this folder that are dead.
    pub fn take(data: &Utf8Path, tenancy: Tenancy) -> Result<Self, OwnerLockError> {
        let folder = data.join(FOLDER);
        std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
        let id = FolderId::of(data).map_err(failed(data))?;
        remove_stale(&folder, &id, tenancy);
        loop {
            let name = id.owner_name();
            let path = folder.join(&name);
            let file = File::create_new(&path).map_err(failed(&path))?;
            file.lock().map_err(failed(&path))?;
            // Until it was locked, another process that starts may have taken the file for a stale one.
            if is_file_at(&file, &path).map_err(failed(&path))? {
                return Ok(Self { id: OwnerId(name), path, file });
            }
        }
    }

    /// Returns the name of the holder.
    pub fn id(&self) -> &OwnerId {
        &self.id
    }

    /// Removes the lock file of an owner that has nothing running. Otherwise the file stays: it is locked until the last
    /// of its processes is gone, and removed by the next owner that starts.
    pub fn remove(self) {
        // A file that stays behind does no harm.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Returns a descriptor that keeps the lock as long as it is open, in whichever process.
    pub fn guard(&self) -> io::Result<OwnedFd> {
        self.file.try_clone().map(OwnedFd::from)
    }
}

fn failed(path: &Utf8Path) -> impl FnOnce(io::Error) -> OwnerLockError {
    let path = path.to_owned();
    move |source| OwnerLockError { path, source }
}

fn is_file_at(file: &File, path: &Utf8Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes the lock files of dead owners. An owner without a folder in its name is one of an earlier artel; where many
/// folders share a store its file is the only sign that it was of this folder, so it stays.
fn remove_stale(folder: &Utf8Path, id: &FolderId, tenancy: Tenancy) {
    let Ok(entries) = folder.read_dir_utf8() else { return };
    for entry in entries.flatten() {
        let is_of_this_folder = tenancy == Tenancy::OneFolder || id.is_of(entry.file_name());
        if !is_of_this_folder {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        // A shared lock keeps a live owner out and lets others look at the same time.
        if file.try_lock_shared().is_ok() {
            // Another process may remove it at the same time.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Judges whether owners are alive, as far as one data folder knows.
#[derive(Debug)]
pub struct Owners {
    data: Utf8PathBuf,
    id: Option<FolderId>,
    tenancy: Tenancy,
}

impl Owners {
    /// Judges from a data folder, which need not have had an owner yet.
    pub fn of(data: &Utf8Path, tenancy: Tenancy) -> Result<Self, OwnerLockError> {
        let id = FolderId::find(data).map_err(failed(data))?;
        Ok(Self { data: data.to_owned(), id, tenancy })
    }

    /// Says whether an owner is alive. One of another data folder counts as alive: from here nothing says that it is dead.
    pub fn is_alive(&self, owner: &OwnerId) -> bool {
        let is_of_this_folder = self.tenancy == Tenancy::OneFolder
            || self.id.as_ref().is_some_and(|id| id.is_of(&owner.0))
            || lock_file(&self.data, &owner.0).is_some_and(|path| path.exists());
        !is_of_this_folder || holds_lock(&self.data, &owner.0)
    }
}

/// Says whether an owner holds its lock in a data folder. An owner without a lock file does not.
fn holds_lock(data: &Utf8Path, owner: &str) -> bool {
    match lock_file(data, owner).map(File::open) {
        Some(Ok(file)) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        // A file that cannot be opened may be locked.
        Some(Err(error)) => error.kind() != io::ErrorKind::NotFound,
        None => false,
    }
}

/// A name that is more than a name was not made here.
fn lock_file(data: &Utf8Path, owner: &str) -> Option<Utf8PathBuf> {
    let name = Utf8Path::new(owner);
    let is_name = name.components().count() == 1 && !owner.starts_with('.');
    is_name.then(|| data.join(FOLDER).join(name))
}

/// Returns the entries of a folder with one entry per owner of the data folder whose owners are dead.
pub fn gone(data: &Utf8Path, folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.path().to_owned());
    let is_gone = |path: &Utf8PathBuf| path.file_name().is_some_and(|name| !holds_lock(data, name));
    names.filter(is_gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn data(&self) -> &Utf8Path {
            Utf8Path::from_path(self.0.path()).unwrap()
        }

        fn take(&self) -> OwnerLock {
            OwnerLock::take(self.data(), Tenancy::ManyFolders).unwrap()
        }

        fn is_alive(&self, tenancy: Tenancy, owner: &OwnerId) -> bool {
            Owners::of(self.data(), tenancy).unwrap().is_alive(owner)
        }

        fn lock_files(&self) -> usize {
            self.data().join(FOLDER).read_dir_utf8().unwrap().count()
        }
    }

    const BOTH: [Tenancy; 2] = [Tenancy::OneFolder, Tenancy::ManyFolders];

    #[test]
    fn an_owner_is_alive_as_long_as_a_process_keeps_its_lock() {
        let folder = Folder::new();
        let lock = folder.take();
        let (id, guard) = (lock.id().clone(), lock.guard().unwrap());
        assert!(BOTH.iter().all(|tenancy| folder.is_alive(*tenancy, &id)));
        // As if the process was killed, and its launcher was still about to end what runs.
        drop(lock);
        assert!(BOTH.iter().all(|tenancy| folder.is_alive(*tenancy, &id)));
        drop(guard);
        assert!(!BOTH.iter().any(|tenancy| folder.is_alive(*tenancy, &id)));
    }

    #[test]
    fn an_owner_that_ended_properly_is_dead_whoever_shares_the_store() {
        let folder = Folder::new();
        let lock = folder.take();
        let id = lock.id().clone();
        lock.remove();
        assert!(!BOTH.iter().any(|tenancy| folder.is_alive(*tenancy, &id)));
    }

    #[test]
    fn nothing_is_said_against_owners_of_other_folders() {
        let (here, there) = (Folder::new(), Folder::new());
        let (_lock, other) = (here.take(), there.take().id().clone());
        assert!(here.is_alive(Tenancy::ManyFolders, &other));
        assert!(!here.is_alive(Tenancy::OneFolder, &other), "no other folder uses this store");
        assert!(!there.is_alive(Tenancy::ManyFolders, &other));
    }

    #[test]
    fn a_path_is_no_owner() {
        let folder = Folder::new();
        for name in ["../owners", "", ".", "a/b"] {
            assert!(!folder.is_alive(Tenancy::OneFolder, &OwnerId(name.to_owned())), "{name}");
        }
    }

    #[test]
    fn locks_of_the_dead_do_not_pile_up() {
        let folder = Folder::new();
        for _ in 0..20 {
            drop(folder.take());
        }
        let alive = folder.take();
        let next = folder.take();
        assert_eq!(folder.lock_files(), 2);
        assert!([alive, next].iter().all(|lock| folder.is_alive(Tenancy::ManyFolders, lock.id())));
    }

    #[test]
    fn an_owner_of_an_earlier_artel_is_judged_by_its_file() {
        let folder = Folder::new();
        let _lock = folder.take();
        let old = OwnerId("5b0ec27e-8a51-4f6c-8d2a-0c1f3b9d7a10".to_owned());
        assert!(folder.is_alive(Tenancy::ManyFolders, &old), "it may be of another folder");
        File::create(folder.data().join(FOLDER).join(&old.0)).unwrap();
        assert!(!folder.is_alive(Tenancy::ManyFolders, &old));
        let _next = folder.take();
        assert!(!folder.is_alive(Tenancy::ManyFolders, &old), "its file stays, as it says whose it was");
        OwnerLock::take(folder.data(), Tenancy::OneFolder).unwrap();
        assert!(!folder.data().join(FOLDER).join(&old.0).exists());
    }

    #[test]
    fn many_who_begin_at_once_keep_their_locks() {
        let folder = Folder::new();
        let locks: Vec<OwnerLock> = std::thread::scope(|scope| {
            let begin = || (0..20).map(|_| folder.take()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(begin)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert!(locks.iter().all(|lock| folder.is_alive(Tenancy::ManyFolders, lock.id())));
    }
}
