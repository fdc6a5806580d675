//! What a site publishes of its skills: an index, and behind each of its addresses a `SKILL.md` or an archive. The same
//! skills give the same bytes, so that a digest says whether something changed.
//!
//! Written for `index` and `site` to read. Knows nothing of where it is served, and decides for nobody what is public.

use std::io;

use artel_model::name::SkillName;
use camino::Utf8PathBuf;
use flate2::{Compression, GzBuilder};
use serde::Serialize;

use super::index::{INDEX_PATH, IndexedKind, SCHEMA};
use crate::source::file_hash;

/// The file that every published skill has.
const MAIN: &str = "SKILL.md";
/// What an archive is called below the name of its skill.
const ARCHIVE: &str = "skill.tar.gz";

/// A file of a skill that is published.
#[derive(Clone, Debug)]
pub struct PublicFile {
    /// Its path below the skill's folder.
    pub path: Utf8PathBuf,
    /// What is in it.
    pub content: Vec<u8>,
    /// Whether it may be executed.
    pub is_executable: bool,
}

/// A skill as it is published.
#[derive(Clone, Debug)]
pub struct PublicSkill {
    /// Its name.
    pub name: SkillName,
    /// What it is for.
    pub description: String,
    /// What is behind its address.
    pub kind: IndexedKind,
    /// The bytes that are there.
    pub bytes: Vec<u8>,
}

#[derive(Serialize)]
struct Index<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    skills: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    description: &'a str,
    url: String,
    digest: String,
}

impl PublicSkill {
    /// Packs the files of a skill; a `SKILL.md` that is alone stays as it is. Without one there is nothing to publish.
    pub fn pack(
        name: SkillName,
        description: String,
        mut files: Vec<PublicFile>,
    ) -> io::Result<Option<Self>> {
        if !files.iter().any(|file| file.path == MAIN) {
            return Ok(None);
        }
        files.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
        let (kind, bytes) = if files.len() == 1 {
            (IndexedKind::SkillMd, files.pop().map(|file| file.content).unwrap_or_default())
        } else {
            (IndexedKind::Archive, archive(&files)?)
        };
        Ok(Some(Self { name, description, kind, bytes }))
    }

    /// Returns the last part of its address.
    pub fn file_name(&self) -> &'static str {
        match self.kind {
            IndexedKind::SkillMd => MAIN,
            IndexedKind::Archive => ARCHIVE,
        }
    }

    fn entry(&self) -> Entry<'_> {
        let kind = match self.kind {
            IndexedKind::SkillMd => "skill-md",
            IndexedKind::Archive => "archive",
        };
        // The address begins at the site, because not every client knows what a relative one is relative to.
        let folder = INDEX_PATH.trim_end_matches("/index.json");
        Entry {
            name: self.name.as_str(),
            kind,
            description: &self.description,
            url: format!("{folder}/{}/{}", self.name, self.file_name()),
            digest: file_hash(&self.bytes).to_string(),
        }
    }
}

/// Writes the index of skills, in the order given.
pub fn write_index(skills: &[PublicSkill]) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Index { schema: SCHEMA, skills: skills.iter().map(PublicSkill::entry).collect() })
}

/// Packs files without saying when, where or by whom.
fn archive(files: &[PublicFile]) -> io::Result<Vec<u8>> {
    let packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    let mut archive = tar::Builder::new(packed);
    for file in files {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(if file.is_executable { 0o755 } else { 0o644 });
        header.set_size(file.content.len() as u64);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, file.path.as_std_path(), file.content.as_slice())?;
    }
    archive.into_inner()?.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::{HubLimits, SiteSkills, SkillIndex};

    const SKILL: &str = "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n";

    fn file(path: &str, content: &str) -> PublicFile {
        let is_executable = path.starts_with("scripts/");
        PublicFile { path: path.into(), content: content.into(), is_executable }
    }

    fn packed(files: Vec<PublicFile>) -> PublicSkill {
        PublicSkill::pack("greet".parse().unwrap(), "Greets.".to_owned(), files).unwrap().unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let long = format!("references/{}/{}.md", "a".repeat(90), "b".repeat(90));
        let several = vec![file("scripts/run", "#!/bin/sh\n"), file(&long, "long"), file("SKILL.md", SKILL)];
        for files in [vec![file("SKILL.md", SKILL)], several] {
            let skill = packed(files.clone());
            let index = SkillIndex::parse(&write_index(std::slice::from_ref(&skill)).unwrap()).unwrap();
            let [indexed] = index.skills.as_slice() else { panic!("{index:?}") };
            assert_eq!(
                (indexed.name.as_str(), indexed.kind),
                ("greet", if files.len() == 1 { IndexedKind::SkillMd } else { IndexedKind::Archive })
            );
            let address = format!("/.well-known/agent-skills/greet/{}", skill.file_name());
            assert_eq!(indexed.url, address);
            let mut site = SiteSkills::new(&index, HubLimits::default());
            site.add(indexed, skill.bytes.clone());
            let fetched = site.finish("site".to_owned());
            assert_eq!((fetched.warnings.as_slice(), fetched.skipped.as_slice()), (&[][..], &[][..]));
            let tree = &fetched.folders[0].tree;
            for file in &files {
                assert_eq!(crate::FileTree::read(tree, &file.path, 1000).unwrap(), file.content);
                let listed = crate::FileTree::listing(tree);
                assert_eq!(listed.file(file.path.as_str()).unwrap().is_executable, file.is_executable);
            }
        }
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let files = vec![file("SKILL.md", SKILL), file("scripts/run", "x")];
        let reversed: Vec<PublicFile> = files.iter().rev().cloned().collect();
        assert_eq!(packed(files).bytes, packed(reversed).bytes);
    }

    #[test]
    fn a_skill_without_a_main_file_is_not_published() {
        let files = vec![file("skill.json", "{}")];
        assert!(PublicSkill::pack("greet".parse().unwrap(), String::new(), files).unwrap().is_none());
    }
}
