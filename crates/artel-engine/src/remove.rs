//! Removes folders that hostile programs filled: any depth, without recursion and with few open files.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use uuid::Uuid;

/// Removes a folder and all that is in it. Links are removed, not followed.
///
/// What is deep is moved up before it is removed, so that no path and no stack grows with its depth.
pub fn remove_folder(folder: &Utf8Path) -> io::Result<()> {
    loop {
        let folders = remove_files(folder)?;
        if folders.is_empty() {
            return fs::remove_dir(folder);
        }
        for inner in folders {
            for deeper in remove_files(&inner)? {
                // A name that nobody can have taken before.
                fs::rename(&deeper, folder.join(Uuid::new_v4().to_string()))?;
            }
            fs::remove_dir(&inner)?;
        }
    }
}

/// Removes the files of a folder, and returns the folders in it.
fn remove_files(folder: &Utf8Path) -> io::Result<Vec<Utf8PathBuf>> {
    // A program may have locked its own folder.
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match Utf8PathBuf::from_path_buf(entry.path()) {
            Ok(path) if entry.file_type()?.is_dir() => folders.push(path),
            Err(path) if entry.file_type()?.is_dir() => fs::remove_dir_all(path)?,
            Ok(_) | Err(_) => fs::remove_file(entry.path())?,
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn folders_of_any_depth_are_removed_and_links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let place = Utf8Path::from_path(place.path()).unwrap();
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
    }
}
