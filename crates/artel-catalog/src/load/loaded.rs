//! A skill with everything that was found out while loading it.

use std::fmt;
use std::sync::Arc;

use artel_model::diagnostic::{Code, Finding, Position, Severity};
use artel_model::setting::ConfigSchema;
use artel_model::skill::Skill;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use crate::client::ClientFindings;
use crate::read::Places;
use crate::source::{DiskTree, EmbeddedTree, FileEntry, FileTree};

/// What loading one folder, or one entry of a registry file, gave.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Where it was loaded from.
    pub location: Location,
    /// The skill, when the files define one at all; see [`Loaded::is_usable`].
    pub skill: Option<Arc<Skill>>,
    /// The instructions: the body of `SKILL.md`, or `prompt.md`; only when they were asked for.
    pub instructions: Option<Arc<str>>,
    /// The files of the folder, by path.
    pub files: Vec<FileEntry>,
    /// What a user may configure.
    pub config_schema: Option<ConfigSchema>,
    /// What `config.json` says.
    pub config: Option<Map<String, Value>>,
    /// Everything that is to be said about it, in the order of files and lines.
    pub findings: Vec<Finding>,
    /// What clients would say; only when they were asked for.
    pub clients: Option<ClientFindings>,
    pub(crate) places: Option<Places>,
}

/// Where a skill was loaded from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Location {
    /// A folder.
    Folder(Utf8PathBuf),
    /// An entry of a registry file.
    RegistryFile {
        /// The file.
        path: Utf8PathBuf,
        /// Which entry, from 0.
        entry: usize,
    },
    /// The binary itself.
    BuiltIn(&'static str),
}

impl Location {
    /// Returns the folder or file; nothing for what is inside the binary.
    pub fn path(&self) -> Option<&Utf8Path> {
        match self {
            Self::Folder(path) | Self::RegistryFile { path, .. } => Some(path),
            Self::BuiltIn(_) => None,
        }
    }

    /// Orders locations by their text, which is quicker than by the parts of their paths.
    pub(crate) fn sort_key(&self) -> (String, usize) {
        match self {
            Self::Folder(path) => (path.to_string(), 0),
            Self::RegistryFile { path, entry } => (path.to_string(), *entry),
            Self::BuiltIn(name) => ((*name).to_owned(), 0),
        }
    }

    /// Returns the files behind the location; a registry file has none.
    pub fn tree(&self) -> Option<Box<dyn FileTree>> {
        match self {
            Self::Folder(path) => Some(Box::new(DiskTree::new(path.clone()))),
            Self::RegistryFile { .. } => None,
            Self::BuiltIn(name) => EmbeddedTree::find(name).map(|tree| Box::new(tree) as Box<dyn FileTree>),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) | Self::RegistryFile { path, .. } => path.fmt(f),
            Self::BuiltIn(name) => write!(f, "built-in:{name}"),
        }
    }
}

impl Loaded {
    /// What is known before anything is read.
    pub(crate) fn nothing(location: Location) -> Self {
        Self {
            location,
            skill: None,
            instructions: None,
            files: Vec::new(),
            config_schema: None,
            config: None,
            findings: Vec::new(),
            clients: None,
            places: None,
        }
    }

    /// Says whether the skill can be used: nothing about it is an error in lenient loading.
    pub fn is_usable(&self) -> bool {
        let is_error = |finding: &Finding| finding.code.weight().lenient == Some(Severity::Error);
        self.skill.is_some() && !self.findings.iter().any(is_error)
    }

    /// Says whether an earlier skill of the same name is used instead.
    pub fn is_superseded(&self) -> bool {
        self.findings.iter().any(|finding| matches!(finding.code, Code::Shadowed | Code::DuplicateSkill))
    }

    /// Returns the skill when it can be used.
    pub fn usable(&self) -> Option<&Arc<Skill>> {
        self.skill.as_ref().filter(|_| self.is_usable() && !self.is_superseded())
    }

    /// Returns where the skill's name stands.
    pub(crate) fn name_place(&self) -> Option<&(Utf8PathBuf, Position)> {
        self.places.as_ref().map(|places| &places.name)
    }
}
