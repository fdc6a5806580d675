//! Looking for skills below folders, in parallel and within bounds.

use std::collections::HashSet;

use artel_model::diagnostic::{Code, Finding};
use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

use super::folder::load_tree;
use super::loaded::{Loaded, Location};
use super::options::{HiddenFolders, Keep, LoadOptions};
use super::registry_file::{is_registry_file, load_registry_file};
use crate::source::{DiskTree, FileTree, FolderEntry, FolderEntryKind, embedded_skills, read_folder};

/// The folder of a skill in which its scripts keep what should last.
const DATA_FOLDER: &str = "data";

/// What a search below one folder gave.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The skills, by path.
    pub loaded: Vec<Loaded>,
    /// What is to be said about the search itself.
    pub findings: Vec<Finding>,
    /// Folders directly in the root that neither are skills nor hold any, by path.
    pub empty: Vec<Utf8PathBuf>,
    /// Folders that were not searched because of their names, by path.
    pub passed_over: Vec<Utf8PathBuf>,
}

/// Looks for skills in `root` and below it. A folder that does not exist holds none.
pub fn discover(root: &Utf8Path, options: impl Into<LoadOptions>) -> Discovery {
    let mut search = Search::new(root, options.into());
    let real = root.canonicalize_utf8().unwrap_or_else(|_| root.to_owned());
    let mut open = vec![Spot { path: root.to_owned(), real, depth: 0, owner: Owner::Nobody }];
    // Links are followed in rounds, after everything that is reached without them: a folder is found by the shortest
    // way, not by the one that comes first.
    while !open.is_empty() {
        search.visit_below(open);
        open = search.take_links();
    }
    let Search { direct, found: mut discovery, .. } = search;
    discovery.loaded.sort_by_cached_key(|loaded| loaded.location.sort_key());
    discovery.empty = without_skills(direct, &discovery.loaded);
    discovery.passed_over.sort();
    discovery.findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    discovery.findings.dedup_by_key(|finding| (finding.code, finding.path.clone()));
    discovery
}

/// Loads the skills inside the binary.
pub fn discover_builtin(keep: Keep) -> Discovery {
    let load = |(name, tree): (&'static str, crate::source::EmbeddedTree)| {
        let listing = tree.listing();
        load_tree(&tree, listing, Location::BuiltIn(name), keep)
    };
    Discovery {
        loaded: embedded_skills().into_iter().map(load).collect(),
        findings: Vec::new(),
        empty: Vec::new(),
        passed_over: Vec::new(),
    }
}

struct Search<'a> {
    root: &'a Utf8Path,
    options: LoadOptions,
    found: Discovery,
    /// The real paths of the folders that were visited, so that links cannot run in circles or find a skill twice.
    visited: HashSet<String>,
    /// Links, to be followed in the next round where they lead to folders.
    links: Vec<Spot>,
    /// Folders directly in the root.
    direct: Vec<Utf8PathBuf>,
    /// How many folders may still be visited.
    folders_left: usize,
}

/// What a visit to one folder gave.
#[derive(Default)]
struct Visit {
    loaded: Vec<Loaded>,
    findings: Vec<Finding>,
    folders: Vec<Spot>,
    links: Vec<Spot>,
    passed_over: Vec<Utf8PathBuf>,
    is_skill: bool,
}

/// A folder to be visited.
struct Spot {
    path: Utf8PathBuf,
    /// The same folder without links in its path.
    real: Utf8PathBuf,
    depth: usize,
    owner: Owner,
}

/// Whose files those of a folder are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Owner {
    /// Nobody's: everything in it is looked at.
    Nobody,
    /// Those of a skill above it: only skills of their own are still to be found.
    Skill,
}

/// What one folder holds, as far as the search is concerned.
#[derive(Default)]
struct Contents {
    is_skill: bool,
    registry_files: Vec<Utf8PathBuf>,
    /// The names of folders inside.
    folders: Vec<String>,
    /// The names of links.
    links: Vec<String>,
    /// The names of folders that are not searched.
    passed_over: Vec<String>,
}

impl<'a> Search<'a> {
    fn new(root: &'a Utf8Path, options: LoadOptions) -> Self {
        Self {
            root,
            options,
            found: Discovery::default(),
            visited: HashSet::new(),
            links: Vec::new(),
            direct: Vec::new(),
            folders_left: options.folders_max,
        }
    }

    /// Visits folders and everything below them, level by level and each level in parallel. Where there are too many
    /// folders, those of the last level that come first by path are visited.
    fn visit_below(&mut self, mut level: Vec<Spot>) {
        while !level.is_empty() {
            level.retain(|spot| self.visited.insert(spot.real.to_string()));
            if level.len() > self.folders_left {
                level.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
                level.truncate(self.folders_left);
                let message = format!("more than {} folders; the search stopped", self.options.folders_max);
                self.found.findings.push(finding(Code::DiscoveryLimit, self.root, message));
            }
            self.folders_left -= level.len();
            let visits: Vec<Visit> = level.into_par_iter().map(|spot| visit(spot, &self.options)).collect();
            level = Vec::new();
            for visit in visits {
                if !visit.is_skill {
                    let direct = visit.folders.iter().filter(|spot| spot.depth == 1);
                    self.direct.extend(direct.map(|spot| spot.path.clone()));
                }
                self.found.loaded.extend(visit.loaded);
                self.found.findings.extend(visit.findings);
                self.found.passed_over.extend(visit.passed_over);
                self.links.extend(visit.links);
                level.extend(visit.folders);
            }
        }
    }

    /// Returns the folders that links lead to and that were not visited yet, each once and none inside another.
    fn take_links(&mut self) -> Vec<Spot> {
        let mut spots: Vec<Spot> = Vec::new();
        for link in std::mem::take(&mut self.links) {
            let Ok(real) = link.path.canonicalize_utf8() else {
                let message = "the link leads nowhere, or in a circle".to_owned();
                self.found.findings.push(finding(Code::SymlinkBroken, &link.path, message));
                continue;
            };
            // A link to a folder above it would find everything again.
            if link.real.starts_with(&real) {
                let message = "the link leads to a folder above it; it is not followed".to_owned();
                self.found.findings.push(finding(Code::SymlinkBroken, &link.path, message));
            } else if real.is_dir() && !self.visited.contains(real.as_str()) {
                spots.push(Spot { real, ..link });
            }
        }
        spots.sort_by(|a, b| (&a.real, &a.path).cmp(&(&b.real, &b.path)));
        spots.dedup_by(|inner, outer| inner.real.starts_with(&outer.real));
        spots
    }
}

/// Loads what one folder holds, and says where to go on.
fn visit(spot: Spot, options: &LoadOptions) -> Visit {
    let Spot { path, real, depth, owner } = spot;
    let mut visit = Visit::default();
    let entries = match read_folder(&path) {
        Ok(entries) => entries,
        Err(error) if depth == 0 && error.kind() == std::io::ErrorKind::NotFound => return visit,
        Err(error) => {
            let message = format!("cannot read the folder: {error}");
            visit.findings.push(finding(Code::Unreadable, &path, message));
            return visit;
        }
    };
    let contents = contents(&path, &entries, owner, options.hidden);
    // What a skill passes over is said where the skill is scanned.
    if owner == Owner::Nobody && !contents.is_skill {
        visit.passed_over = contents.passed_over.iter().map(|name| path.join(name)).collect();
    }
    for file in &contents.registry_files {
        visit.loaded.extend(load_registry_file(file, options.keep));
    }
    if contents.is_skill {
        let tree = DiskTree::with_limits(path.clone(), options.folder);
        let listing = tree.listing_of(Ok(entries));
        visit.loaded.push(load_tree(&tree, listing, Location::Folder(path.clone()), options.keep));
    }
    if depth >= options.depth_max && !(contents.folders.is_empty() && contents.links.is_empty()) {
        let message = format!("folders below {} levels are not searched", options.depth_max);
        visit.findings.push(finding(Code::DiscoveryLimit, &path, message));
        return visit;
    }
    let owner = if contents.is_skill { Owner::Skill } else { owner };
    let spot = |name: String| Spot { path: path.join(&name), real: real.join(name), depth: depth + 1, owner };
    visit.is_skill = contents.is_skill;
    visit.folders = contents.folders.into_iter().map(spot).collect();
    visit.links = contents.links.into_iter().map(spot).collect();
    visit
}

fn finding(code: Code, path: &Utf8Path, message: String) -> Finding {
    Finding { code, message, path: path.to_owned(), position: None, hint: None }
}

/// Returns the folders of `direct` in which nothing was found; `loaded` is sorted by the text of its paths.
fn without_skills(mut direct: Vec<Utf8PathBuf>, loaded: &[Loaded]) -> Vec<Utf8PathBuf> {
    let paths: Vec<&str> =
        loaded.iter().filter_map(|loaded| Some(loaded.location.path()?.as_str())).collect();
    let starts_at = |text: &str| paths.partition_point(|path| *path < text);
    direct.retain(|folder| {
        let inside = format!("{folder}/");
        let is_skill = paths.get(starts_at(folder.as_str())) == Some(&folder.as_str());
        let holds_skills = paths.get(starts_at(&inside)).is_some_and(|path| path.starts_with(&inside));
        !is_skill && !holds_skills
    });
    direct.sort();
    direct
}

/// The folder in which git keeps its own files.
const GIT_FOLDER: &str = ".git";

fn is_left_out(name: &str, hidden: HiddenFolders) -> bool {
    match hidden {
        HiddenFolders::Skipped => name.starts_with('.') || matches!(name, "node_modules" | "__pycache__"),
        HiddenFolders::Searched => name == GIT_FOLDER,
    }
}

fn contents(path: &Utf8Path, entries: &[FolderEntry], owner: Owner, hidden: HiddenFolders) -> Contents {
    let mut contents = Contents::default();
    for entry in entries {
        // A name that is not UTF-8 cannot be a skill's; inside a skill it is reported.
        let Some(name) = entry.file_name() else { continue };
        let is_folder = entry.kind == FolderEntryKind::Folder;
        if DiskTree::is_skill_file(&name) {
            contents.is_skill = true;
        } else if is_left_out(&name, hidden) {
            // No skill is used from there.
            contents.passed_over.extend(is_folder.then_some(name));
        } else if is_folder {
            contents.folders.push(name);
        } else if entry.kind == FolderEntryKind::Link {
            contents.links.push(name);
        } else if is_registry_file(&name) {
            contents.registry_files.push(path.join(name));
        }
    }
    if contents.is_skill {
        // What a skill's scripts wrote is never a skill: they could plant one in the place of another.
        contents.folders.retain(|name| name != DATA_FOLDER);
    }
    if contents.is_skill || owner == Owner::Skill {
        // What belongs to the skill is read with it; only skills inside it are still to be found.
        contents.registry_files.clear();
        contents.links.clear();
    }
    contents.registry_files.sort();
    contents
}
