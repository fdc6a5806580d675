//! Several skills in one compressed archive. Every file lies in a folder whose name is the place of its skill among those
//! that were asked for.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::time::{Duration, SystemTime};

use artel_model::limit::{BUNDLE_BYTES_MAX, BUNDLE_SKILLS_MAX, SKILL_BYTES_MAX, SKILL_FILES_MAX};
use camino::Utf8PathBuf;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::hub::{PathProblem, check_path};
use crate::load::Loaded;
use crate::settings::holds_settings;
use crate::shared::{EntryFile, manifest_file};
use crate::source::file_hash;

/// Bytes that stand in front of a file, and behind it, at most.
const FILE_BYTES: usize = 4096;
/// Bytes that a bundle may unpack to: what fits, and the one skill that always does.
const UNPACKED_BYTES_MAX: u64 =
    BUNDLE_BYTES_MAX as u64 + SKILL_BYTES_MAX + (FILE_BYTES * (SKILL_FILES_MAX + 1)) as u64;
/// The bits of a file's mode that say who may execute it.
const MODE_EXECUTE: u32 = 0o111;

/// One file of a skill in a bundle.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BundledFile {
    /// Its path below the skill's folder.
    pub path: Utf8PathBuf,
    /// What is in it.
    pub content: Vec<u8>,
    /// Whether it may be executed.
    pub is_executable: bool,
    /// When it was last changed, to the second; nothing when nobody knows.
    pub modified: Option<SystemTime>,
}

/// Why a bundle was not read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It is damaged, or something else.
    #[error("the bundle is damaged")]
    Damaged(#[source] io::Error),
    /// It holds something that is no file of a skill.
    #[error("the bundle holds something else than files of skills")]
    Strange,
    /// It holds a file that lies nowhere.
    #[error("the bundle holds a file that is not taken")]
    Path(#[source] PathProblem),
}

/// Reads the files of a skill as they were listed, without anybody's settings; nothing when one has changed since.
pub fn bundled(loaded: &Loaded, listed: &[EntryFile]) -> Option<Vec<BundledFile>> {
    let Some(tree) = loaded.location.tree() else {
        let path = Utf8PathBuf::from("skill.json");
        let content = manifest_file(loaded);
        return Some(vec![BundledFile { path, content, is_executable: false, modified: None }]);
    };
    let mut files = Vec::new();
    for file in loaded.files.iter().filter(|file| !holds_settings(loaded, file)) {
        let known = listed.iter().find(|known| known.path == file.path)?;
        let content = tree.read(&known.path, known.size.max(1)).ok()?;
        if file_hash(&content) != known.hash {
            return None;
        }
        let (path, is_executable) = (known.path.clone(), known.is_executable);
        files.push(BundledFile { path, content, is_executable, modified: file.modified });
    }
    Some(files)
}

/// A bundle in the making.
pub struct BundleWriter {
    archive: tar::Builder<GzEncoder<Vec<u8>>>,
    bytes: usize,
}

impl BundleWriter {
    /// Starts an empty one.
    #[expect(clippy::new_without_default, reason = "an empty bundle is no default of anything")]
    pub fn new() -> Self {
        Self { archive: tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast())), bytes: 0 }
    }

    /// Adds a skill, if it fits: the first always does. A skill is in a bundle as a whole or not at all.
    pub fn add(&mut self, place: usize, files: &[BundledFile]) -> io::Result<()> {
        let bytes: usize = files.iter().map(|file| file.content.len() + FILE_BYTES).sum();
        if self.bytes > 0 && self.bytes + bytes > BUNDLE_BYTES_MAX {
            return Ok(());
        }
        self.bytes += bytes;
        for file in files {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Regular);
            header.set_mode(if file.is_executable { 0o755 } else { 0o644 });
            header.set_size(file.content.len() as u64);
            header.set_mtime(file.modified.map_or(0, seconds));
            header.set_uid(0);
            header.set_gid(0);
            let path = format!("{place}/{}", file.path);
            self.archive.append_data(&mut header, path, file.content.as_slice())?;
        }
        Ok(())
    }

    /// Returns the bundle.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        self.archive.into_inner()?.finish()
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Reads a bundle: the files of every skill in it, by the place of the skill among those that were asked for.
pub fn read_bundle(bytes: &[u8]) -> Result<BTreeMap<usize, Vec<BundledFile>>, BundleError> {
    let mut archive = tar::Archive::new(GzDecoder::new(bytes).take(UNPACKED_BYTES_MAX));
    let mut skills: BTreeMap<usize, Vec<BundledFile>> = BTreeMap::new();
    for (number, entry) in archive.entries().map_err(BundleError::Damaged)?.enumerate() {
        let mut entry = entry.map_err(BundleError::Damaged)?;
        if !entry.header().entry_type().is_file() || number >= BUNDLE_SKILLS_MAX * SKILL_FILES_MAX {
            return Err(BundleError::Strange);
        }
        let path = check_path(&entry.path_bytes()).map_err(BundleError::Path)?;
        let (place, path) = path.as_str().split_once('/').ok_or(BundleError::Strange)?;
        let place: usize = place.parse().map_err(|_| BundleError::Strange)?;
        let files = skills.entry(place).or_default();
        if files.iter().any(|file| file.path == path) {
            return Err(BundleError::Strange);
        }
        let path = Utf8PathBuf::from(path);
        let is_executable = entry.header().mode().is_ok_and(|mode| mode & MODE_EXECUTE != 0);
        let changed = entry.header().mtime().ok().filter(|seconds| *seconds > 0);
        let modified =
            changed.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(BundleError::Damaged)?;
        files.push(BundledFile { path, content, is_executable, modified });
    }
    Ok(skills)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content: &[u8]) -> BundledFile {
        let modified = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let is_executable = path.starts_with("scripts/");
        BundledFile { path: path.into(), content: content.to_vec(), is_executable, modified }
    }

    fn bundle(skills: &[(usize, Vec<BundledFile>)]) -> Vec<u8> {
        let mut writer = BundleWriter::new();
        for (place, files) in skills {
            writer.add(*place, files).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_is_packed_is_what_is_read() {
        let long = format!("notes/{}.md", "long".repeat(40));
        let skills = [
            (0, vec![file("SKILL.md", b"zero"), file("scripts/run", b"#!/bin/sh\n")]),
            (7, vec![BundledFile { modified: None, ..file(&long, b"") }]),
        ];
        assert_eq!(read_bundle(&bundle(&skills)).unwrap(), skills.into());
    }

    #[test]
    fn what_does_not_fit_is_left_out_as_a_whole_but_the_first_always_fits() {
        let large = vec![0_u8; BUNDLE_BYTES_MAX / 2 + 1];
        let skills =
            [(0, vec![file("a", &large), file("b", &large)]), (1, vec![file("c", b"c")]), (2, Vec::new())];
        let read: Vec<usize> = read_bundle(&bundle(&skills)).unwrap().into_keys().collect();
        assert_eq!(read, [0]);
    }

    #[test]
    fn strange_bundles_are_refused() {
        assert!(matches!(read_bundle(b"<html>"), Err(BundleError::Damaged(_))));
        let one = |path: &str| {
            let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
            let mut header = tar::Header::new_gnu();
            header.set_size(1);
            header.set_mode(0o644);
            // The library itself writes no path that climbs.
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            archive.append(&header, b"x".as_slice()).unwrap();
            archive.into_inner().unwrap().finish().unwrap()
        };
        for path in ["0/../x", "/0/x", "0/.git/config"] {
            assert!(matches!(read_bundle(&one(path)), Err(BundleError::Path(_))), "{path}");
        }
        for path in ["x", "x/y", "-1/x"] {
            assert!(matches!(read_bundle(&one(path)), Err(BundleError::Strange)), "{path}");
        }
        assert_eq!(read_bundle(&one("0/x")).unwrap().len(), 1);
    }
}
