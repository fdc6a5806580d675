//! Reads the repository's own files: everything that git would track, without what it ignores and without fixtures'
//! contents. The only part of tidy that touches the disk.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use ignore::WalkBuilder;

const CHECKED_EXTENSIONS: &[&str] = &["rs", "md", "toml", "json", "sh", "py"];

/// Every file of the repository, in path order.
pub(crate) struct Tree {
    /// All paths relative to the root, `/`-separated, fixtures included.
    pub(crate) paths: Vec<String>,
    /// The files whose text the rules look at.
    pub(crate) files: Vec<TextFile>,
}

/// One file that rules read.
pub(crate) struct TextFile {
    pub(crate) path: String,
    /// `None` when the file is not UTF-8.
    pub(crate) text: Option<String>,
}

impl Tree {
    /// Reads the tree under `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self { paths: Vec::new(), files: Vec::new() };
        for entry in walk(root) {
            let entry = entry.context("cannot walk the repository")?;
            if entry.file_type().is_none_or(|kind| kind.is_dir()) {
                continue;
            }
            let path = entry.path().strip_prefix(root)?.to_string_lossy().replace('\\', "/");
            if is_checked(&path) {
                let bytes = fs::read(entry.path()).with_context(|| format!("cannot read `{path}`"))?;
                tree.files.push(TextFile { path: path.clone(), text: String::from_utf8(bytes).ok() });
            }
            tree.paths.push(path);
        }
        Ok(tree)
    }
}

// Only the repository's own ignore file counts: a check must not depend on the user's settings, nor on git being there.
fn walk(root: &Path) -> ignore::Walk {
    WalkBuilder::new(root)
        .standard_filters(false)
        .git_ignore(true)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp)
        .build()
}

/// Fixtures are wrong on purpose and the lock file is written by cargo.
fn is_checked(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    CHECKED_EXTENSIONS.contains(&extension) && !path.split('/').any(|part| part == "fixtures")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixtures_and_other_kinds_of_files_are_not_checked() {
        let checked = ["a.rs", ".ci/x.sh", "docs/a.md"];
        let skipped = ["fixtures/a.json", "crates/x/fixtures/b.rs", "Cargo.lock", "a.snap", "LICENSE"];
        assert!(checked.iter().all(|path| is_checked(path)));
        assert!(!skipped.iter().any(|path| is_checked(path)));
    }
}
