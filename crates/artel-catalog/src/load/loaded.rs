//! A skill with everything that was found out while loading it.

use std::fmt;
use std::sync::Arc;

use artel_model::catalog::SourceKind;
use artel_model::diagnostic::{Code, Finding, Position, Severity};
use artel_model::limit::DIAGNOSTICS_PER_SKILL_MAX;
use artel_model::setting::ConfigSchema;
use artel_model::skill::Skill;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use crate::client::ClientFindings;
use crate::mirror::Offer;
use crate::read::Places;
use crate::shared::EntryId;
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
    /// Who offers it, when it is a copy of what a server has: then it is told from there, not from the copy.
    pub offer: Option<Arc<Offer>>,
    pub(crate) places: Option<Places>,
    /// Findings that are counted but not kept.
    left_out: usize,
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
            offer: None,
            places: None,
            left_out: 0,
        }
    }

    /// Adds findings, puts all into their order and leaves out what is too much; how much that is comes last.
    pub(super) fn add_findings(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.retain(|finding| finding.code != Code::MoreFindings);
        self.findings.extend(findings);
        for finding in &mut self.findings {
            shorten(&mut finding.message);
            finding.hint.as_mut().map(shorten);
        }
        self.findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        self.findings.dedup();
        self.left_out += self.findings.len().saturating_sub(DIAGNOSTICS_PER_SKILL_MAX);
        self.findings.truncate(DIAGNOSTICS_PER_SKILL_MAX);
        if self.left_out > 0 {
            self.findings.push(Finding {
                code: Code::MoreFindings,
                message: format!("{} more findings are not shown", self.left_out),
                path: Utf8PathBuf::from(self.location.to_string()),
                position: None,
                hint: None,
            });
        }
    }

    /// Returns where it comes from: what no server offers comes from the default source.
    pub fn source(&self) -> SourceKind {
        self.offer.as_ref().map_or(SourceKind::Default, |offer| offer.id.source())
    }

    /// Returns its id, when it is a skill at all.
    pub fn id(&self) -> Option<EntryId> {
        let own = || self.skill.as_ref().map(|skill| EntryId::Default(skill.name.clone()));
        self.offer.as_ref().map(|offer| offer.id.clone()).or_else(own)
    }

    /// Says whether the skill can be used: nothing about it is an error in lenient loading.
    pub fn is_usable(&self) -> bool {
        let is_error = |finding: &Finding| finding.code.weight().lenient == Some(Severity::Error);
        self.skill.is_some() && !self.findings.iter().any(is_error)
    }

    /// Says whether an earlier skill of the same name is used instead.
    pub fn is_superseded(&self) -> bool {
        let replaces = |code| matches!(code, Code::Shadowed | Code::SameSkill | Code::DuplicateSkill);
        self.findings.iter().any(|finding| replaces(finding.code))
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

/// Characters of a message or a hint.
const MESSAGE_CHARS_MAX: usize = 500;

const CUT: &str = "...";

/// Cuts a text that quotes too much of a file for anybody to read.
fn shorten(text: &mut String) {
    let cut = |text: &str| text.char_indices().nth(MESSAGE_CHARS_MAX).map(|(end, _)| end);
    // What was cut before stays as it is.
    if let Some(end) = cut(text).filter(|end| text[*end..] != *CUT) {
        text.truncate(end);
        text.push_str(CUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: u32, message: String) -> Finding {
        let position = Some(Position { line, column: 1 });
        Finding { code: Code::DependencyUnknown, message, path: "demo".into(), position, hint: None }
    }

    #[test]
    fn findings_that_come_later_stay_within_the_limit() {
        let mut loaded = Loaded::nothing(Location::Folder("demo".into()));
        let lines = |from: u32, to: u32| (from..to).map(|line| finding(line, "no".to_owned()));
        loaded.add_findings(lines(0, 150));
        assert_eq!(loaded.findings.len(), 150);
        for (from, to, left_out) in [(150, 210, 10), (210, 215, 15), (0, 0, 15)] {
            loaded.add_findings(lines(from, to));
            assert_eq!(loaded.findings.len(), DIAGNOSTICS_PER_SKILL_MAX + 1);
            let last = loaded.findings.last().unwrap();
            assert_eq!(last.code, Code::MoreFindings);
            assert_eq!(last.message, format!("{left_out} more findings are not shown"));
        }
    }

    #[test]
    fn a_long_message_is_cut_once() {
        let mut loaded = Loaded::nothing(Location::Folder("demo".into()));
        loaded.add_findings([finding(1, "x".repeat(10_000))]);
        let once = loaded.findings.clone();
        assert_eq!(once[0].message.len(), MESSAGE_CHARS_MAX + CUT.len());
        loaded.add_findings([]);
        assert_eq!(loaded.findings, once);
    }
}
