//! A skill's folder on disk. Nothing outside the folder is followed, nothing that could block is opened.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path};

use artel_model::diagnostic::{Code, Finding};
use artel_model::limit::{SKILL_BYTES_MAX, SKILL_DEPTH_MAX, SKILL_FILES_MAX};
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::tree::{FileEntry, FileTree, Listing, ReadError};

/// A folder on disk.
#[derive(Clone, Debug)]
pub struct DiskTree {
    root: Utf8PathBuf,
    limits: FolderLimits,
}

/// How large a skill's folder may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FolderLimits {
    /// Files.
    pub files_max: usize,
    /// Bytes of all files together.
    pub bytes_max: u64,
}

impl Default for FolderLimits {
    fn default() -> Self {
        Self { files_max: SKILL_FILES_MAX, bytes_max: SKILL_BYTES_MAX }
    }
}

/// Folders that are not part of a skill's content: its private data, and what tools leave behind.
const LEFT_OUT: &[&str] = &["data", ".git", "__pycache__"];

/// Links and folders in one skill.
const OTHERS_MAX: usize = 10 * SKILL_FILES_MAX;

impl DiskTree {
    /// Makes a tree of the folder at `root`.
    pub fn new(root: impl Into<Utf8PathBuf>) -> Self {
        Self::with_limits(root, FolderLimits::default())
    }

    /// Makes a tree of the folder at `root` that may be as large as `limits` say.
    pub fn with_limits(root: impl Into<Utf8PathBuf>, limits: FolderLimits) -> Self {
        Self { root: root.into(), limits }
    }

    /// Says whether a folder holds a skill, going by the names of its files.
    pub(crate) fn is_skill_file(name: &str) -> bool {
        matches!(name, "SKILL.md" | "skill.md" | "skill.json" | "skill.yaml" | "skill.yml")
    }
}

impl DiskTree {
    /// Returns the listing of a folder whose own entries have been read already.
    pub(crate) fn listing_of(&self, entries: std::io::Result<Vec<FolderEntry>>) -> Listing {
        let mut walk = Walk {
            root: &self.root,
            limits: self.limits,
            canonical: None,
            listing: Listing::default(),
            bytes: 0,
            others: 0,
            full: false,
        };
        walk.folder(Utf8Path::new(""), entries, 0);
        walk.listing.files.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
        walk.listing
    }
}

impl FileTree for DiskTree {
    fn listing(&self) -> Listing {
        self.listing_of(read_folder(&self.root))
    }

    fn read(&self, path: &Utf8Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        let full = self.root.join(path);
        let mut components = path.components();
        let is_below = components.clone().all(|part| matches!(part, Utf8Component::Normal(_)));
        let file_name = components.next().filter(|_| is_below);
        if file_name.is_none() {
            return Err(outside(full));
        }
        // Only a file directly in the folder cannot be reached through a link to a folder.
        if components.next().is_none() {
            match read_plain(&full, bytes_max, Links::Refuse) {
                Err(ReadError::Io { source, .. }) if source.raw_os_error() == Some(libc::ELOOP) => {}
                result => return result,
            }
        }
        let failed = |source: std::io::Error| not_opened(&full, source);
        let root = self.root.canonicalize().map_err(failed)?;
        let target = full.canonicalize_utf8().map_err(failed)?;
        if !target.starts_with(root) {
            return Err(outside(full));
        }
        read_plain(&target, bytes_max, Links::Refuse)
    }
}

/// Says that a path leads out of the folder it should be in.
fn outside(path: Utf8PathBuf) -> ReadError {
    let source = std::io::Error::new(ErrorKind::PermissionDenied, "it leads out of the skill's folder");
    ReadError::Io { path, source }
}

/// Says why a file cannot be opened.
fn not_opened(path: &Utf8Path, source: std::io::Error) -> ReadError {
    // Opening a socket says "no such device or address".
    let is_special = source.kind() == ErrorKind::IsADirectory || source.raw_os_error() == Some(libc::ENXIO);
    if source.kind() == ErrorKind::NotFound {
        ReadError::Missing(path.to_owned())
    } else if is_special {
        ReadError::Special(path.to_owned())
    } else {
        ReadError::Io { path: path.to_owned(), source }
    }
}

/// What to do when the file itself is a link.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Links {
    Follow,
    Refuse,
}

/// Reads a plain file of at most `bytes_max` bytes, wherever links lead. A pipe in its place does not block.
pub(crate) fn read_file(path: &Utf8Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    read_plain(path, bytes_max, Links::Follow)
}

fn read_plain(path: &Utf8Path, bytes_max: u64, links: Links) -> Result<Vec<u8>, ReadError> {
    let failed = |source: std::io::Error| not_opened(path, source);
    let flags = if links == Links::Refuse { libc::O_NOFOLLOW } else { 0 };
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | flags)
        .open(path)
        .map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(ReadError::Special(path.to_owned()));
    }
    if metadata.len() > bytes_max {
        return Err(ReadError::TooLarge { path: path.to_owned(), bytes_max });
    }
    // What is appended while it is read is not part of it: one call is enough for most files.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(metadata.len()).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// An entry of a folder.
pub(crate) struct FolderEntry {
    entry: std::fs::DirEntry,
    pub(crate) kind: FolderEntryKind,
}

/// What an entry of a folder is, links not followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FolderEntryKind {
    Folder,
    Link,
    /// A file, or something that only looks like one.
    File,
}

impl FolderEntry {
    /// Returns the entry's name if it is UTF-8.
    pub(crate) fn file_name(&self) -> Option<String> {
        self.entry.file_name().into_string().ok()
    }
}

/// Reads the entries of a folder, in no order.
pub(crate) fn read_folder(path: &Utf8Path) -> std::io::Result<Vec<FolderEntry>> {
    std::fs::read_dir(path)?
        .map(|entry| {
            let entry = entry?;
            let kind = entry.file_type()?;
            let kind = if kind.is_dir() {
                FolderEntryKind::Folder
            } else if kind.is_symlink() {
                FolderEntryKind::Link
            } else {
                FolderEntryKind::File
            };
            Ok(FolderEntry { entry, kind })
        })
        .collect()
}

struct Walk<'a> {
    root: &'a Utf8Path,
    limits: FolderLimits,
    /// The folder's real path, looked up when the first link asks for it.
    canonical: Option<std::path::PathBuf>,
    listing: Listing,
    bytes: u64,
    /// How many links and folders there were, and files that are none.
    others: usize,
    /// A limit was reached: nothing more is taken in.
    full: bool,
}

impl Walk<'_> {
    fn folder(&mut self, inside: &Utf8Path, entries: std::io::Result<Vec<FolderEntry>>, depth: usize) {
        let entries = match entries {
            Ok(entries) => entries,
            Err(source) => {
                return self.report(Code::Unreadable, inside, format!("cannot read the folder: {source}"));
            }
        };
        let mut folders = Vec::new();
        for entry in entries {
            let Some(name) = entry.file_name() else {
                self.report(Code::PathNotUtf8, inside, "a file's name is not UTF-8".to_owned());
                continue;
            };
            let path = inside.join(name);
            if entry.kind != FolderEntryKind::File && self.has_too_many_others() {
                return;
            }
            match entry.kind {
                FolderEntryKind::Link => self.link(path),
                FolderEntryKind::Folder if depth == 0 && DiskTree::is_skill_file(path.as_str()) => {
                    let message = "this is a folder, not a file; it is not read".to_owned();
                    self.report(Code::SpecialFile, &path, message);
                }
                FolderEntryKind::Folder => folders.push(path),
                FolderEntryKind::File => match entry.entry.metadata() {
                    Ok(metadata) => self.file(path, &metadata, false),
                    Err(source) => {
                        self.report(Code::Unreadable, &path, format!("cannot read the file: {source}"))
                    }
                },
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
        if self.full {
            return;
        }
        if is_left_out {
            return self.listing.passed_over.push(path);
        }
        if depth >= SKILL_DEPTH_MAX {
            let message = format!(
                "folders are nested deeper than {SKILL_DEPTH_MAX} levels; what lies deeper is left out"
            );
            return self.report(Code::FolderTooDeep, &path, message);
        }
        let entries = read_folder(&self.root.join(&path));
        // A skill inside a skill is a skill of its own, and owns its files.
        let is_main = |entry: &FolderEntry| {
            entry.kind != FolderEntryKind::Folder
                && entry.file_name().is_some_and(|name| DiskTree::is_skill_file(&name))
        };
        if !entries.as_ref().is_ok_and(|entries| entries.iter().any(is_main)) {
            self.folder(&path, entries, depth + 1);
        }
    }

    /// Counts what is no file, since it takes time to look at, too.
    fn has_too_many_others(&mut self) -> bool {
        self.others += 1;
        self.full = self.others > OTHERS_MAX;
        if self.full {
            let message = format!("a skill may have at most {OTHERS_MAX} links and folders");
            self.report(Code::TooManyFiles, Utf8Path::new(""), message);
        }
        self.full
    }

    fn file(&mut self, path: Utf8PathBuf, metadata: &Metadata, is_link: bool) {
        if !metadata.is_file() {
            let message = "this is not a plain file; it is not opened".to_owned();
            return self.report(Code::SpecialFile, &path, message);
        }
        if self.listing.files.len() >= self.limits.files_max {
            let message = format!("a skill may have at most {} files", self.limits.files_max);
            self.full = true;
            return self.report(Code::TooManyFiles, Utf8Path::new(""), message);
        }
        self.bytes = self.bytes.saturating_add(metadata.len());
        // A single document that is too large is reported as such; the folder's limit is for everything else.
        if self.bytes > self.limits.bytes_max && !DiskTree::is_skill_file(path.as_str()) {
            let message = format!("the files of a skill may have at most {} bytes", self.limits.bytes_max);
            self.full = true;
            return self.report(Code::FolderTooLarge, Utf8Path::new(""), message);
        }
        let is_executable = metadata.permissions().mode() & 0o111 != 0;
        let modified = metadata.modified().ok();
        self.listing.files.push(FileEntry { path, size: metadata.len(), is_executable, modified, is_link });
    }

    fn link(&mut self, path: Utf8PathBuf) {
        let full = self.root.join(&path);
        let Ok(target) = full.canonicalize() else {
            // There is nothing to follow here; on another machine, or later, there may be. So its text is judged.
            if fs::read_link(&full).is_ok_and(|text| leads_out(&path, &text)) {
                let message = "the link leads out of the skill's folder, to what is not there".to_owned();
                return self.report(Code::SymlinkEscapes, &path, message);
            }
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
            if full.is_file() {
                self.listing.escaping.push(path);
            }
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

/// Says whether the text of a link at `path` inside a folder names something outside of it.
fn leads_out(path: &Utf8Path, text: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    for part in text.components() {
        match part {
            Component::Prefix(_) | Component::RootDir => return true,
            Component::CurDir => {}
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(name) => {
                // A shell or a careless program would take it for a home folder.
                if name.as_encoded_bytes().starts_with(b"~") {
                    return true;
                }
                depth += 1;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A skill's folder beside a secret.
    fn place() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::create_dir_all(root.join("demo/sub")).unwrap();
        fs::create_dir(root.join("elsewhere")).unwrap();
        for file in ["secret", "demo/file", "demo/sub/file", "elsewhere/secret"] {
            fs::write(root.join(file), file).unwrap();
        }
        for (target, link) in [
            ("../secret", "demo/out"),
            ("../../secret", "demo/sub/out"),
            ("../elsewhere", "demo/folder"),
            ("file", "demo/inside"),
            ("sub", "demo/subfolder"),
            ("inside", "demo/twice"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        place
    }

    #[test]
    fn nothing_outside_the_folder_is_read() {
        let place = place();
        let root = Utf8Path::from_path(place.path()).unwrap();
        let tree = DiskTree::new(root.join("demo"));
        let absolute = root.join("secret");
        let paths = ["../secret", "sub/../../secret", "out", "sub/out", "folder/secret", "", ".", ".."];
        for path in paths.into_iter().chain([absolute.as_str()]) {
            let result = tree.read(Utf8Path::new(path), 100);
            assert!(matches!(result, Err(ReadError::Io { .. })), "{path}: {result:?}");
        }
    }

    #[test]
    fn a_link_to_nothing_is_judged_by_its_text() {
        for (path, text, expected) in [
            ("link", "/home/nobody/.ssh/id_rsa", true),
            ("link", "/etc/none", true),
            ("link", "~/.aws/credentials", true),
            ("link", "../none", true),
            ("sub/link", "../../none", true),
            ("sub/link", "../none", false),
            ("link", "sub/../none", false),
            ("link", "sub/../../none", true),
            ("link", "./none", false),
        ] {
            assert_eq!(leads_out(Utf8Path::new(path), Path::new(text)), expected, "{path} -> {text}");
        }
        let place = place();
        let root = Utf8Path::from_path(place.path()).unwrap();
        symlink("/root/.ssh/none", root.join("demo/key")).unwrap();
        symlink("none", root.join("demo/gone")).unwrap();
        let findings = DiskTree::new(root.join("demo")).listing().findings;
        let code = |name: &str| findings.iter().find(|one| one.path.ends_with(name)).map(|one| one.code);
        assert_eq!((code("key"), code("gone")), (Some(Code::SymlinkEscapes), Some(Code::SymlinkBroken)));
    }

    #[test]
    fn links_inside_the_folder_are_followed() {
        let place = place();
        let root = Utf8Path::from_path(place.path()).unwrap();
        symlink("demo", root.join("link")).unwrap();
        for folder in ["demo", "link"] {
            let tree = DiskTree::new(root.join(folder));
            for (path, expected) in [
                ("file", "demo/file"),
                ("inside", "demo/file"),
                ("twice", "demo/file"),
                ("sub/file", "demo/sub/file"),
                ("subfolder/file", "demo/sub/file"),
            ] {
                let content = tree.read(Utf8Path::new(path), 100).unwrap();
                assert_eq!(content, expected.as_bytes(), "{folder} {path}");
            }
        }
        let tree = DiskTree::new(root.join("demo"));
        assert!(matches!(tree.read(Utf8Path::new("gone"), 100), Err(ReadError::Missing(_))));
        assert!(matches!(tree.read(Utf8Path::new("sub"), 100), Err(ReadError::Special(_))));
    }
}
