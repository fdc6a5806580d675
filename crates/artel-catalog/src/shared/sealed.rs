//! Skills with the hashes of exactly the files they were loaded from.

use std::sync::Arc;

use rayon::prelude::*;

use super::entry::EntryFile;
use crate::load::Loaded;
use crate::scan::{ScanOptions, ScanReport, scan_skill};
use crate::source::{FileTree, MemoryTree, ReadError, file_hash, hash_files};

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
                let mut tree = MemoryTree::default();
                let manifest = manifest(&self.loaded);
                let content_hash = file_hash(&manifest);
                tree.add("skill.json", manifest, false);
                ScanReport { content_hash: Some(content_hash), ..scan_skill(&tree, options) }
            }
        }
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
