//! A skill's folder on disk. Nothing outside the folder is followed, nothing that could block is opened.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

use artel_model::diagnostic::{Code, Finding};
use artel_model::limit::{SKILL_BYTES_MAX, SKILL_DEPTH_MAX, SKILL_FILES_MAX};
use camino::{Utf8Path, Utf8PathBuf};

use super::tree::{FileEntry, FileTree, Listing, ReadError};

/// A folder on disk.
#[derive(Clone, Debug)]
pub struct DiskTree {
    root: Utf8PathBuf,
}

/// Folders that are not part of a skill's content: its private data, and what tools leave behind.
const LEFT_OUT: &[&str] = &["data", ".git", "__pycache__"];

impl DiskTree {
    /// Makes a tree of the folder at `root`.
    pub fn new(root: impl Into<Utf8PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Says whether a folder holds a skill, going by the names of its files.
    pub(crate) fn is_skill_file(name: &str) -> bool {
        matches!(name, "SKILL.md" | "skill.md" | "skill.json" | "skill.yaml" | "skill.yml")
    }
}

impl FileTree for DiskTree {
    fn listing(&self) -> Listing {
        let mut walk =
            Walk { root: &self.root, canonical: None, listing: Listing::default(), bytes: 0, full: false };
        walk.folder(Utf8Path::new(""), 0);
        walk.listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        walk.listing
    }

    fn read(&self, path: &Utf8Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        read_file(&self.root.join(path), bytes_max)
    }
}

/// Reads a plain file of at most `bytes_max` bytes. A pipe in its place does not block.
pub(crate) fn read_file(path: &Utf8Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let failed = |source: std::io::Error| {
        // Opening a socket says "no such device or address".
        let is_special =
            source.kind() == ErrorKind::IsADirectory || source.raw_os_error() == Some(libc::ENXIO);
        if source.kind() == ErrorKind::NotFound {
            ReadError::Missing(path.to_owned())
        } else if is_special {
            ReadError::Special(path.to_owned())
        } else {
            ReadError::Io { path: path.to_owned(), source }
        }
    };
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(ReadError::Special(path.to_owned()));
    }
    if metadata.len() > bytes_max {
        return Err(ReadError::TooLarge { path: path.to_owned(), bytes_max });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    // The file may grow while it is read.
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > bytes_max {
        return Err(ReadError::TooLarge { path: path.to_owned(), bytes_max });
    }
    Ok(bytes)
}

struct Walk<'a> {
    root: &'a Utf8Path,
    /// The folder's real path, looked up when the first link asks for it.
    canonical: Option<std::path::PathBuf>,
    listing: Listing,
    bytes: u64,
    /// A limit was reached: nothing more is taken in.
    full: bool,
}

impl Walk<'_> {
    fn folder(&mut self, inside: &Utf8Path, depth: usize) {
        let here = if inside.as_str().is_empty() { self.root.to_owned() } else { self.root.join(inside) };
        let entries = match here.read_dir_utf8() {
            Ok(entries) => entries,
            Err(source) => {
                return self.report(Code::Unreadable, inside, format!("cannot read the folder: {source}"));
            }
        };
        let mut folders = Vec::new();
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(source) if source.kind() == ErrorKind::InvalidData => {
                    self.report(Code::PathNotUtf8, inside, "a file's name is not UTF-8".to_owned());
                    continue;
                }
                Err(source) => {
                    return self.report(
                        Code::Unreadable,
                        inside,
                        format!("cannot read the folder: {source}"),
                    );
                }
            };
            let path = inside.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => self.link(path),
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(_) => match entry.metadata() {
                    Ok(metadata) => self.file(path, &metadata, false),
                    Err(source) => {
                        self.report(Code::Unreadable, &path, format!("cannot read the file: {source}"))
                    }
                },
                Err(source) => {
                    self.report(Code::Unreadable, &path, format!("cannot read the file: {source}"))
                }
            }
            if self.full {
                return;
            }
        }
        folders.sort();
        for path in folders {
            self.subfolder(path, depth);
        }
    }

    fn subfolder(&mut self, path: Utf8PathBuf, depth: usize) {
        let name = path.file_name().unwrap_or_default();
        let is_left_out = LEFT_OUT.contains(&name) && (name != "data" || depth == 0);
        if self.full || is_left_out || self.holds_a_skill(&path) {
            return;
        }
        if depth + 1 >= SKILL_DEPTH_MAX {
            let message = format!(
                "folders are nested deeper than {SKILL_DEPTH_MAX} levels; what lies deeper is left out"
            );
            return self.report(Code::FolderTooDeep, &path, message);
        }
        self.folder(&path, depth + 1);
    }

    /// A skill inside a skill is a skill of its own, and owns its files.
    fn holds_a_skill(&self, path: &Utf8Path) -> bool {
        let folder = self.root.join(path);
        ["SKILL.md", "skill.json", "skill.yaml"].iter().any(|name| folder.join(name).is_file())
    }

    fn file(&mut self, path: Utf8PathBuf, metadata: &Metadata, is_link: bool) {
        if !metadata.is_file() {
            let is_main = path.parent() == Some(Utf8Path::new("")) && DiskTree::is_skill_file(path.as_str());
            if !is_main {
                self.report(Code::SpecialFile, &path, "this is not a plain file; it is left out".to_owned());
                return;
            }
        }
        if self.listing.files.len() >= SKILL_FILES_MAX {
            let message = format!("a skill may have at most {SKILL_FILES_MAX} files");
            self.full = true;
            return self.report(Code::TooManyFiles, Utf8Path::new(""), message);
        }
        self.bytes += metadata.len();
        // A single document that is too large is reported as such; the folder's limit is for everything else.
        if self.bytes > SKILL_BYTES_MAX && !DiskTree::is_skill_file(path.as_str()) {
            let message = format!("the files of a skill may have at most {} MiB", SKILL_BYTES_MAX >> 20);
            self.full = true;
            return self.report(Code::FolderTooLarge, Utf8Path::new(""), message);
        }
        let is_executable = metadata.permissions().mode() & 0o111 != 0;
        self.listing.files.push(FileEntry { path, size: metadata.len(), is_executable, is_link });
    }

    fn link(&mut self, path: Utf8PathBuf) {
        let full = self.root.join(&path);
        let Ok(target) = full.canonicalize() else {
            return self.report(
                Code::SymlinkBroken,
                &path,
                "the link leads nowhere, or in a circle".to_owned(),
            );
        };
        if self.canonical.is_none() {
            self.canonical = self.root.canonicalize().ok();
        }
        if !self.canonical.as_ref().is_some_and(|root| target.starts_with(root)) {
            let message = "the link leads out of the skill's folder; it is not followed".to_owned();
            self.report(Code::SymlinkEscapes, &path, message);
            self.listing.escaping.push(path);
            return;
        }
        // A link to a folder inside would show the same files twice, or run in circles.
        if let Ok(metadata) = full.metadata()
            && metadata.is_file()
        {
            self.file(path, &metadata, true);
        }
    }

    fn report(&mut self, code: Code, inside: &Utf8Path, message: String) {
        let path = if inside.as_str().is_empty() { self.root.to_owned() } else { self.root.join(inside) };
        let hint = if code == Code::SymlinkEscapes {
            Some("copy the file into the folder")
        } else if matches!(code, Code::TooManyFiles | Code::FolderTooLarge) {
            Some("keep generated and large files elsewhere")
        } else {
            None
        };
        let hint = hint.map(str::to_owned);
        self.listing.findings.push(Finding { code, message, path, position: None, hint });
    }
}
