//! Skills with the hashes of exactly the files they were loaded from.

use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value;

use super::entry::EntryFile;
use crate::load::Loaded;
use crate::scan::{ScanCopy, ScanOptions, ScanReport, Scanned, scan_skill};
use crate::source::{ContentHash, FileTree, MemoryTree, ReadError, content_hash, file_hash, hash_files};

/// A usable skill and the hashes of its files.
#[derive(Clone, Debug)]
pub struct Sealed {
    pub(super) loaded: Arc<Loaded>,
    pub(super) content_hash: String,
    pub(super) files: Arc<[EntryFile]>,
}

impl Sealed {
    /// Returns the skill.
    pub fn loaded(&self) -> &Arc<Loaded> {
        &self.loaded
    }

    /// Returns the hash over all its files; verdicts and overrides are known by it.
    pub fn content_hash(&self) -> &str {
        &self.content_hash
    }

    /// Returns the files, by path.
    pub fn files(&self) -> &[EntryFile] {
        &self.files
    }

    /// Scans exactly what defines the skill: its files, or what it says when it has none.
    pub fn scan(&self, options: &ScanOptions) -> ScanReport {
        match self.loaded.location.tree() {
            Some(tree) => scan_skill(&*tree, options),
            None => {
                let content_hash = file_hash(&manifest(&self.loaded));
                ScanReport { content_hash: Some(content_hash), ..scan_skill(&self.told(), options) }
            }
        }
    }

    /// Returns exactly what defines the skill, for a scanner of somebody else.
    pub fn scan_copy(&self, about: Scanned) -> ScanCopy {
        match self.loaded.location.tree() {
            Some(tree) => ScanCopy::new(about, tree, self.content_hash.clone(), &self.loaded),
            None => {
                let tree = self.told();
                // What is in memory can always be read.
                let hash = content_hash(&tree, &tree.listing()).map(|hash| hash.to_string());
                ScanCopy::new(about, Box::new(tree), hash.unwrap_or_default(), &self.loaded)
            }
        }
    }

    /// Returns what a skill without files of its own says, as a file.
    fn told(&self) -> MemoryTree {
        let mut tree = MemoryTree::default();
        tree.add("skill.json", manifest(&self.loaded), false);
        tree
    }
}

/// Reads the files behind a skill's location.
pub fn seal(loaded: Arc<Loaded>) -> Result<Sealed, ReadError> {
    match loaded.location.tree() {
        Some(tree) => seal_tree(loaded, &*tree),
        // A skill without files of its own is told apart by what it says.
        None => {
            let content_hash = file_hash(&manifest(&loaded)).to_string();
            Ok(Sealed { loaded, content_hash, files: Arc::from([]) })
        }
    }
}

fn manifest(loaded: &Loaded) -> Vec<u8> {
    let manifest = loaded.skill.as_ref().map(|skill| serde_json::to_vec(&skill.manifest()));
    manifest.and_then(Result::ok).unwrap_or_default()
}

/// Returns the hash that tells a skill without files of its own apart.
pub(crate) fn manifest_hash(loaded: &Loaded) -> ContentHash {
    file_hash(&manifest(loaded))
}

/// Returns what a skill says as a `skill.json` that can be read again: rules stand beside the other fields there.
pub(crate) fn manifest_file(loaded: &Loaded) -> Vec<u8> {
    let mut document = serde_json::from_slice(&manifest(loaded)).unwrap_or(Value::Null);
    if let Some(fields) = document.as_object_mut()
        && let Some(Value::Object(rules)) = fields.remove("rules")
    {
        fields.extend(rules);
    }
    document.to_string().into_bytes()
}

/// Reads the files of a skill that was loaded from `tree`.
pub fn seal_tree(loaded: Arc<Loaded>, tree: &dyn FileTree) -> Result<Sealed, ReadError> {
    let (content_hash, hashes) = hash_files(tree, &loaded.files)?;
    let files = loaded.files.iter().zip(hashes).map(|(file, hash)| EntryFile {
        path: file.path.clone(),
        size: file.size,
        hash,
        is_executable: file.is_executable,
    });
    let files = files.collect();
    Ok(Sealed { loaded, content_hash: content_hash.to_string(), files })
}

/// Reads the files of many skills, on all cores, in the order given.
pub fn seal_all(loaded: Vec<Arc<Loaded>>) -> Vec<Result<Sealed, (Arc<Loaded>, ReadError)>> {
    let sealed = loaded.into_par_iter().map(|loaded| seal(Arc::clone(&loaded)).map_err(|why| (loaded, why)));
    sealed.collect()
}
