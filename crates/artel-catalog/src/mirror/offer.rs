//! What a server says about a skill that it offers.

use artel_model::name::SkillName;

use crate::shared::{EntryFile, EntryId};
use crate::source::{ContentHash, hash_hashes};

/// The file that holds a user's settings.
const SETTINGS: &str = "config.json";

/// A skill that a server offers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Offer {
    /// Its id there.
    pub id: EntryId,
    /// Its name.
    pub name: SkillName,
    /// The hash over all its files; of one without files, over what it says.
    pub content_hash: ContentHash,
    /// Its files, by path.
    pub files: Vec<EntryFile>,
}

impl Offer {
    /// Says whether the files are those that the hash is about.
    pub fn is_consistent(&self) -> bool {
        let files = self.files.iter().map(|file| (&*file.path, file.is_executable, file.hash));
        self.files.is_empty() || hash_hashes(files) == self.content_hash
    }

    /// Returns the file of that path.
    pub fn file(&self, path: &str) -> Option<&EntryFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Says whether a file stays with the server: settings do, by their own name or through a link.
    pub fn stays(&self, file: &EntryFile) -> bool {
        let settings = self.file(SETTINGS);
        settings.is_some_and(|settings| settings.path == file.path || settings.hash == file.hash)
    }
}
