//! Pins one skill as it is.

use std::collections::BTreeMap;

use artel_model::diagnostic::{Code, Finding};
use artel_model::limit::SKILL_BYTES_MAX;
use artel_model::skill::Skill;
use camino::Utf8Path;

use super::locked::{LockedFile, LockedSkill, Origin};
use super::permission::permissions;
use crate::source::{FileTree, ReadError, file_hash};

/// Why a skill cannot be pinned.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// A file cannot be read.
    #[error("cannot read all its files")]
    Read(#[source] ReadError),
    /// Not every file is known, so a change of one could not be seen.
    #[error("not all its files are seen: {0}")]
    Unseen(String),
}

/// Pins a skill: reads each of its files once.
pub fn pin(skill: &Skill, origin: Origin, tree: &dyn FileTree) -> Result<LockedSkill, PinError> {
    let listing = tree.listing();
    if let Some(unseen) = listing.findings.iter().find(|finding| hides_files(finding)) {
        return Err(PinError::Unseen(unseen.message.clone()));
    }
    let mut files = BTreeMap::new();
    let mut interpreters: BTreeMap<&Utf8Path, String> = BTreeMap::new();
    for file in &listing.files {
        let content = tree.read(&file.path, file.size.max(SKILL_BYTES_MAX)).map_err(PinError::Read)?;
        let locked = LockedFile { hash: file_hash(&content), is_executable: file.is_executable };
        files.insert(file.path.to_string(), locked);
        if let Some(line) = interpreter(&content) {
            interpreters.insert(&file.path, line);
        }
    }
    let permissions = permissions(skill, |path| interpreters.get(path).cloned());
    Ok(LockedSkill { origin, permissions, files })
}

/// Says whether what is wrong with a folder keeps files of it out of sight.
fn hides_files(finding: &Finding) -> bool {
    // A link that leads out, or nowhere, is no file of the skill for anybody.
    !matches!(finding.code, Code::SymlinkEscapes | Code::SymlinkBroken | Code::SpecialFile)
}

/// Bytes of a first line that the system reads.
const INTERPRETER_BYTES_MAX: usize = 255;

/// Returns the line after `#!`.
fn interpreter(content: &[u8]) -> Option<String> {
    let rest = content.strip_prefix(b"#!")?;
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = &line[..line.len().min(INTERPRETER_BYTES_MAX)];
    let text = String::from_utf8_lossy(line).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
