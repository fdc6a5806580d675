//! Files that are never seen half written.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;

/// Who may read a file that is made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Access {
    /// Its owner only: it may hold secrets.
    Private,
    /// Whoever the process lets read its files.
    Shared,
}

/// Writes `content` beside `path` and moves it there; an existing file keeps its permissions.
///
/// A link is replaced, not followed.
pub(crate) fn write_atomically(path: &Utf8Path, content: &[u8], access: Access) -> std::io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    // The process's mask is taken off these when the file is made.
    let mode = match access {
        Access::Private => 0o600,
        Access::Shared => 0o666,
    };
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(parent)?;
    file.write_all(content)?;
    if let Some(old) = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn mode(path: &Utf8Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_with_secrets_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let path = root.join("config.json");
        write_atomically(&path, b"{}", Access::Private).unwrap();
        assert_eq!(mode(&path), 0o600);
        // What any other program of this process would make.
        fs::write(root.join("usual"), "").unwrap();
        write_atomically(&root.join("shared"), b"", Access::Shared).unwrap();
        assert_eq!(mode(&root.join("shared")), mode(&root.join("usual")));
    }

    #[test]
    fn an_existing_file_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("file");
        for (kept, access) in [(0o640, Access::Private), (0o400, Access::Shared)] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
            write_atomically(&path, b"fresh", access).unwrap();
            assert_eq!((mode(&path), fs::read(&path).unwrap()), (kept, b"fresh".to_vec()));
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_link_is_replaced_and_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        fs::write(root.join("outside"), "theirs").unwrap();
        std::os::unix::fs::symlink("outside", root.join("link")).unwrap();
        write_atomically(&root.join("link"), b"ours", Access::Private).unwrap();
        assert_eq!(fs::read(root.join("outside")).unwrap(), b"theirs");
        assert_eq!(
            (fs::read(root.join("link")).unwrap(), mode(&root.join("link"))),
            (b"ours".to_vec(), 0o600)
        );
    }
}
