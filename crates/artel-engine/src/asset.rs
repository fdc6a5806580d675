//! Files that scripts made, kept by the hash of their content. Knows nothing of runs and of who asks for them.
//!
//! A script that is still running may swap files and links at any moment, so a file is opened first, without any effect
//! on it, and everything else is asked of what was opened.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use artel_model::limit::ASSET_BYTES_MAX;
use artel_model::time::Timestamp;
use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use thiserror::Error;

const COPY_BYTES: usize = 64 * 1024;
const HASH_PREFIX: &str = "sha256:";
const HASH_DIGITS: usize = 64;

/// Where assets are kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AssetStore {
    root: Utf8PathBuf,
}

/// A file that is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeptAsset {
    /// The hash of its content: `sha256:` and 64 digits.
    pub hash: String,
    /// Its size in bytes.
    pub size: u64,
}

/// Where a script may have put the files it made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AssetOrigin {
    /// The folder it was started in; paths are relative to it.
    pub run_folder: Utf8PathBuf,
    /// The folders it may write.
    pub writable: Vec<Utf8PathBuf>,
}

/// Why a file is not kept.
#[derive(Debug, Error)]
pub enum AssetError {
    /// It cannot be opened or read.
    #[error("`{path}` cannot be read: {}", reason(source))]
    Unreadable {
        /// The path that the script gave.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// It is a folder, a device, a pipe.
    #[error("`{path}` is not a file")]
    NotAFile {
        /// The path that the script gave.
        path: String,
    },
    /// It lies elsewhere, perhaps through a link.
    #[error("`{path}` is outside the folders that the script may write")]
    Outside {
        /// The path that the script gave.
        path: String,
    },
    /// It is too large.
    #[error("`{path}` is larger than the {bytes_max} bytes that are allowed")]
    TooLarge {
        /// The path that the script gave.
        path: String,
        /// The limit.
        bytes_max: u64,
    },
    /// It cannot be stored.
    #[error("`{path}` cannot be stored in `{root}`: {}", reason(source))]
    Store {
        /// The path that the script gave.
        path: String,
        /// Where assets are kept.
        root: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The system's reason without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

impl AssetError {
    /// Returns whether the script is to blame, and not the place where assets are kept.
    pub fn is_the_scripts_fault(&self) -> bool {
        match self {
            Self::Unreadable { .. }
            | Self::NotAFile { .. }
            | Self::Outside { .. }
            | Self::TooLarge { .. } => true,
            Self::Store { .. } => false,
        }
    }
}

impl AssetStore {
    /// Returns the store in a folder; it is made with the first asset.
    pub fn new(root: Utf8PathBuf) -> Self {
        Self { root }
    }

    /// Returns where the content with that hash is, if there is such a hash: `ab/cdef...` inside the store.
    pub fn path(&self, hash: &str) -> Option<Utf8PathBuf> {
        let digits = hash.strip_prefix(HASH_PREFIX)?;
        let is_hash = digits.len() == HASH_DIGITS
            && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hash.then(|| self.root.join(&digits[..2]).join(&digits[2..]))
    }

    /// Returns when the content with that hash was last put here, if it is here.
    pub fn kept_at(&self, hash: &str) -> Option<Timestamp> {
        let modified = fs::metadata(self.path(hash)?).ok()?.modified().ok()?;
        let since = modified.duration_since(UNIX_EPOCH).ok()?;
        Some(Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?))
    }

    /// Removes the content with that hash; it is no error when it is gone.
    pub fn remove(&self, hash: &str) -> io::Result<()> {
        let Some(path) = self.path(hash) else { return Ok(()) };
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Copies a file that a script made into the store; at most `bytes_left` bytes, and never more than one asset may
    /// have.
    pub async fn keep(
        &self,
        origin: &AssetOrigin,
        path: &str,
        bytes_left: u64,
    ) -> Result<KeptAsset, AssetError> {
        let (store, origin, path) = (self.clone(), origin.clone(), path.to_owned());
        let kept = tokio::task::spawn_blocking(move || store.keep_now(&origin, &path, bytes_left)).await;
        kept.expect("keeping a file does not panic")
    }

    fn keep_now(&self, origin: &AssetOrigin, path: &str, bytes_left: u64) -> Result<KeptAsset, AssetError> {
        let bytes_max = bytes_left.min(ASSET_BYTES_MAX);
        let too_large = || AssetError::TooLarge { path: path.to_owned(), bytes_max };
        let file = origin.open(path, bytes_max)?;
        let fail = |source| AssetError::Store { path: path.to_owned(), root: self.root.clone(), source };
        fs::create_dir_all(&self.root).map_err(fail)?;
        let mut copy = NamedTempFile::new_in(&self.root).map_err(fail)?;
        // The file may grow while it is read.
        let limited = file.take(bytes_max.saturating_add(1));
        let (digest, size) = match copy_and_hash(limited, &mut copy) {
            Ok(copied) => copied,
            Err(CopyError::Read(source)) => {
                return Err(AssetError::Unreadable { path: path.to_owned(), source });
            }
            Err(CopyError::Write(source)) => return Err(fail(source)),
        };
        if size > bytes_max {
            return Err(too_large());
        }
        let hash = format!("{HASH_PREFIX}{digest}");
        let place = self.path(&hash).expect("a digest has 64 digits");
        self.put(copy, &place).map_err(fail)?;
        Ok(KeptAsset { hash, size })
    }

    /// The content is on the disk before its name is, so a name never stands for half a file.
    fn put(&self, copy: NamedTempFile, place: &Utf8Path) -> io::Result<()> {
        copy.as_file().sync_data()?;
        fs::create_dir_all(place.parent().unwrap_or(&self.root))?;
        copy.persist(place).map_err(|error| error.error)?;
        Ok(())
    }
}

impl AssetOrigin {
    fn open(&self, path: &str, bytes_max: u64) -> Result<File, AssetError> {
        let unreadable = |source| AssetError::Unreadable { path: path.to_owned(), source };
        let handle = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH | libc::O_CLOEXEC)
            .open(self.run_folder.join(path))
            .map_err(unreadable)?;
        let opened = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        let real = fs::read_link(&opened).map_err(unreadable)?;
        if !self.folders().iter().any(|folder| real.starts_with(folder)) {
            return Err(AssetError::Outside { path: path.to_owned() });
        }
        let about = handle.metadata().map_err(unreadable)?;
        if !about.is_file() {
            return Err(AssetError::NotAFile { path: path.to_owned() });
        }
        if about.len() > bytes_max {
            return Err(AssetError::TooLarge { path: path.to_owned(), bytes_max });
        }
        // Through the handle, so that it is the same file whatever its name means by then.
        File::open(&opened).map_err(unreadable)
    }

    /// The real paths of the folders; those that do not exist hold no files.
    fn folders(&self) -> Vec<PathBuf> {
        self.writable.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect()
    }
}

enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

fn copy_and_hash(mut from: impl Read, to: &mut impl Write) -> Result<(String, u64), CopyError> {
    let (mut hasher, mut size, mut buffer) = (Sha256::new(), 0, vec![0; COPY_BYTES]);
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyError::Read(error)),
        };
        hasher.update(&buffer[..count]);
        to.write_all(&buffer[..count]).map_err(CopyError::Write)?;
        size += count as u64;
    }
    let digits = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((digits, size))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    struct Place {
        _folder: TempDir,
        base: Utf8PathBuf,
        store: AssetStore,
        origin: AssetOrigin,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let base = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
            let run_folder = base.join("run");
            fs::create_dir_all(&run_folder).unwrap();
            fs::write(base.join("secret.txt"), "secret").unwrap();
            fs::write(run_folder.join("a.txt"), "content").unwrap();
            let writable = vec![run_folder.clone(), base.join("missing")];
            let store = AssetStore::new(base.join("assets"));
            Self { _folder: folder, base, store, origin: AssetOrigin { run_folder, writable } }
        }

        fn keep(&self, path: &str) -> Result<KeptAsset, String> {
            let kept = self.store.keep_now(&self.origin, path, 1000);
            kept.map_err(|error| error.to_string().replace(self.base.as_str(), "BASE"))
        }

        fn stored(&self) -> usize {
            let count = |folder: &Utf8Path| folder.read_dir_utf8().map_or(0, Iterator::count);
            let folders = self.store.root.read_dir_utf8().into_iter().flatten();
            folders.map(|entry| count(entry.unwrap().path())).sum()
        }
    }

    #[test]
    fn a_file_is_kept_once_by_its_content() {
        let place = Place::new();
        fs::write(place.origin.run_folder.join("b.txt"), "content").unwrap();
        let kept = place.keep("a.txt").unwrap();
        let hash = "sha256:ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
        assert_eq!(kept, KeptAsset { hash: hash.to_owned(), size: 7 });
        assert_eq!(place.keep("b.txt").unwrap(), kept);
        let absolute = place.origin.run_folder.join("../run/./a.txt");
        assert_eq!(place.keep(absolute.as_str()).unwrap(), kept);
        let path = place.store.path(hash).unwrap();
        assert!(
            path.as_str()
                .ends_with("/assets/ed/7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73")
        );
        assert_eq!(fs::read_to_string(path).unwrap(), "content");
        assert_eq!(place.stored(), 1);
    }

    #[test]
    fn only_hashes_have_a_place() {
        let store = AssetStore::new("assets".into());
        for text in
            ["", "sha256:", "sha256:../../etc/passwd", &format!("sha256:{}", "A".repeat(64)), &"a".repeat(64)]
        {
            assert_eq!(store.path(text), None, "{text}");
        }
    }

    #[test]
    fn what_lies_outside_is_not_kept() {
        let place = Place::new();
        let run = &place.origin.run_folder;
        symlink("../secret.txt", run.join("link")).unwrap();
        symlink("..", run.join("up")).unwrap();
        symlink("a.txt", run.join("inside")).unwrap();
        symlink("loop", run.join("loop")).unwrap();
        fs::create_dir(place.base.join("run-other")).unwrap();
        fs::write(place.base.join("run-other/x"), "x").unwrap();
        for path in [
            "../secret.txt",
            "link",
            "up/secret.txt",
            "/etc/passwd",
            "../run-other/x",
            "/proc/self/fd/0",
            "/dev/zero",
        ] {
            let told = format!("`{path}` is outside the folders that the script may write");
            assert_eq!(place.keep(path), Err(told));
        }
        assert_eq!(place.keep("inside").unwrap().size, 7);
        assert_eq!(place.keep("none"), Err("`none` cannot be read: No such file or directory".to_owned()));
        assert!(place.keep("loop").unwrap_err().starts_with("`loop` cannot be read"));
        assert!(place.keep("a\0b").is_err());
        assert_eq!(place.stored(), 1);
    }

    #[test]
    fn only_files_of_some_size_are_kept() {
        let place = Place::new();
        let run = &place.origin.run_folder;
        fs::create_dir(run.join("folder")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(run.join("socket")).unwrap();
        fs::write(run.join("big"), vec![0; 1001]).unwrap();
        fs::write(run.join("fits"), vec![0; 1000]).unwrap();
        assert_eq!(place.keep("folder"), Err("`folder` is not a file".to_owned()));
        assert_eq!(place.keep("socket"), Err("`socket` is not a file".to_owned()));
        assert!(place.keep("big").unwrap_err().contains("larger than the 1000 bytes"));
        assert_eq!(place.keep("fits").unwrap().size, 1000);
    }

    #[test]
    fn a_store_that_cannot_be_written_is_not_the_scripts_fault() {
        let place = Place::new();
        let store = AssetStore::new(place.base.join("secret.txt"));
        let error = store.keep_now(&place.origin, "a.txt", 1000).unwrap_err();
        assert!(!error.is_the_scripts_fault(), "{error}");
    }
}
