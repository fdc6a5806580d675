//! Which files of a hub belong to which skill, decided from their paths alone, before any of them is read.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::limit::{SKILL_BYTES_MAX, SKILL_DEPTH_MAX, SKILL_FILES_MAX};
use camino::Utf8Path;

use super::limits::HubLimits;
use super::notes::Notes;
use super::path::{check_path, shown, shown_folder};
use super::reference::IncludePath;
use super::selection::{Selection, WantedFile};
use crate::source::DiskTree;

/// What is in a hub, as far as its paths tell. Every entry has the number that its source knows it by.
#[derive(Clone, Debug)]
pub struct Census<'a> {
    include: &'a [IncludePath],
    limits: HubLimits,
    offered: usize,
    files: BTreeMap<String, FileOfHub>,
    notes: Notes,
}

/// What an entry of a hub is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EntryKind {
    /// A file.
    File {
        /// Its size in bytes.
        size: u64,
        /// Whether it may be executed.
        is_executable: bool,
    },
    /// A folder; it is known by its files.
    Folder,
    /// A link; it is not followed.
    Link,
    /// Another repository; it is not followed.
    Submodule,
    /// A device, a pipe, an encrypted file.
    Special,
}

#[derive(Clone, Copy, Debug)]
struct FileOfHub {
    number: usize,
    size: u64,
    is_executable: bool,
}

/// A hub with more entries than are looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "there are more than {entries_max} files and folders; name the folders of the skills in `include_paths`"
)]
pub struct TooManyEntries {
    /// How many are looked at.
    pub entries_max: usize,
}

/// Folders that tools make; no skill is looked for in them.
const FOLDERS_OF_TOOLS: &[&str] = &["node_modules", "__pycache__"];
/// The folder of a skill in which its scripts keep what should last.
const DATA_FOLDER: &str = "data";

impl<'a> Census<'a> {
    /// Begins a census of what lies in the folders of `include`, or everywhere when there are none.
    pub fn new(include: &'a [IncludePath], limits: HubLimits) -> Self {
        Self { include, limits, offered: 0, files: BTreeMap::new(), notes: Notes::default() }
    }

    /// Takes note of one entry.
    pub fn offer(&mut self, number: usize, path: &[u8], kind: EntryKind) -> Result<(), TooManyEntries> {
        let checked = match check_path(path) {
            Ok(path) if self.is_included(&path) => path,
            Ok(_) => return Ok(()),
            Err(_) if kind == EntryKind::Folder => return Ok(()),
            Err(problem) => {
                self.count()?;
                self.notes.warn(&format!("`{}` is left out: {problem}", shown(path)));
                return Ok(());
            }
        };
        self.count()?;
        let name = shown(path);
        match kind {
            EntryKind::Folder => {}
            EntryKind::Link => self.notes.warn(&format!("`{name}` is a link; it is not followed")),
            EntryKind::Submodule => self.notes.warn(&format!("`{name}` is a submodule; it is not followed")),
            EntryKind::Special => self.notes.warn(&format!("`{name}` is left out: it is not a plain file")),
            EntryKind::File { size, is_executable } => {
                let file = FileOfHub { number, size, is_executable };
                if self.files.contains_key(checked.as_str()) {
                    self.notes.warn(&format!("`{name}` is there twice; the first one is taken"));
                } else {
                    self.files.insert(checked.into_string(), file);
                }
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), TooManyEntries> {
        self.offered += 1;
        let entries_max = self.limits.entries_max;
        if self.offered > entries_max { Err(TooManyEntries { entries_max }) } else { Ok(()) }
    }

    pub(crate) fn entries_max(&self) -> usize {
        self.limits.entries_max
    }

    fn is_included(&self, path: &Utf8Path) -> bool {
        self.include.is_empty() || self.include.iter().any(|include| include.holds(path))
    }

    /// Removes what all entries have in front, when it is a single folder and no skill stands beside it.
    pub(crate) fn strip_common_folder(&mut self) {
        let top = self.files.keys().next().and_then(|path| Some(path.split_once('/')?.0.to_owned() + "/"));
        let Some(top) = top.filter(|top| self.files.keys().all(|path| path.starts_with(top.as_str()))) else {
            return;
        };
        let files = std::mem::take(&mut self.files);
        self.files = files.into_iter().map(|(path, file)| (path[top.len()..].to_owned(), file)).collect();
    }

    /// Decides which files are read. Whole skills are taken, in the order of their paths, as long as they fit.
    pub fn select(mut self) -> Selection {
        self.drop_files_below_files();
        let folders = self.skill_folders();
        let mut owned: BTreeMap<&str, Vec<WantedFile>> = BTreeMap::new();
        let mut notes = std::mem::take(&mut self.notes);
        for (path, file) in &self.files {
            let path = Utf8Path::new(path);
            let Some(owner) = owner(path, &folders) else { continue };
            if let Some(wanted) = wanted(path, Utf8Path::new(owner), file, &mut notes) {
                owned.entry(owner).or_default().push(wanted);
            }
        }
        let mut selection = Selection::new(self.limits, notes);
        for (folder, files) in owned {
            if folders.get(folder) != Some(&FolderChoice::Taken) {
                continue;
            }
            let folder = Utf8Path::new(folder);
            match self.too_large(&files, &selection) {
                Some(reason) => selection.notes.skip(folder, &reason),
                None => selection.take(folder, files),
            }
        }
        selection
    }

    /// An archive may say that something is both a file and a folder.
    fn drop_files_below_files(&mut self) {
        let is_file = |path: &Utf8Path| self.files.contains_key(path.as_str());
        let is_below = |path: &str| Utf8Path::new(path).ancestors().skip(1).any(is_file);
        let below: Vec<String> = self.files.keys().filter(|path| is_below(path)).cloned().collect();
        for path in below {
            self.notes.warn(&format!("`{}` is left out: it lies in a file", shown(path.as_bytes())));
            self.files.remove(&path);
        }
    }

    /// Finds the folders that hold a skill. Those that are not taken still own their files.
    fn skill_folders(&mut self) -> BTreeMap<String, FolderChoice> {
        let parts = self.files.keys().map(|path| path.rsplit_once('/').unwrap_or(("", path)));
        let mains = parts.filter(|(_, name)| DiskTree::is_skill_file(name));
        let holders: BTreeSet<String> = mains.map(|(folder, _)| folder.to_owned()).collect();
        let mut folders = BTreeMap::new();
        for holder in holders {
            let folder = Utf8Path::new(&holder);
            let is_of_tools = folder.components().any(|part| FOLDERS_OF_TOOLS.contains(&part.as_str()));
            // What a skill's scripts wrote is never a skill: they could plant one in the place of another.
            let is_of_data = folder.ancestors().any(|above| {
                above.file_name() == Some(DATA_FOLDER)
                    && above.parent().is_some_and(|parent| folders.contains_key(parent.as_str()))
            });
            if is_of_data {
                continue;
            }
            let depth_max = self.limits.depth_max;
            let is_deep = folder.components().count() > depth_max;
            if is_of_tools {
                self.notes
                    .skip(folder, "it lies in a folder that tools make (`node_modules`, `__pycache__`)");
            } else if is_deep {
                self.notes.skip(folder, &format!("its folder is more than {depth_max} levels deep"));
            }
            let standing = if is_deep || is_of_tools { FolderChoice::LeftOut } else { FolderChoice::Taken };
            folders.insert(holder, standing);
        }
        folders
    }

    /// Says why a skill does not fit, on its own or with those that were taken before.
    fn too_large(&self, files: &[WantedFile], selection: &Selection) -> Option<String> {
        let bytes: u64 = files.iter().fold(0, |sum, file| sum.saturating_add(file.size));
        let HubLimits { files_max, bytes_max, .. } = self.limits;
        if files.len() > SKILL_FILES_MAX {
            Some(format!("it has {} files, at most {SKILL_FILES_MAX} are allowed", files.len()))
        } else if bytes > SKILL_BYTES_MAX {
            Some(format!("its files have {bytes} bytes, at most {SKILL_BYTES_MAX} are allowed"))
        } else if selection.files() + files.len() > files_max {
            Some(format!("with it the hub would have more than {files_max} files"))
        } else if selection.bytes().saturating_add(bytes) > bytes_max {
            Some(format!("with it the hub would have more than {bytes_max} bytes"))
        } else {
            None
        }
    }
}

/// Whether the skill of a folder is taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FolderChoice {
    Taken,
    LeftOut,
}

/// Returns the nearest folder above a file that holds a skill.
fn owner<'f>(path: &Utf8Path, folders: &'f BTreeMap<String, FolderChoice>) -> Option<&'f str> {
    let mut above = path.ancestors().skip(1);
    above.find_map(|above| folders.get_key_value(above.as_str())).map(|(folder, _)| folder.as_str())
}

/// Returns a file as a part of its skill; nothing for what is not published of a skill.
fn wanted(path: &Utf8Path, owner: &Utf8Path, file: &FileOfHub, notes: &mut Notes) -> Option<WantedFile> {
    let inner = path.strip_prefix(owner).unwrap_or(path);
    let levels = inner.components().count() - 1;
    let mut parts = inner.components().take(levels).map(|part| part.as_str());
    if levels > 0 && inner.starts_with(DATA_FOLDER) {
        notes.warn_once(&format!(
            "`{DATA_FOLDER}` of `{}` is left out: scripts keep their own files there",
            shown_folder(owner)
        ));
        return None;
    }
    if levels > 0 && parts.clone().next().is_some_and(DiskTree::is_skill_file) {
        let name = shown(path.as_str().as_bytes());
        notes.warn(&format!(
            "`{name}` is left out: a folder has the name of a file that says what a skill is"
        ));
        return None;
    }
    if parts.any(|part| part == "__pycache__") {
        notes.warn_once(&format!(
            "`__pycache__` of `{}` is left out: it holds what Python compiled",
            shown_folder(owner)
        ));
        return None;
    }
    if levels > SKILL_DEPTH_MAX {
        notes.warn(&format!("`{}` is left out: it lies too deep", shown(path.as_str().as_bytes())));
        return None;
    }
    let FileOfHub { number, size, is_executable } = *file;
    Some(WantedFile { number, path: inner.to_owned(), size, is_executable })
}
