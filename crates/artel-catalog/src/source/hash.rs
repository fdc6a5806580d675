//! One hash over everything that is published of a skill.

use std::fmt;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::tree::{FileEntry, FileTree, Listing, ReadError};

/// SHA-256 of a file, or over every file of a skill: paths, executable bits and contents.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ContentHash([u8; 32]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Hashes the content of one file.
pub fn file_hash(content: &[u8]) -> ContentHash {
    ContentHash(Sha256::digest(content).into())
}

/// Hashes the files of a skill. The same content gives the same hash on every machine.
///
/// Each file's own hash goes in with its path, so that no two trees can be mistaken for each other.
pub fn content_hash(tree: &dyn FileTree, listing: &Listing) -> Result<ContentHash, ReadError> {
    let mut hash = Sha256::new();
    for file in &listing.files {
        add(&mut hash, file, &tree.read(&file.path, file.size.max(1))?);
    }
    Ok(ContentHash(hash.finalize().into()))
}

/// Hashes the files of a skill whose contents have been read already, in the order of their paths.
pub(crate) fn hash_contents<'a>(files: impl IntoIterator<Item = (&'a FileEntry, &'a [u8])>) -> ContentHash {
    let mut hash = Sha256::new();
    for (file, content) in files {
        add(&mut hash, file, content);
    }
    ContentHash(hash.finalize().into())
}

fn add(hash: &mut Sha256, file: &FileEntry, content: &[u8]) {
    hash.update((file.path.as_str().len() as u64).to_be_bytes());
    hash.update(file.path.as_str());
    hash.update([u8::from(file.is_executable)]);
    hash.update(Sha256::digest(content));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::DiskTree;

    fn hash_of(files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let root = camino::Utf8Path::from_path(folder.path()).unwrap();
        for (path, content) in files {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), content).unwrap();
        }
        let tree = DiskTree::new(root);
        content_hash(&tree, &tree.listing()).unwrap().to_string()
    }

    #[test]
    fn the_hash_follows_content_and_paths_and_nothing_else() {
        let one = hash_of(&[("SKILL.md", "a"), ("scripts/run", "b")]);
        assert_eq!(one, hash_of(&[("scripts/run", "b"), ("SKILL.md", "a")]));
        assert_ne!(one, hash_of(&[("SKILL.md", "a"), ("scripts/run", "c")]));
        assert_ne!(one, hash_of(&[("SKILL.md", "a"), ("scripts/ran", "b")]));
        assert_eq!(one, hash_of(&[("SKILL.md", "a"), ("scripts/run", "b"), ("data/state.json", "{}")]));
        assert!(one.starts_with("sha256:") && one.len() == 71);
    }
}
