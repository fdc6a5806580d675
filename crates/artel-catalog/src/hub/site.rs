//! The skills of a site, put together from its index and what lies behind the addresses in it.

use std::io::Cursor;

use artel_model::name::SkillName;
use camino::{Utf8Path, Utf8PathBuf};

use super::archive::{ArchiveTop, read_archive};
use super::census::{Census, EntryKind};
use super::fetched::{Fetched, Naming};
use super::index::{IndexedKind, IndexedSkill, SkillIndex};
use super::limits::HubLimits;
use super::notes::Notes;
use super::selection::Gathered;
use crate::source::{FileTree as _, MemoryTree};

/// The skills of a site, as they come in.
#[derive(Clone, Debug)]
pub struct SiteSkills<'a> {
    index: &'a SkillIndex,
    /// What may still be taken.
    left: HubLimits,
    folders: Vec<(Utf8PathBuf, MemoryTree)>,
    missing: Vec<SkillName>,
    notes: Notes,
}

impl<'a> SiteSkills<'a> {
    /// Begins with an index and nothing else.
    pub fn new(index: &'a SkillIndex, limits: HubLimits) -> Self {
        let notes = index.notes.clone();
        Self { index, left: limits, folders: Vec::new(), missing: Vec::new(), notes }
    }

    /// Takes in what lies behind the address of a skill; it may be damaged, hostile, or of another skill.
    pub fn add(&mut self, skill: &IndexedSkill, bytes: Vec<u8>) {
        if !skill.is_digest_of(&bytes) {
            return self
                .miss(skill, "what the site sent is not what its index speaks of: the digests differ");
        }
        match self.tree(skill, bytes) {
            Ok(tree) => {
                let files = tree.listing().files;
                self.left.files_max -= files.len().min(self.left.files_max);
                let bytes: u64 = files.iter().map(|file| file.size).sum();
                self.left.bytes_max = self.left.bytes_max.saturating_sub(bytes);
                self.folders.push((skill.name.as_str().into(), tree));
            }
            // The same bytes will not get better by being fetched again.
            Err(reason) => self.notes.skip(Utf8Path::new(skill.name.as_str()), &reason),
        }
    }

    /// Says that a skill could not be had.
    pub fn miss(&mut self, skill: &IndexedSkill, reason: &str) {
        self.notes.skip(Utf8Path::new(skill.name.as_str()), reason);
        self.missing.push(skill.name.clone());
    }

    /// Returns the content of the site.
    pub fn finish(mut self, root_name: String) -> Fetched {
        self.folders.sort_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
        self.missing.sort();
        let revision = self.index.revision_without(&self.missing);
        let gathered = Gathered { folders: self.folders, notes: self.notes };
        Fetched::named(revision, root_name, gathered, Naming::AsFolder)
    }

    fn tree(&mut self, skill: &IndexedSkill, bytes: Vec<u8>) -> Result<MemoryTree, String> {
        let gathered = match skill.kind {
            IndexedKind::SkillMd => skill_md(bytes, self.left)?,
            IndexedKind::Archive => {
                let read = read_archive(Cursor::new(bytes), ArchiveTop::PerhapsOneFolder, &[], self.left);
                read.map_err(|error| error.to_string())?
            }
        };
        let (mut at_top, others): (Vec<_>, Vec<_>) =
            gathered.folders.into_iter().partition(|(path, _)| path.as_str().is_empty());
        let (_, skipped) = gathered.notes.clone().finish();
        let why = skipped.into_iter().find(|skipped| skipped.path.as_str().is_empty());
        self.notes.extend(gathered.notes.without_skipped());
        for (path, _) in others {
            let place = Utf8Path::new(skill.name.as_str()).join(path);
            self.notes.skip(&place, "an archive holds one skill, at its top");
        }
        match (at_top.pop(), why) {
            (Some((_, tree)), _) => Ok(tree),
            (None, Some(skipped)) => Err(skipped.reason),
            (None, None) => Err("the archive has no `SKILL.md` at its top".to_owned()),
        }
    }
}

fn skill_md(bytes: Vec<u8>, limits: HubLimits) -> Result<Gathered, String> {
    let mut census = Census::new(&[], limits);
    let kind = EntryKind::File { size: bytes.len() as u64, is_executable: false };
    census.offer(0, b"SKILL.md", kind).map_err(|error| error.to_string())?;
    let mut selection = census.select();
    selection.add(0, bytes);
    Ok(selection.finish())
}
