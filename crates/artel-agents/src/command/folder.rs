//! The folders of one piece of work: where the program works, with exactly its skills and its permission files, and what is
//! only for the client itself.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::sync::Arc;

use artel_catalog::{
    ExportError, ExportScope, ExportTarget, Keep, Loaded, Location, export, load_registry_file, load_tree,
};
use artel_engine::{SkillShelf, remove_folder};
use artel_model::id::AgentId;
use artel_model::name::SkillName;
use artel_model::skill::Skill;
use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;
use uuid::Uuid;

use super::config::AfterWork;
use super::permissions::{Below, PermissionFile};

/// The folders of one piece of work.
#[derive(Clone, Debug)]
pub(super) struct Folders {
    root: Utf8PathBuf,
}

/// What the work folder holds in the beginning.
pub(super) struct Contents<'a> {
    /// The skills there are.
    pub(super) shelf: &'a SkillShelf,
    /// Those of the agent.
    pub(super) skills: &'a [SkillName],
    /// Where they go.
    pub(super) skills_folder: &'static str,
    /// For whom they are written.
    pub(super) target: ExportTarget,
    /// What tells the client what it may do.
    pub(super) files: &'a [PermissionFile],
}

/// Why there are no folders.
#[derive(Debug, Error)]
pub(super) enum FolderError {
    /// A skill of the agent is gone, or another one than the agent was given.
    #[error("the agent's skill `{0}` is gone, or was changed in the meantime")]
    SkillGone(SkillName),
    /// The skills cannot be written.
    #[error("cannot write the agent's skills")]
    Export(#[source] ExportError),
    /// A folder or file cannot be made.
    #[error("cannot make `{path}`")]
    Make {
        /// Which.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Folders {
    /// Makes the folders for one piece of work of an agent, and what is in them.
    pub(super) fn make(
        root: &Utf8Path,
        agent: AgentId,
        contents: &Contents<'_>,
    ) -> Result<Self, FolderError> {
        let folders = Self { root: root.join(agent.to_string()).join(Uuid::now_v7().to_string()) };
        let made = folders.fill(contents);
        if made.is_err() {
            remove(&folders.root);
        }
        made.map(|()| folders)
    }

    fn fill(&self, contents: &Contents<'_>) -> Result<(), FolderError> {
        for folder in [self.work(), self.home(), self.temporary()] {
            make_folder(&folder)?;
        }
        mark_as_project(&self.work())?;
        let entries =
            contents.skills.iter().map(|name| entry(contents.shelf, name)).collect::<Result<Vec<_>, _>>()?;
        let entries: Vec<&Loaded> = entries.iter().collect();
        let skills = self.work().join(contents.skills_folder);
        export(&entries, &skills, contents.target, ExportScope::All).map_err(FolderError::Export)?;
        for file in contents.files {
            let folder = match file.below {
                Below::Work => self.work(),
                Below::Private => self.private(),
            };
            write_file(&folder.join(file.path), file.content.as_bytes())?;
        }
        Ok(())
    }

    /// Returns the folder that holds all others.
    pub(super) fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns where the program works.
    pub(super) fn work(&self) -> Utf8PathBuf {
        self.root.join("work")
    }

    /// Returns what is only for the client itself.
    pub(super) fn private(&self) -> Utf8PathBuf {
        self.root.join("private")
    }

    /// Returns a home folder.
    pub(super) fn home(&self) -> Utf8PathBuf {
        self.private().join("home")
    }

    /// Returns a folder for what is not kept.
    pub(super) fn temporary(&self) -> Utf8PathBuf {
        self.private().join("tmp")
    }

    /// Removes what is not needed when the work is over, and returns the folder of the work if it stays.
    pub(super) fn clear(&self, after: AfterWork) -> Option<Utf8PathBuf> {
        match after {
            AfterWork::Keep => {
                remove(&self.private());
                Some(self.work())
            }
            AfterWork::Remove => {
                remove(&self.root);
                if let Some(of_agent) = self.root.parent() {
                    // Other pieces of work of the same agent may be there.
                    let _ = fs::remove_dir(of_agent);
                }
                None
            }
        }
    }
}

/// Removes what is left of pieces of work of an agent that were not ended properly. Where folders are kept, only what is
/// the clients' own goes.
pub(super) fn clear_leftovers(root: &Utf8Path, agent: AgentId, after: AfterWork) {
    let of_agent = root.join(agent.to_string());
    match after {
        AfterWork::Remove => remove(&of_agent),
        AfterWork::Keep => pieces(&of_agent).iter().for_each(|piece| remove(&piece.private())),
    }
}

/// Returns the folders of an agent's pieces of work. Links are none.
fn pieces(of_agent: &Utf8Path) -> Vec<Folders> {
    if !fs::symlink_metadata(of_agent).is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    let entries = of_agent.read_dir_utf8().into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| Folders { root: entry.into_path() }).collect()
}

/// Removes a folder with all that is in it. A program may have put a link in its place, which is removed and not followed.
pub(super) fn remove(folder: &Utf8Path) {
    let removed = match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => remove_folder(folder),
        Ok(_) => fs::remove_file(folder),
        Err(error) => Err(error),
    };
    if let Err(error) = removed
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%folder, %error, "a folder of an agent's work stays behind");
    }
}

/// Loads a skill of the agent with all that is written out.
///
/// What the skill's own file allows is left out: the client would take it for a permission of its own, beside those that the
/// agent has.
fn entry(shelf: &SkillShelf, name: &SkillName) -> Result<Loaded, FolderError> {
    let gone = || FolderError::SkillGone(name.clone());
    let known = shelf.catalog().find(name, None).map_err(|_| gone())?;
    let loaded = match (&known.location, known.location.tree()) {
        (Location::RegistryFile { path, entry }, _) => {
            load_registry_file(path, Keep::Everything).into_iter().nth(*entry).ok_or_else(gone)?
        }
        (Location::Folder(_) | Location::BuiltIn(_), Some(tree)) => {
            load_tree(&*tree, tree.listing(), known.location.clone(), Keep::Everything)
        }
        (Location::Folder(_) | Location::BuiltIn(_), None) => return Err(gone()),
    };
    let skill = loaded.usable().ok_or_else(gone)?;
    if known.skill.as_deref() != Some(&**skill) {
        return Err(gone());
    }
    let mut plain = Skill::clone(skill);
    plain.rules.allowed_tools.clear();
    let mut loaded = loaded;
    loaded.skill = Some(Arc::new(plain));
    // Without its own file, the skill gets one that says what the skill says, and nothing more.
    loaded.files.retain(|file| !file.path.as_str().eq_ignore_ascii_case("SKILL.md"));
    Ok(loaded)
}

/// Marks a folder as the root of a repository, where every client stops looking for skills and settings further up.
fn mark_as_project(folder: &Utf8Path) -> Result<(), FolderError> {
    for inner in [".git/objects", ".git/refs"] {
        make_folder(&folder.join(inner))?;
    }
    write_file(&folder.join(".git/HEAD"), b"ref: refs/heads/main\n")
}

fn make_folder(path: &Utf8Path) -> Result<(), FolderError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| FolderError::Make { path: path.to_owned(), source })
}

fn write_file(path: &Utf8Path, content: &[u8]) -> Result<(), FolderError> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let opened = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = opened.and_then(|mut file| file.write_all(content));
    written.map_err(|source| FolderError::Make { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const AGENT: AgentId = AgentId(Uuid::from_u128(7));

    /// Makes what a killed artel leaves of two pieces of work, with links to `kept` wherever a program can put them.
    fn leave(root: &Utf8Path) {
        fs::create_dir_all(root.join("kept/private")).unwrap();
        fs::write(root.join("kept/private/file"), "x").unwrap();
        let of_agent = root.join(AGENT.to_string());
        for folder in ["one/work", "one/private/home", "two/work"] {
            fs::create_dir_all(of_agent.join(folder)).unwrap();
        }
        symlink(root.join("kept"), of_agent.join("one/private/home/link")).unwrap();
        symlink(root.join("kept"), of_agent.join("two/private")).unwrap();
        symlink(root.join("kept"), of_agent.join("three")).unwrap();
    }

    fn names(folder: &Utf8Path) -> Vec<String> {
        let entries = folder.read_dir_utf8().into_iter().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn leftovers_go_and_links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(place.path()).unwrap();
        let of_agent = root.join(AGENT.to_string());
        leave(root);
        clear_leftovers(root, AGENT, AfterWork::Keep);
        assert_eq!([names(&of_agent.join("one")), names(&of_agent.join("two"))], [["work"], ["work"]]);
        clear_leftovers(root, AGENT, AfterWork::Remove);
        // An agent that left nothing is fine.
        clear_leftovers(root, AGENT, AfterWork::Remove);
        clear_leftovers(root, AGENT, AfterWork::Keep);
        assert_eq!(names(root), ["kept"]);
        for after in [AfterWork::Keep, AfterWork::Remove] {
            let _ = fs::remove_file(&of_agent);
            symlink(root.join("kept"), &of_agent).unwrap();
            clear_leftovers(root, AGENT, after);
        }
        assert_eq!(names(root), ["kept"]);
        assert_eq!(fs::read_to_string(root.join("kept/private/file")).unwrap(), "x");
    }
}
