//! Looking for skills below folders, in parallel and within bounds.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use artel_model::diagnostic::{Code, Finding};
use camino::{Utf8Path, Utf8PathBuf};

use super::folder::load_tree;
use super::loaded::{Loaded, Location};
use super::options::{Keep, LoadOptions};
use super::registry_file::{is_registry_file, load_registry_file};
use crate::source::{DiskTree, FileTree, FolderEntry, FolderEntryKind, embedded_skills, read_folder};

/// What a search below one folder gave.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The skills, by path.
    pub loaded: Vec<Loaded>,
    /// What is to be said about the search itself.
    pub findings: Vec<Finding>,
    /// Folders directly in the root that neither are skills nor hold any, by path.
    pub empty: Vec<Utf8PathBuf>,
}

/// Looks for skills in `root` and below it. A folder that does not exist holds none.
pub fn discover(root: &Utf8Path, options: impl Into<LoadOptions>) -> Discovery {
    let search = Search::new(root, options.into());
    let real = root.canonicalize_utf8().unwrap_or_else(|_| root.to_owned());
    let mut open = vec![Spot { path: root.to_owned(), real, depth: 0 }];
    // Links are followed in rounds, after everything that is reached without them: which way a folder is found must
    // not depend on which thread comes first.
    while !open.is_empty() {
        rayon::scope(|scope| open.into_iter().for_each(|spot| search.visit(scope, spot)));
        open = search.take_links();
    }
    let direct = search.direct.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut discovery = search.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    discovery.loaded.sort_by_cached_key(|loaded| loaded.location.sort_key());
    discovery.empty = without_skills(direct, &discovery.loaded);
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
    }
}

struct Search<'a> {
    root: &'a Utf8Path,
    options: LoadOptions,
    found: Mutex<Discovery>,
    /// The real paths of the folders that were visited, so that links cannot run in circles or find a skill twice.
    visited: Mutex<HashSet<String>>,
    /// Links to folders, to be followed in the next round.
    links: Mutex<Vec<Spot>>,
    /// Folders directly in the root.
    direct: Mutex<Vec<Utf8PathBuf>>,
    folders: AtomicUsize,
}

/// A folder to be visited.
struct Spot {
    path: Utf8PathBuf,
    /// The same folder without links in its path.
    real: Utf8PathBuf,
    depth: usize,
}

/// What one folder holds, as far as the search is concerned.
#[derive(Default)]
struct Contents {
    is_skill: bool,
    registry_files: Vec<Utf8PathBuf>,
    /// The names of folders inside.
    folders: Vec<String>,
    /// The names of links to folders.
    links: Vec<String>,
}

impl<'a> Search<'a> {
    fn new(root: &'a Utf8Path, options: LoadOptions) -> Self {
        Self {
            root,
            options,
            found: Mutex::default(),
            visited: Mutex::default(),
            links: Mutex::default(),
            direct: Mutex::default(),
            folders: AtomicUsize::new(0),
        }
    }

    fn visit<'s>(&'s self, scope: &rayon::Scope<'s>, spot: Spot) {
        let Spot { path, real, depth } = spot;
        if !locked(&self.visited).insert(real.to_string()) {
            return;
        }
        if self.folders.fetch_add(1, Ordering::Relaxed) >= self.options.folders_max {
            let message = format!("more than {} folders; the search stopped", self.options.folders_max);
            return self.report(Code::DiscoveryLimit, self.root, message);
        }
        let entries = match read_folder(&path) {
            Ok(entries) => entries,
            Err(error) if depth == 0 && error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => {
                return self.report(Code::Unreadable, &path, format!("cannot read the folder: {error}"));
            }
        };
        let contents = contents(&path, &entries);
        for file in &contents.registry_files {
            self.add(load_registry_file(file, self.options.keep));
        }
        if contents.is_skill {
            let tree = DiskTree::with_limits(path.clone(), self.options.folder);
            let listing = tree.listing_of(Ok(entries));
            self.add(vec![load_tree(&tree, listing, Location::Folder(path.clone()), self.options.keep)]);
        }
        if depth >= self.options.depth_max && !(contents.folders.is_empty() && contents.links.is_empty()) {
            let message = format!("folders below {} levels are not searched", self.options.depth_max);
            return self.report(Code::DiscoveryLimit, &path, message);
        }
        if depth == 0 && !contents.is_skill {
            *locked(&self.direct) = contents.folders.iter().map(|name| path.join(name)).collect();
        }
        let spot = |name: String| Spot { path: path.join(&name), real: real.join(name), depth: depth + 1 };
        for folder in contents.folders.into_iter().map(spot) {
            scope.spawn(move |scope| self.visit(scope, folder));
        }
        if !contents.links.is_empty() {
            locked(&self.links).extend(contents.links.into_iter().map(spot));
        }
    }

    /// Returns the folders that links lead to and that were not visited yet, each once and none inside another.
    fn take_links(&self) -> Vec<Spot> {
        let visited = locked(&self.visited);
        let mut spots: Vec<Spot> = Vec::new();
        for link in std::mem::take(&mut *locked(&self.links)) {
            let Ok(real) = link.path.canonicalize_utf8() else { continue };
            // A link to a folder above it would find everything again.
            if !link.real.starts_with(&real) && !visited.contains(real.as_str()) {
                spots.push(Spot { real, ..link });
            }
        }
        spots.sort_by(|a, b| (&a.real, &a.path).cmp(&(&b.real, &b.path)));
        spots.dedup_by(|inner, outer| inner.real.starts_with(&outer.real));
        spots
    }

    fn add(&self, loaded: Vec<Loaded>) {
        locked(&self.found).loaded.extend(loaded);
    }

    fn report(&self, code: Code, path: &Utf8Path, message: String) {
        let finding = Finding { code, message, path: path.to_owned(), position: None, hint: None };
        locked(&self.found).findings.push(finding);
    }
}

/// Returns the folders of `direct` in which nothing was found; `loaded` is sorted by path.
fn without_skills(mut direct: Vec<Utf8PathBuf>, loaded: &[Loaded]) -> Vec<Utf8PathBuf> {
    let paths: Vec<&Utf8Path> = loaded.iter().filter_map(|loaded| loaded.location.path()).collect();
    direct.retain(|folder| {
        let first = paths.partition_point(|path| path.as_str() < folder.as_str());
        !paths.get(first).is_some_and(|path| path.starts_with(folder))
    });
    direct.sort();
    direct
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn contents(path: &Utf8Path, entries: &[FolderEntry]) -> Contents {
    let mut contents = Contents::default();
    for entry in entries {
        // A name that is not UTF-8 cannot be a skill's; inside a skill it is reported.
        let Some(name) = entry.file_name() else { continue };
        let is_folder = entry.kind == FolderEntryKind::Folder;
        if DiskTree::is_skill_file(&name) {
            contents.is_skill = true;
        } else if name.starts_with('.') || matches!(name.as_str(), "node_modules" | "__pycache__") {
            // What is hidden or made by tools holds no skills.
        } else if is_folder {
            contents.folders.push(name);
        } else if entry.kind == FolderEntryKind::Link {
            if path.join(&name).is_dir() {
                contents.links.push(name);
            }
        } else if is_registry_file(&name) {
            contents.registry_files.push(path.join(name));
        }
    }
    if contents.is_skill {
        // What belongs to the skill is read with it; only skills inside it are still to be found.
        contents.registry_files.clear();
        contents.links.clear();
    }
    contents.registry_files.sort();
    contents
}
