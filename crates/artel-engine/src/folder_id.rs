//! The id of a data folder: it tells the owners of this folder from those of others that share a database.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use camino::Utf8Path;
use uuid::Uuid;

/// The file in the data folder that holds the id.
const FILE: &str = "folder-id";
/// Hexadecimal digits of an id.
const DIGITS: usize = 12;

/// The id of a data folder, made with the folder's first owner. It stays as long as the folder; a copy of the folder that
/// works beside it on the same database needs another one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FolderId(String);

impl FolderId {
    /// Returns the id of a data folder, if it has one.
    pub(crate) fn find(data: &Utf8Path) -> io::Result<Option<Self>> {
        let text = match std::fs::read_to_string(data.join(FILE)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let id = text.trim_end();
        let is_id = id.len() == DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id { Ok(Some(Self(id.to_owned()))) } else { Err(damaged()) }
    }

    /// Returns the id of a data folder, which is made when it has none. All who ask at the same time get the same one.
    pub(crate) fn of(data: &Utf8Path) -> io::Result<Self> {
        if let Some(id) = Self::find(data)? {
            return Ok(id);
        }
        let fresh = Uuid::new_v4().simple().to_string();
        let draft = data.join(format!(".{FILE}.{fresh}"));
        write_synced(&draft, &fresh[..DIGITS])?;
        let linked = std::fs::hard_link(&draft, data.join(FILE));
        // A draft that stays behind does no harm.
        let _ = std::fs::remove_file(&draft);
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        Self::find(data)?.ok_or_else(damaged)
    }

    /// Returns the name of a further owner.
    pub(crate) fn owner_name(&self) -> String {
        format!("{}.{}", self.0, Uuid::new_v4())
    }

    /// Says whether an owner belongs to this folder.
    pub(crate) fn is_of(&self, owner: &str) -> bool {
        owner.split_once('.').is_some_and(|(folder, _)| folder == self.0)
    }
}

fn write_synced(path: &Utf8Path, text: &str) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("`{FILE}` holds no id; remove the file when no artel works in the folder"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_id_and_others_have_another() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [one, two] = folders.each_ref().map(|folder| Utf8Path::from_path(folder.path()).unwrap());
        assert_eq!(FolderId::find(one).unwrap(), None);
        let id = FolderId::of(one).unwrap();
        assert_eq!(FolderId::of(one).unwrap(), id);
        assert_ne!(FolderId::of(two).unwrap(), id);
        assert!(id.is_of(&id.owner_name()));
        assert!(!id.is_of(&FolderId::of(two).unwrap().owner_name()));
        assert!(!id.is_of(&Uuid::new_v4().to_string()));
        assert_eq!(one.read_dir_utf8().unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn all_who_begin_at_once_agree() {
        let folder = tempfile::tempdir().unwrap();
        let data = Utf8Path::from_path(folder.path()).unwrap();
        let ids: Vec<FolderId> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| FolderId::of(data).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }

    #[test]
    fn a_damaged_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let data = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::write(data.join(FILE), "../../etc\n").unwrap();
        assert_eq!(FolderId::of(data).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
