//! What a lock file says.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::catalog::SourceKind;
use artel_model::name::SkillName;
use artel_model::skill::SkillPin;
use camino::Utf8Path;

use super::permission::Permission;
use crate::source::{ContentHash, hash_hashes};

/// The skills that a project uses.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LockFile {
    /// Which skills are meant.
    pub scope: LockScope,
    /// The skills, by name and version.
    pub skills: BTreeMap<SkillPin, LockedSkill>,
}

/// Which skills a lock file is about.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum LockScope {
    /// All that there are.
    #[default]
    All,
    /// These, and those they build on.
    Named(BTreeSet<SkillName>),
}

/// One skill, pinned.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LockedSkill {
    /// Where it comes from.
    pub origin: Origin,
    /// What it may do.
    pub permissions: BTreeSet<Permission>,
    /// Its files, by path.
    pub files: BTreeMap<String, LockedFile>,
}

/// Where a skill comes from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Origin {
    /// What kind of source.
    pub source: SourceKind,
    /// Where there: a folder, a hub, or `built-in`.
    pub location: String,
    /// Which state of it, when the source has such a thing: a commit, a release.
    pub revision: Option<String>,
}

/// One file of a skill, pinned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LockedFile {
    /// The hash of its content.
    pub hash: ContentHash,
    /// Whether it may be executed.
    pub is_executable: bool,
}

impl LockedSkill {
    /// Returns the hash over all its files, which is the skill's content hash everywhere else too.
    pub fn content_hash(&self) -> ContentHash {
        let files = self.files.iter();
        hash_hashes(files.map(|(path, file)| (Utf8Path::new(path), file.is_executable, file.hash)))
    }
}

impl LockScope {
    /// Says whether a skill is meant by its own name, and not only because another one builds on it.
    pub fn names(&self, name: &SkillName) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(name),
        }
    }
}
