//! The skills that are shipped inside the binary.

use camino::{Utf8Path, Utf8PathBuf};
use include_dir::{Dir, include_dir};

use super::tree::{FileEntry, FileTree, Listing, ReadError};

static SKILLS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../skills");

/// A skill inside the binary.
#[derive(Clone, Debug)]
pub struct EmbeddedTree {
    root: &'static Dir<'static>,
}

/// Returns the skills inside the binary, by name.
pub fn embedded_skills() -> Vec<(&'static str, EmbeddedTree)> {
    let mut skills: Vec<_> = SKILLS
        .dirs()
        .filter_map(|dir| Some((dir.path().file_name()?.to_str()?, EmbeddedTree { root: dir })))
        .collect();
    skills.sort_by_key(|(name, _)| *name);
    skills
}

impl EmbeddedTree {
    /// Returns the skill of that name inside the binary.
    pub fn find(name: &str) -> Option<Self> {
        embedded_skills().into_iter().find(|(known, _)| *known == name).map(|(_, tree)| tree)
    }

    fn collect(&self, dir: &'static Dir<'static>, files: &mut Vec<FileEntry>) {
        for file in dir.files() {
            let inside = file.path().strip_prefix(self.root.path()).ok().and_then(Utf8Path::from_path);
            let Some(path) = inside else { continue };
            files.push(FileEntry {
                path: path.to_owned(),
                size: file.contents().len() as u64,
                // The binary keeps no permissions; what starts with an interpreter is meant to run.
                is_executable: file.contents().starts_with(b"#!"),
                modified: None,
                is_link: false,
            });
        }
        for inner in dir.dirs() {
            let name = inner.path().file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !matches!(name, "data" | "__pycache__") {
                self.collect(inner, files);
            }
        }
    }
}

impl FileTree for EmbeddedTree {
    fn listing(&self) -> Listing {
        let mut files = Vec::new();
        self.collect(self.root, &mut files);
        files.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
        Listing { files, ..Listing::default() }
    }

    fn read(&self, path: &Utf8Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        let full = Utf8PathBuf::from_path_buf(self.root.path().join(path));
        let file = full.ok().and_then(|full| self.root.get_file(full));
        let file = file.ok_or_else(|| ReadError::Missing(path.to_owned()))?;
        if file.contents().len() as u64 > bytes_max {
            return Err(ReadError::TooLarge { path: path.to_owned(), bytes_max });
        }
        Ok(file.contents().to_vec())
    }
}
