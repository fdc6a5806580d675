//! What is published of a hub, on disk: `<into>/<revision>-<content>/<hub>/<folder of a skill>/…`.
//!
//! A content appears all at once or not at all, is never changed once it is there, and its predecessor stays, since
//! programs may be running in it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::fetched::{Fetched, notes};
use super::notes::SkippedSkill;
use super::path::check_path;
use super::reference::Revision;
use crate::load::{Keep, Loaded, load_folder};
use crate::remove::{ScratchFolder, remove_folder};
use crate::source::{DiskTree, FileTree, MemoryTree, content_hash, read_file};

/// The file that names the content in use.
const CURRENT_FILE: &str = "current.json";
/// The file that describes a content.
const MANIFEST_FILE: &str = "hub.json";
/// What folders that are being written begin with.
const UNFINISHED: &str = ".unfinished-";
/// Bytes of one of our own files.
const OWN_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Digits of the hash of a content in the name of its folder.
const CONTENT_DIGITS: usize = 16;
/// Contents that stay: the one in use, and the one before it.
const KEPT: usize = 2;

/// What is published of a hub.
#[derive(Clone, Debug)]
pub struct Published {
    /// The commit, or the digest of the index.
    pub revision: Revision,
    /// The name of the content: the same commit with other settings has another one.
    pub content: String,
    /// The settings of the hub that it was fetched with.
    pub settings: String,
    /// The skills, by path.
    pub skills: Vec<PublishedSkill>,
    /// Caps that were reached and files that were left out.
    pub warnings: Vec<String>,
    /// Skills that were left out.
    pub skipped: Vec<SkippedSkill>,
}

/// A skill that is published.
#[derive(Clone, Debug)]
pub struct PublishedSkill {
    /// Its folder in the hub; empty for the hub itself.
    pub path: Utf8PathBuf,
    /// Its folder on disk.
    pub folder: Utf8PathBuf,
    /// The hash of its files.
    pub content_hash: String,
}

/// Why a hub was not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// A file or folder cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// Which one.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file or folder cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// Which one.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What is on disk is not what was published.
    #[error("what was published in `{path}` is damaged; it has to be fetched again")]
    Damaged {
        /// Where.
        path: Utf8PathBuf,
    },
}

/// Describes a content.
#[derive(Debug, Deserialize, Serialize)]
struct Manifest {
    version: u32,
    revision: Revision,
    /// What was published before this was written down is fetched again.
    #[serde(default)]
    settings: String,
    root_name: String,
    skills: Vec<ManifestSkill>,
    warnings: Vec<String>,
    skipped: Vec<SkippedSkill>,
}

#[derive(Debug, Deserialize, Serialize)]
struct ManifestSkill {
    path: Utf8PathBuf,
    content_hash: String,
}

/// Names the contents that stay, the one in use first.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Current {
    contents: Vec<String>,
}

/// The version of our own files.
const VERSION: u32 = 1;

/// Writes what was fetched with these settings below `into`, the hub's own folder, makes it the content in use, and
/// removes all contents but that and the one before.
pub fn publish(fetched: &Fetched, settings: &str, into: &Utf8Path) -> Result<Published, PublishError> {
    fs::create_dir_all(into).map_err(|source| write_error(into, source))?;
    let manifest = manifest(fetched, settings)?;
    let text = serde_json::to_vec_pretty(&manifest).expect("a manifest of strings is written");
    let name = content_name(&manifest);
    let folder = into.join(&name);
    if !folder.join(MANIFEST_FILE).is_file() || !is_intact(&manifest, &folder) {
        write_content(fetched, &text, into, &folder)?;
    }
    let mut contents = current(into)?.contents;
    contents.retain(|other| *other != name);
    contents.insert(0, name.clone());
    contents.truncate(KEPT);
    let named =
        serde_json::to_vec(&Current { contents: contents.clone() }).expect("a list of strings is written");
    write_atomically(into, CURRENT_FILE, &named)?;
    remove_others(into, &contents);
    Ok(published(manifest, name, &folder))
}

/// Returns the name of the content that is published below `into`, without looking at its files.
pub fn published_content(into: &Utf8Path) -> Option<String> {
    current(into).ok()?.contents.into_iter().next()
}

/// Returns what is published below `into`, checked against what was written; nothing when nothing is.
pub fn read_published(into: &Utf8Path) -> Result<Option<Published>, PublishError> {
    let Some(name) = current(into)?.contents.into_iter().next() else { return Ok(None) };
    let folder = into.join(&name);
    let damaged = || PublishError::Damaged { path: folder.clone() };
    let bytes = read_file(&folder.join(MANIFEST_FILE), OWN_FILE_BYTES_MAX).map_err(|_| damaged())?;
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
    let is_inside =
        |path: &Utf8Path| path.as_str().is_empty() || check_path(path.as_str().as_bytes()).is_ok();
    let root_is_name = !manifest.root_name.contains('/') && check_path(manifest.root_name.as_bytes()).is_ok();
    if manifest.version != VERSION
        || !root_is_name
        || !manifest.skills.iter().all(|skill| is_inside(&skill.path))
    {
        return Err(damaged());
    }
    if is_intact(&manifest, &folder) { Ok(Some(published(manifest, name, &folder))) } else { Err(damaged()) }
}

/// Says whether the skills of a content are as they were written.
fn is_intact(manifest: &Manifest, folder: &Utf8Path) -> bool {
    let root = folder.join(&manifest.root_name);
    manifest.skills.iter().all(|skill| {
        let tree = DiskTree::new(folder_of(&root, &skill.path));
        content_hash(&tree, &tree.listing()).is_ok_and(|hash| hash.to_string() == skill.content_hash)
    })
}

/// Returns where a skill lies; joining an empty path would leave a slash at its end.
fn folder_of(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    if path.as_str().is_empty() { root.to_owned() } else { root.join(path) }
}

impl Published {
    /// Returns everything that a hub's status says about it, harmless to show.
    pub fn notes(&self) -> Vec<String> {
        notes(&self.warnings, &self.skipped)
    }
}

impl PublishedSkill {
    /// Loads the skill.
    pub fn load(&self, keep: Keep) -> Loaded {
        load_folder(&self.folder, keep)
    }
}

fn published(manifest: Manifest, content: String, folder: &Utf8Path) -> Published {
    let root = folder.join(&manifest.root_name);
    let skill = |skill: ManifestSkill| PublishedSkill {
        folder: folder_of(&root, &skill.path),
        path: skill.path,
        content_hash: skill.content_hash,
    };
    Published {
        revision: manifest.revision,
        content,
        settings: manifest.settings,
        skills: manifest.skills.into_iter().map(skill).collect(),
        warnings: manifest.warnings,
        skipped: manifest.skipped,
    }
}

fn manifest(fetched: &Fetched, settings: &str) -> Result<Manifest, PublishError> {
    let mut skills = Vec::new();
    for folder in &fetched.folders {
        let hash = content_hash(&folder.tree, &folder.tree.listing())
            .map_err(|_| PublishError::Damaged { path: folder.path.clone() })?;
        skills.push(ManifestSkill { path: folder.path.clone(), content_hash: hash.to_string() });
    }
    Ok(Manifest {
        version: VERSION,
        revision: fetched.revision.clone(),
        settings: settings.to_owned(),
        root_name: fetched.root_name.clone(),
        skills,
        warnings: fetched.warnings.clone(),
        skipped: fetched.skipped.clone(),
    })
}

/// A commit alone does not name a content: the settings that it was fetched with can change.
fn content_name(manifest: &Manifest) -> String {
    let text = serde_json::to_vec(manifest).expect("a manifest of strings is written");
    let hash: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}", manifest.revision, &hash[..CONTENT_DIGITS])
}

fn write_content(
    fetched: &Fetched,
    manifest: &[u8],
    into: &Utf8Path,
    folder: &Utf8Path,
) -> Result<(), PublishError> {
    let failed = |source| write_error(into, source);
    let unfinished = ScratchFolder::make_in(into, UNFINISHED).map_err(failed)?;
    let place = unfinished.path();
    let root = place.join(&fetched.root_name);
    for skill in &fetched.folders {
        write_tree(&skill.tree, &root.join(&skill.path))?;
    }
    write_file(&place.join(MANIFEST_FILE), manifest, 0o600, Durability::Synced)?;
    // What is there already is damaged, or was never finished.
    if folder.exists() {
        remove_folder(folder).map_err(|source| write_error(folder, source))?;
    }
    fs::rename(place, folder).map_err(|source| write_error(folder, source))?;
    unfinished.keep();
    Ok(())
}

fn write_tree(tree: &MemoryTree, folder: &Utf8Path) -> Result<(), PublishError> {
    for file in tree.listing().files {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|source| write_error(parent, source))?;
        let content =
            tree.read(&file.path, file.size).map_err(|_| PublishError::Damaged { path: path.clone() })?;
        let mode = if file.is_executable { 0o700 } else { 0o600 };
        write_file(&path, &content, mode, Durability::Whenever)?;
    }
    Ok(())
}

/// Whether a file must be on disk before the next step. Files of skills need not be: their hashes are checked when they
/// are read after a restart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Durability {
    Synced,
    Whenever,
}

fn write_file(
    path: &Utf8Path,
    content: &[u8],
    mode: u32,
    durability: Durability,
) -> Result<(), PublishError> {
    let failed = |source| write_error(path, source);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    match durability {
        Durability::Synced => file.sync_all().map_err(failed),
        Durability::Whenever => Ok(()),
    }
}

fn write_atomically(folder: &Utf8Path, name: &str, content: &[u8]) -> Result<(), PublishError> {
    let path = folder.join(name);
    let failed = |source| write_error(&path, source);
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder).map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

/// Returns which contents are there. A file of ours that is damaged is as good as none: the hub is fetched again.
fn current(into: &Utf8Path) -> Result<Current, PublishError> {
    let path = into.join(CURRENT_FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Current::default()),
        Err(source) => return Err(PublishError::Read { path, source }),
    };
    let mut current: Current = serde_json::from_slice(&bytes).unwrap_or_default();
    current.contents.retain(|name| !name.contains('/') && check_path(name.as_bytes()).is_ok());
    Ok(current)
}

/// What cannot be removed stays until the next time.
fn remove_others(into: &Utf8Path, contents: &[String]) {
    let Ok(entries) = into.read_dir_utf8() else { return };
    for entry in entries.filter_map(Result::ok) {
        let is_kept =
            entry.file_name() == CURRENT_FILE || contents.iter().any(|name| name == entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_kept {
            continue;
        }
        let _ = if is_folder { remove_folder(entry.path()) } else { fs::remove_file(entry.path()) };
    }
}

fn write_error(path: &Utf8Path, source: io::Error) -> PublishError {
    PublishError::Write { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remove::{DEEP, make_deep, on_a_small_stack};

    #[test]
    fn older_contents_go_whatever_their_depth() {
        let place = tempfile::tempdir().unwrap();
        let into = Utf8PathBuf::from_path_buf(place.path().to_owned()).unwrap();
        fs::create_dir(into.join("kept")).unwrap();
        make_deep(&into.join("older"), DEEP);
        let names = on_a_small_stack(move || {
            remove_others(&into, &["kept".to_owned()]);
            let entries = into.read_dir_utf8().unwrap();
            entries.map(|entry| entry.unwrap().file_name().to_owned()).collect::<Vec<_>>()
        });
        assert_eq!(names, ["kept"]);
    }
}
