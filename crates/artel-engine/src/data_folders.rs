//! The folders in which skills keep what should last, one for each skill and those who share its data. Which one that is,
//! [`artel_model::data_scope`] decides; here they are made, moved and removed.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};

use artel_catalog::{remove_folder, remove_folder_if_there};
use artel_model::access::Viewer;
use artel_model::data_scope::{
    DataRequest, DataScope, OwnerKey, RUNS_FOLDER, Sharing, SkillOrigin, data_folder,
};
use artel_model::id::RunId;
use camino::{Utf8Path, Utf8PathBuf};
use uuid::Uuid;

use crate::process::folder_bytes;
use crate::sandbox_users::{SandboxUserError, SandboxUsers, free_user, take_back};

/// The folder of all data of skills, inside artel's data folder.
const ROOT: &str = "skill-data";
/// Where earlier versions of artel kept the data of every caller, inside the skill's own folder.
const OLD_FOLDER: &str = "data";
/// Folders are for artel alone; scripts are let into theirs by the sandbox.
const PRIVATE: u32 = 0o700;

/// The data folders below one data folder of artel.
#[derive(Clone, Debug)]
pub struct DataFolders {
    root: Utf8PathBuf,
    data: Utf8PathBuf,
    users: Option<SandboxUsers>,
}

/// The data folder of a skill, ready for a script.
#[derive(Clone, Debug)]
pub(crate) struct DataFolder {
    /// Its real path.
    pub(crate) path: Utf8PathBuf,
    /// The user that it belongs to, where scripts run as users of their own.
    pub(crate) user: Option<u32>,
}

/// Why a skill has no data folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataFolderError {
    /// Something else lies there.
    #[error("`{0}` is a link or a file: a skill's data is a folder of its own")]
    NotAFolder(Utf8PathBuf),
    /// It cannot be made.
    #[error("cannot make the data folder `{path}`")]
    Make {
        /// The folder.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It has no user.
    #[error("the data folder `{path}` cannot have a user of its own")]
    User {
        /// The folder.
        path: Utf8PathBuf,
        /// Why.
        source: SandboxUserError,
    },
    /// What an earlier version kept cannot be moved.
    #[error("cannot move the data in `{from}` to `{to}`, where the local owner's data is kept")]
    Move {
        /// Where it lies.
        from: Utf8PathBuf,
        /// Where it belongs.
        to: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl DataFolders {
    /// Returns the data folders below artel's data folder.
    pub fn new(data: &Utf8Path) -> Self {
        Self { root: data.join(ROOT), data: data.to_owned(), users: None }
    }

    /// Returns the same folders, each of which belongs to a user of its own.
    #[must_use]
    pub(crate) fn with_users(self, users: Option<SandboxUsers>) -> Self {
        Self { users, ..self }
    }

    /// Returns where one owner's data of a skill is kept, whether it is there or not.
    pub fn of_owner(&self, origin: &SkillOrigin, owner: Option<&Viewer>) -> Utf8PathBuf {
        let request = DataRequest {
            origin,
            scope: DataScope::Principal,
            owner,
            run: RunId(Uuid::nil()),
            sharing: Sharing::NotGranted,
        };
        let place = data_folder(&request).expect("an owner's own data is never refused");
        self.root.join(place)
    }

    /// Returns the bytes that all skills keep for one owner, or more than `enough` as soon as there are more.
    pub(crate) fn bytes_of_owner(&self, owner: &Viewer, enough: u64) -> u64 {
        let name = OwnerKey::of(Some(&owner.user));
        let skills = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let folders = skills.map(|skill| skill.path().join(name.as_str())).filter(|folder| folder.is_dir());
        folder_bytes(folders.collect(), enough)
    }

    /// Returns the bytes of the folder at `place`, or more than `enough` as soon as there are more.
    pub(crate) fn bytes_at(&self, place: &Utf8Path, enough: u64) -> u64 {
        folder_bytes(vec![self.root.join(place).into_std_path_buf()], enough)
    }

    /// Removes what a skill keeps for an owner.
    pub fn forget_owner(&self, origin: &SkillOrigin, owner: Option<&Viewer>) -> io::Result<()> {
        remove_folder_if_there(&self.of_owner(origin, owner))
    }

    /// Makes the folder at `place` below the root.
    pub(crate) fn open(&self, place: &Utf8Path) -> Result<DataFolder, DataFolderError> {
        let path = self.root.join(place);
        let failed = |source| DataFolderError::Make { path: path.clone(), source };
        make_private(&path).map_err(failed)?;
        match fs::symlink_metadata(&path).map_err(failed)? {
            found if found.is_dir() => {}
            _ => return Err(DataFolderError::NotAFolder(path)),
        }
        let path = path.canonicalize_utf8().map_err(failed)?;
        let user = match &self.users {
            Some(users) => Some(
                users
                    .own(place.as_str(), &path)
                    .map_err(|source| DataFolderError::User { path: path.clone(), source })?,
            ),
            None => {
                take_back(&path).map_err(failed)?;
                None
            }
        };
        Ok(DataFolder { path, user })
    }

    /// Moves what an earlier version kept in the skill's own folder to the local owner, once. Several processes may do so at
    /// the same time, and each may die at any point: the data is at the old place, or whole at the new one.
    pub(crate) fn take_over_old(&self, home: &Utf8Path, origin: &SkillOrigin) -> Result<(), DataFolderError> {
        let (from, to) = (home.join(OLD_FOLDER), self.of_owner(origin, None));
        // A link or a file is nothing that artel made.
        if !fs::symlink_metadata(&from).is_ok_and(|found| found.is_dir()) || to.exists() {
            return Ok(());
        }
        let failed = |source| DataFolderError::Move { from: from.clone(), to: to.clone(), source };
        make_private(to.parent().unwrap_or(&self.root)).map_err(failed)?;
        match fs::rename(&from, &to) {
            Ok(()) => fs::set_permissions(&to, Permissions::from_mode(PRIVATE)).map_err(failed),
            // Another process was faster.
            Err(_) if to.exists() || !from.exists() => Ok(()),
            // Another file system, or a folder that cannot be changed.
            Err(_) => copy_whole(&from, &to).map_err(failed),
        }
    }

    /// Removes what the steps of a run shared.
    pub fn forget_run(&self, run: RunId) -> io::Result<()> {
        self.free_users(&Utf8Path::new(RUNS_FOLDER).join(run.to_string()));
        remove_folder_if_there(&self.root.join(RUNS_FOLDER).join(run.to_string()))
    }

    /// Frees the users of the folders at `place`.
    fn free_users(&self, place: &Utf8Path) {
        for entry in self.root.join(place).read_dir_utf8().into_iter().flatten().flatten() {
            if let Ok(found) = fs::symlink_metadata(entry.path()) {
                free_user(&self.data, found.uid(), place.join(entry.file_name()).as_str());
            }
        }
    }

    /// Returns the runs whose shared data is still there.
    pub fn runs(&self) -> Vec<RunId> {
        let Ok(folder) = fs::read_dir(self.root.join(RUNS_FOLDER)) else { return Vec::new() };
        let run = |entry: fs::DirEntry| Some(RunId(entry.file_name().to_str()?.parse().ok()?));
        folder.flatten().filter_map(run).collect()
    }
}

fn make_private(path: &Utf8Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(PRIVATE).create(path)
}

/// Copies files and folders to where nothing is yet, and puts them in place at once. Links are left out: nothing outside is
/// taken along.
fn copy_whole(from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    let unfinished = to.with_file_name(format!("unfinished-{}", Uuid::new_v4()));
    let mut folders = vec![(from.to_owned(), unfinished.clone())];
    while let Some((from, to)) = folders.pop() {
        make_private(&to)?;
        for entry in from.read_dir_utf8()? {
            let entry = entry?;
            let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
            if kind.is_dir() {
                folders.push((entry.path().to_owned(), target));
            } else if kind.is_file() {
                fs::copy(entry.path(), target)?;
            }
        }
    }
    match fs::rename(&unfinished, to) {
        Err(_) if to.exists() => remove_folder(&unfinished),
        moved => moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        _folder: tempfile::TempDir,
        folders: DataFolders,
        home: Utf8PathBuf,
        origin: SkillOrigin,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().to_owned();
        let home = path.join("skills/memory");
        fs::create_dir_all(home.join("data/inner")).unwrap();
        fs::write(home.join("data/inner/kept"), "old").unwrap();
        let origin = SkillOrigin::default_source(&"memory".parse().unwrap());
        Place { folders: DataFolders::new(&path.join("artel")), home, origin, _folder: folder }
    }

    fn kept(place: &Place) -> String {
        fs::read_to_string(place.folders.of_owner(&place.origin, None).join("inner/kept")).unwrap_or_default()
    }

    #[test]
    fn what_an_earlier_version_kept_becomes_the_local_owners_once() {
        let place = place();
        for _ in 0..2 {
            place.folders.take_over_old(&place.home, &place.origin).unwrap();
            assert_eq!(kept(&place), "old");
            assert!(!place.home.join("data").exists());
        }
        // What the skill's folder holds afterwards is not the local owner's.
        fs::create_dir_all(place.home.join("data/inner")).unwrap();
        fs::write(place.home.join("data/inner/kept"), "planted").unwrap();
        place.folders.take_over_old(&place.home, &place.origin).unwrap();
        assert_eq!(kept(&place), "old");
    }

    #[test]
    fn several_processes_move_it_once() {
        let place = place();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| place.folders.take_over_old(&place.home, &place.origin).unwrap());
            }
        });
        assert_eq!(kept(&place), "old");
    }

    #[test]
    fn a_copy_is_whole_or_not_there_and_follows_no_link() {
        let place = place();
        std::os::unix::fs::symlink("/etc/passwd", place.home.join("data/link")).unwrap();
        let to = place.folders.of_owner(&place.origin, None);
        for _ in 0..2 {
            copy_whole(&place.home.join("data"), &to).unwrap();
            assert_eq!(kept(&place), "old");
            assert!(fs::symlink_metadata(to.join("link")).is_err());
        }
        let beside: Vec<_> = fs::read_dir(to.parent().unwrap()).unwrap().collect();
        assert_eq!(beside.len(), 1, "nothing unfinished is left: {beside:?}");
    }

    #[test]
    fn a_planted_link_is_not_followed() {
        let place = place();
        remove_folder(&place.home.join("data")).unwrap();
        std::os::unix::fs::symlink("/etc", place.home.join("data")).unwrap();
        place.folders.take_over_old(&place.home, &place.origin).unwrap();
        assert!(!place.folders.of_owner(&place.origin, None).exists());
        let inside = Utf8Path::new("memory-1/local");
        make_private(&place.folders.root.join("memory-1")).unwrap();
        std::os::unix::fs::symlink("/etc", place.folders.root.join(inside)).unwrap();
        assert!(matches!(place.folders.open(inside), Err(DataFolderError::NotAFolder(_))));
    }

    #[test]
    fn the_data_of_a_run_goes_with_the_run() {
        let place = place();
        let run = RunId(Uuid::from_u128(7));
        let inside = Utf8PathBuf::from(RUNS_FOLDER).join(run.to_string()).join("memory-1");
        let made = place.folders.open(&inside).unwrap().path;
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, PRIVATE);
        assert_eq!(place.folders.runs(), [run]);
        place.folders.forget_run(run).unwrap();
        place.folders.forget_run(run).unwrap();
        assert_eq!(place.folders.runs(), []);
    }
}
