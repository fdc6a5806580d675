//! What was fetched of a hub: its skills, each with its files, and what is to be said about the rest.

use std::collections::BTreeMap;

use artel_model::diagnostic::{Finding, Severity};
use artel_model::name::SkillName;
use camino::{Utf8Path, Utf8PathBuf};

use super::notes::SkippedSkill;
use super::path::shown_folder;
use super::reference::Revision;
use super::selection::Gathered;
use crate::load::{Keep, Loaded, Location, load_tree};
use crate::source::{FileTree as _, MemoryTree};

/// The content of a hub.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// What the content is called.
    pub revision: Revision,
    /// What the folder of the whole hub is called.
    pub root_name: String,
    /// The skills, by path.
    pub folders: Vec<SkillFolder>,
    /// Caps that were reached and files that were left out, harmless to show.
    pub warnings: Vec<String>,
    /// Skills that were left out.
    pub skipped: Vec<SkippedSkill>,
}

/// A skill of a hub.
#[derive(Clone, Debug)]
pub struct SkillFolder {
    /// Its folder in the hub; empty for the hub itself.
    pub path: Utf8PathBuf,
    /// Its name.
    pub name: SkillName,
    /// What it is for.
    pub description: String,
    /// Its files.
    pub tree: MemoryTree,
}

impl Fetched {
    /// Looks into what was gathered. Skills that cannot be used, and second ones of the same name, are left out.
    pub fn new(revision: Revision, root_name: String, gathered: Gathered) -> Self {
        Self::named(revision, root_name, gathered, Naming::Free)
    }

    /// Looks into what was gathered, as [`Fetched::new`] does.
    pub(crate) fn named(revision: Revision, root_name: String, gathered: Gathered, naming: Naming) -> Self {
        let Gathered { folders: gathered, mut notes } = gathered;
        let mut folders: Vec<SkillFolder> = Vec::new();
        let mut names: BTreeMap<SkillName, Utf8PathBuf> = BTreeMap::new();
        for (path, tree) in gathered {
            match skill_folder(&root_name, path.clone(), tree).and_then(|folder| naming.check(folder)) {
                Err(reason) => notes.skip(&path, &reason),
                Ok(folder) => match names.get(&folder.name) {
                    Some(first) => {
                        let first = shown_folder(first);
                        notes.skip(&path, &format!("`{first}` has the skill `{}` already", folder.name));
                    }
                    None => {
                        names.insert(folder.name.clone(), path);
                        folders.push(folder);
                    }
                },
            }
        }
        folders.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
        let (warnings, skipped) = notes.finish();
        Self { revision, root_name, folders, warnings, skipped }
    }

    /// Returns everything that a hub's status says about it, harmless to show.
    pub fn notes(&self) -> Vec<String> {
        notes(&self.warnings, &self.skipped)
    }
}

/// Returns warnings and skipped skills as the lines of a hub's status.
pub(super) fn notes(warnings: &[String], skipped: &[SkippedSkill]) -> Vec<String> {
    let line = |skipped: &SkippedSkill| {
        format!("the skill in `{}` is skipped: {}", shown_folder(&skipped.path), skipped.reason)
    };
    warnings.iter().cloned().chain(skipped.iter().map(line)).collect()
}

/// How skills may call themselves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Naming {
    /// As they like.
    Free,
    /// As their folders: one that calls itself differently could take the place of another.
    AsFolder,
}

impl Naming {
    fn check(self, folder: SkillFolder) -> Result<SkillFolder, String> {
        if self == Self::Free || folder.path.as_str() == folder.name.as_str() {
            Ok(folder)
        } else {
            Err(format!("it calls itself `{}`, which is not its name in the index", folder.name))
        }
    }
}

/// Reads what a skill says of itself; says why it cannot be used.
fn skill_folder(root_name: &str, path: Utf8PathBuf, tree: MemoryTree) -> Result<SkillFolder, String> {
    let location = Utf8Path::new(root_name).join(&path);
    let loaded = load_tree(&tree, tree.listing(), Location::Folder(location), Keep::Descriptions);
    match (&loaded.skill, loaded.is_usable()) {
        (Some(skill), true) => {
            Ok(SkillFolder { path, name: skill.name.clone(), description: skill.description.clone(), tree })
        }
        (Some(_) | None, _) => Err(first_error(&loaded)),
    }
}

fn first_error(loaded: &Loaded) -> String {
    let is_error = |finding: &&Finding| finding.code.weight().lenient == Some(Severity::Error);
    let first = loaded.findings.iter().find(is_error).or(loaded.findings.first());
    first.map_or_else(|| "it cannot be read".to_owned(), |finding| finding.message.clone())
}
