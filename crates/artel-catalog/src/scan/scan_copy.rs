//! Skills as a scanner of somebody else is shown them: in a folder of their own, exactly as they are published.
//!
//! Only writes; who looks at the folder, and for how long, is decided elsewhere.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use artel_model::name::SkillName;
use camino::{Utf8Path, Utf8PathBuf};

use super::verdict::Scanned;
use crate::frontmatter_writer::write_frontmatter;
use crate::load::Loaded;
use crate::source::{ContentHash, FileTree, file_hash, hash_hashes};

/// The file that scanners of skills look for.
const MAIN_FILE: &str = "SKILL.md";
/// The folder of a skill whose name is none.
const NAMELESS: &str = "skill";

/// A skill that a scanner of somebody else is shown.
pub struct ScanCopy {
    /// What it is.
    pub about: Scanned,
    tree: Box<dyn FileTree>,
    /// The hash over the files of the tree; that of a skill without files of its own is another than its content's.
    tree_hash: String,
    name: String,
    stand_in: String,
}

/// Why a skill cannot be shown; harmless to tell.
#[derive(Debug, thiserror::Error)]
pub enum ScanCopyError {
    /// Its files cannot be read.
    #[error("its files cannot be read")]
    Read(#[source] crate::source::ReadError),
    /// They are others than those that are published.
    #[error("the files were changed while they were scanned")]
    Changed,
    /// The copy cannot be written.
    #[error("a copy for the scanner cannot be written")]
    Write(#[source] std::io::Error),
}

impl ScanCopy {
    /// Takes a skill whose files in `tree` have that hash. What was loaded stands in for a `SKILL.md` that it does not
    /// have.
    pub fn new(about: Scanned, tree: Box<dyn FileTree>, tree_hash: String, loaded: &Loaded) -> Self {
        let skill = loaded.skill.as_ref();
        let named = skill.map(|skill| skill.name.to_string());
        let name = named.filter(|name| name.parse::<SkillName>().is_ok());
        let description = skill.map_or("", |skill| skill.description.as_str());
        let name = name.unwrap_or_else(|| NAMELESS.to_owned());
        let fields = [("name", name.as_str()), ("description", description)];
        let body = loaded.instructions.as_deref().unwrap_or_default();
        let stand_in = format!("{}\n{body}\n", write_frontmatter(&fields));
        Self { about, tree, tree_hash, name, stand_in }
    }

    /// Writes the skill below `folder`, and returns the folder that is its own: it has the skill's name, as folders of
    /// skills do. Blocks.
    pub fn write_below(&self, folder: &Utf8Path) -> Result<Utf8PathBuf, ScanCopyError> {
        let own = folder.join(&self.name);
        fs::create_dir_all(&own).map_err(ScanCopyError::Write)?;
        let mut hashes: Vec<(Utf8PathBuf, bool, ContentHash)> = Vec::new();
        for file in self.tree.listing().files {
            let content = self.tree.read(&file.path, file.size.max(1)).map_err(ScanCopyError::Read)?;
            write(&own.join(&file.path), &content, file.is_executable).map_err(ScanCopyError::Write)?;
            hashes.push((file.path, file.is_executable, file_hash(&content)));
        }
        let all = hash_hashes(hashes.iter().map(|(path, mode, hash)| (path.as_path(), *mode, *hash)));
        if all.to_string() != self.tree_hash {
            return Err(ScanCopyError::Changed);
        }
        if !hashes.iter().any(|(path, ..)| path == MAIN_FILE) {
            write(&own.join(MAIN_FILE), self.stand_in.as_bytes(), false).map_err(ScanCopyError::Write)?;
        }
        Ok(own)
    }
}

fn write(path: &Utf8Path, content: &[u8], is_executable: bool) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, content)?;
    fs::set_permissions(path, Permissions::from_mode(if is_executable { 0o755 } else { 0o644 }))
}

#[cfg(test)]
mod tests {
    use artel_model::catalog::SourceKind;

    use super::*;
    use crate::load::{Keep, Location, load_tree};
    use crate::source::{MemoryTree, content_hash};

    fn scan_copy(files: &[(&str, &str)], hash: Option<&str>) -> ScanCopy {
        let mut tree = MemoryTree::default();
        for (path, text) in files {
            tree.add(*path, *text, path.starts_with("scripts/"));
        }
        let loaded = load_tree(&tree, tree.listing(), Location::Folder("x".into()), Keep::Instructions);
        let own = content_hash(&tree, &tree.listing()).unwrap().to_string();
        let about = Scanned {
            source: SourceKind::Default,
            source_id: None,
            skill_id: "default/demo".to_owned(),
            content_hash: own.clone(),
        };
        ScanCopy::new(about, Box::new(tree), hash.map_or(own, str::to_owned), &loaded)
    }

    fn written(scan_copy: &ScanCopy) -> Result<Vec<(String, String)>, ScanCopyError> {
        let root = tempfile::tempdir().unwrap();
        let own = scan_copy.write_below(Utf8Path::from_path(root.path()).unwrap())?;
        let disk = crate::source::DiskTree::new(own.clone());
        let mut files = vec![("/".to_owned(), own.file_name().unwrap().to_owned())];
        for file in disk.listing().files {
            let content = disk.read(&file.path, file.size.max(1)).unwrap();
            files.push((file.path.into_string(), String::from_utf8(content).unwrap()));
        }
        Ok(files)
    }

    fn pair(path: &str, text: &str) -> (String, String) {
        (path.to_owned(), text.to_owned())
    }

    #[test]
    fn a_skill_is_shown_exactly_as_it_is_published() {
        let main = "---\nname: demo\ndescription: Shows.\n---\nDo it.\n";
        let shown =
            written(&scan_copy(&[("SKILL.md", main), ("scripts/run.sh", "#!/bin/sh\n")], None)).unwrap();
        assert_eq!(shown, [pair("/", "demo"), pair("SKILL.md", main), pair("scripts/run.sh", "#!/bin/sh\n")]);
        let other = scan_copy(&[("SKILL.md", main)], Some("sha256:0"));
        assert!(matches!(written(&other), Err(ScanCopyError::Changed)));
    }

    #[test]
    fn what_has_no_instructions_of_its_own_is_shown_as_agents_see_it() {
        let manifest = r#"{"name": "demo", "version": "1.0.0", "description": "Shows: all."}"#;
        let shown = written(&scan_copy(&[("skill.json", manifest)], None)).unwrap();
        let stand_in = "---\nname: demo\ndescription: \"Shows: all.\"\n---\n\n\n";
        assert_eq!(shown, [pair("/", "demo"), pair("SKILL.md", stand_in), pair("skill.json", manifest)]);
        let broken = written(&scan_copy(&[("skill.json", "{")], None)).unwrap();
        assert_eq!(broken[0], pair("/", NAMELESS), "what does not load is shown as well");
    }
}
