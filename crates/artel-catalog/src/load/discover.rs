//! Looking for skills below folders, in parallel and within bounds.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use artel_model::diagnostic::{Code, Finding};
use artel_model::limit::{DISCOVERY_DEPTH_MAX, DISCOVERY_FOLDERS_MAX};
use camino::{Utf8DirEntry, Utf8Path, Utf8PathBuf};

use super::folder::{load_folder, load_tree};
use super::loaded::{Keep, Loaded, Location};
use super::registry_file::{is_registry_file, load_registry_file};
use crate::source::{DiskTree, FileTree, embedded_skills};

/// What a search below one folder gave.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The skills, by path.
    pub loaded: Vec<Loaded>,
    /// What is to be said about the search itself.
    pub findings: Vec<Finding>,
}

/// Looks for skills in `root` and below it. A folder that does not exist holds none.
pub fn discover(root: &Utf8Path, keep: Keep) -> Discovery {
    let search =
        Search { keep, found: Mutex::default(), seen: Mutex::default(), folders: AtomicUsize::new(0) };
    rayon::scope(|scope| search.visit(scope, root.to_owned(), 0));
    let mut discovery = search.found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    discovery.loaded.sort_by(|a, b| a.location.cmp(&b.location));
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
    Discovery { loaded: embedded_skills().into_iter().map(load).collect(), findings: Vec::new() }
}

struct Search {
    keep: Keep,
    found: Mutex<Discovery>,
    /// Folders that were reached through a link, by device and number, so that links cannot run in circles.
    seen: Mutex<BTreeSet<(u64, u64)>>,
    folders: AtomicUsize,
}

/// What one folder holds, as far as the search is concerned.
#[derive(Default)]
struct Contents {
    is_skill: bool,
    registry_files: Vec<Utf8PathBuf>,
    folders: Vec<Utf8PathBuf>,
    links: Vec<Utf8PathBuf>,
}

impl Search {
    fn visit<'s>(&'s self, scope: &rayon::Scope<'s>, path: Utf8PathBuf, depth: usize) {
        if self.folders.fetch_add(1, Ordering::Relaxed) >= DISCOVERY_FOLDERS_MAX {
            let message = format!("more than {DISCOVERY_FOLDERS_MAX} folders; the search stopped");
            return self.report(Code::DiscoveryLimit, Utf8Path::new(""), message);
        }
        let contents = match contents(&path) {
            Ok(contents) => contents,
            Err(error) if depth == 0 && error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => {
                return self.report(Code::Unreadable, &path, format!("cannot read the folder: {error}"));
            }
        };
        for file in &contents.registry_files {
            self.add(load_registry_file(file, self.keep));
        }
        if contents.is_skill {
            self.add(vec![load_folder(&path, self.keep)]);
        }
        let links = contents.links.into_iter().filter(|link| self.is_new_folder(link));
        let folders: Vec<Utf8PathBuf> = contents.folders.into_iter().chain(links).collect();
        if depth >= DISCOVERY_DEPTH_MAX && !folders.is_empty() {
            let message = format!("folders below {DISCOVERY_DEPTH_MAX} levels are not searched");
            return self.report(Code::DiscoveryLimit, &path, message);
        }
        for folder in folders {
            scope.spawn(move |scope| self.visit(scope, folder, depth + 1));
        }
    }

    /// Says whether a link leads to a folder that no other link led to before.
    fn is_new_folder(&self, link: &Utf8Path) -> bool {
        let Ok(metadata) = link.metadata() else { return false };
        // A link to a folder above it would find everything again.
        let leads_up = match (link.canonicalize_utf8(), link.parent().map(Utf8Path::canonicalize_utf8)) {
            (Ok(target), Some(Ok(parent))) => parent.starts_with(&target),
            _ => true,
        };
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        metadata.is_dir() && !leads_up && seen.insert((metadata.dev(), metadata.ino()))
    }

    fn add(&self, loaded: Vec<Loaded>) {
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).loaded.extend(loaded);
    }

    fn report(&self, code: Code, path: &Utf8Path, message: String) {
        let finding = Finding { code, message, path: path.to_owned(), position: None, hint: None };
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).findings.push(finding);
    }
}

fn contents(path: &Utf8Path) -> std::io::Result<Contents> {
    let mut contents = Contents::default();
    for entry in path.read_dir_utf8()? {
        // A name that is not UTF-8 cannot be a skill's; inside a skill it is reported.
        let Ok(entry) = entry else { continue };
        sort_in(&entry, &mut contents);
    }
    if contents.is_skill {
        // What belongs to the skill is read with it; only skills inside it are still to be found.
        contents.registry_files.clear();
        contents.links.clear();
    }
    contents.registry_files.sort();
    Ok(contents)
}

fn sort_in(entry: &Utf8DirEntry, contents: &mut Contents) {
    let name = entry.file_name();
    let Ok(kind) = entry.file_type() else { return };
    if !kind.is_dir() && DiskTree::is_skill_file(name) {
        contents.is_skill = true;
    } else if name.starts_with('.') || matches!(name, "node_modules" | "__pycache__") {
    } else if kind.is_dir() {
        contents.folders.push(entry.path().to_owned());
    } else if kind.is_symlink() {
        contents.links.push(entry.path().to_owned());
    } else if is_registry_file(name) {
        contents.registry_files.push(entry.path().to_owned());
    }
}
