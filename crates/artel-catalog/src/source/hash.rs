//! One hash over everything that is published of a skill.

use std::fmt;
use std::str::FromStr;

use camino::Utf8Path;
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

/// A text that is no hash.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("it is not `sha256:` with 64 digits of 0-9 and a-f after it")]
pub struct UnreadableHash;

impl FromStr for ContentHash {
    type Err = UnreadableHash;

    fn from_str(text: &str) -> Result<Self, UnreadableHash> {
        let digits = text.strip_prefix("sha256:").ok_or(UnreadableHash)?.as_bytes();
        let mut bytes = [0; 32];
        if digits.len() != 2 * bytes.len() {
            return Err(UnreadableHash);
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = 16 * digit(pair[0])? + digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

/// Capital letters are no digits: one hash is written in one way.
fn digit(character: u8) -> Result<u8, UnreadableHash> {
    match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        _ => Err(UnreadableHash),
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
    hash_files(tree, &listing.files).map(|(all, _)| all)
}

/// Hashes the files of a skill, all together and each.
pub(crate) fn hash_files(
    tree: &dyn FileTree,
    files: &[FileEntry],
) -> Result<(ContentHash, Vec<ContentHash>), ReadError> {
    let mut hash = Sha256::new();
    let mut each = Vec::with_capacity(files.len());
    for file in files {
        each.push(add(&mut hash, file, &tree.read(&file.path, file.size.max(1))?));
    }
    Ok((ContentHash(hash.finalize().into()), each))
}

/// Hashes the files of a skill whose contents have been read already, in the order of their paths.
pub(crate) fn hash_contents<'a>(files: impl IntoIterator<Item = (&'a FileEntry, &'a [u8])>) -> ContentHash {
    let mut hash = Sha256::new();
    for (file, content) in files {
        add(&mut hash, file, content);
    }
    ContentHash(hash.finalize().into())
}

/// Hashes the files of a skill whose own hashes are known, in the order of their paths.
pub(crate) fn hash_hashes<'a>(
    files: impl IntoIterator<Item = (&'a Utf8Path, bool, ContentHash)>,
) -> ContentHash {
    let mut hash = Sha256::new();
    for (path, is_executable, file) in files {
        add_hash(&mut hash, path, is_executable, file);
    }
    ContentHash(hash.finalize().into())
}

fn add(hash: &mut Sha256, file: &FileEntry, content: &[u8]) -> ContentHash {
    let own = file_hash(content);
    add_hash(hash, &file.path, file.is_executable, own);
    own
}

fn add_hash(hash: &mut Sha256, path: &Utf8Path, is_executable: bool, file: ContentHash) {
    hash.update((path.as_str().len() as u64).to_be_bytes());
    hash.update(path.as_str());
    hash.update([u8::from(is_executable)]);
    hash.update(file.0);
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

    #[test]
    fn a_hash_is_read_as_it_is_written_and_in_no_other_way() {
        let hash = file_hash(b"a");
        let text = hash.to_string();
        assert_eq!(text.parse(), Ok(hash));
        for wrong in [&text[7..], &text[..70], &format!("{text}0"), &text.to_uppercase(), "sha256:", ""] {
            assert_eq!(wrong.parse::<ContentHash>(), Err(UnreadableHash), "{wrong}");
        }
        assert!(text.replace('c', "C").parse::<ContentHash>().is_err());
    }
}
