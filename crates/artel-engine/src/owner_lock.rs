//! Whether the process that drives a run is alive: it holds a lock on a file until it is gone, and its launcher with it.

use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::OwnedFd;

use artel_store::OwnerId;
use camino::{Utf8Path, Utf8PathBuf};
use uuid::Uuid;

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

impl OwnerLock {
    /// Takes a lock of its own in a data folder.
    pub fn take(data: &Utf8Path) -> Result<Self, OwnerLockError> {
        let folder = data.join(FOLDER);
        let failed = |path: &Utf8Path| {
            let path = path.to_owned();
            move |source| OwnerLockError { path, source }
        };
        std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
        let id = Uuid::new_v4().to_string();
        let path = folder.join(&id);
        let file = File::create_new(&path).map_err(failed(&path))?;
        file.lock().map_err(failed(&path))?;
        Ok(Self { id: OwnerId(id), path, file })
    }

    /// Returns the name of the holder.
    pub fn id(&self) -> &OwnerId {
        &self.id
    }

    /// Tidies up after an owner that left nothing to be recovered. Otherwise the file stays: it is locked until the last
    /// of its processes is gone, and then says that nobody is alive.
    pub fn remove(self) {
        // A file that stays behind does no harm.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Returns a descriptor that keeps the lock as long as it is open, in whichever process.
    pub fn guard(&self) -> io::Result<OwnedFd> {
        self.file.try_clone().map(OwnedFd::from)
    }
}

/// Says whether the holder of a lock in a data folder is alive. Who left no file is not.
pub fn is_alive(data: &Utf8Path, owner: &OwnerId) -> bool {
    match lock_file(data, owner).map(File::open) {
        Some(Ok(file)) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        // Whoever cannot be asked may be alive.
        Some(Err(error)) => error.kind() != io::ErrorKind::NotFound,
        None => false,
    }
}

/// Says whether somebody held a lock in a data folder and did not tidy up.
pub fn was_here(data: &Utf8Path, owner: &OwnerId) -> bool {
    lock_file(data, owner).is_some_and(|path| path.exists())
}

/// A name that is more than a name was not made here.
fn lock_file(data: &Utf8Path, owner: &OwnerId) -> Option<Utf8PathBuf> {
    let name = Utf8Path::new(&owner.0);
    let is_name = name.components().count() == 1 && !owner.0.starts_with('.');
    is_name.then(|| data.join(FOLDER).join(name))
}

/// Returns those who left something behind in a folder that has one entry per owner, and are gone.
pub fn gone(data: &Utf8Path, folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.path().to_owned());
    let is_gone =
        |path: &Utf8PathBuf| path.file_name().is_some_and(|name| !is_alive(data, &OwnerId(name.to_owned())));
    names.filter(is_gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_alive_as_long_as_somebody_keeps_its_lock() {
        let folder = tempfile::tempdir().unwrap();
        let data = Utf8Path::from_path(folder.path()).unwrap();
        let lock = OwnerLock::take(data).unwrap();
        let (id, guard) = (lock.id().clone(), lock.guard().unwrap());
        assert!(is_alive(data, &id));
        // As if the process was killed, and its launcher was still about to end what runs.
        drop(lock);
        assert!(is_alive(data, &id) && was_here(data, &id));
        drop(guard);
        assert!(!is_alive(data, &id) && was_here(data, &id));
    }

    #[test]
    fn who_tidied_up_is_not_alive_and_a_path_is_no_owner() {
        let folder = tempfile::tempdir().unwrap();
        let data = Utf8Path::from_path(folder.path()).unwrap();
        let lock = OwnerLock::take(data).unwrap();
        let id = lock.id().clone();
        lock.remove();
        assert!(!is_alive(data, &id) && !was_here(data, &id));
        assert!(!is_alive(data, &OwnerId("../owners".to_owned())));
        assert!(!is_alive(data, &OwnerId(String::new())));
    }
}
