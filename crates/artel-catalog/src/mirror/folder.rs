//! The folder with the copies. A copy is there as a whole or not at all; several processes may use the folder at once, and
//! none takes away what another one reads.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::sync::Arc;
use std::time::Duration;

use artel_model::name::SkillName;
use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

use super::bundle::BundledFile;
use super::offer::Offer;
use crate::catalog::Catalog;
use crate::load::{Keep, Loaded, load_folder, load_registry_file};
use crate::remove::{ScratchFolder, remove_folder};
use crate::shared::manifest_hash;
use crate::source::{FileEntry, file_hash};

/// Who uses the folder holds this file.
const LOCK: &str = "lock";
/// What a copy in the making is called.
const DRAFT: &str = ".writing-";
/// How long copies are kept for a caller who does not come.
const UNUSED_MAX: Duration = Duration::from_hours(7 * 24);
/// The one file of a skill that has none of its own.
const TOLD: &str = "skill.json";

/// The copies of what one server offers to one caller.
#[derive(Debug)]
pub struct Mirror {
    root: Utf8PathBuf,
    /// Held by all who read; alone by who takes something away.
    lock: File,
    is_alone: bool,
}

/// Why a copy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The folder cannot be used.
    #[error("cannot use `{path}`")]
    Folder {
        /// The folder or file.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What arrived is not what was announced.
    #[error("what the server sent for skill `{skill}` is not what it announced")]
    Different {
        /// The id of the skill.
        skill: String,
    },
}

impl Mirror {
    /// Opens the folder, which is its owner's alone. Whoever is the first may tidy it; the others wait until that is done.
    pub fn open(root: &Utf8Path) -> Result<Self, MirrorError> {
        let failed = |source| MirrorError::Folder { path: root.to_owned(), source };
        make_private(root).map_err(failed)?;
        // One that was there before may be open to others, and so may what is in it.
        fs::set_permissions(root, Permissions::from_mode(0o700)).map_err(failed)?;
        let lock = File::options().create(true).truncate(false).write(true).mode(0o600).open(root.join(LOCK));
        let lock = lock.map_err(failed)?;
        // That it was written says when the copies were last of use.
        (&lock).write_all(b"\n").map_err(failed)?;
        let is_alone = lock.try_lock().is_ok();
        if !is_alone {
            lock.lock_shared().map_err(failed)?;
        }
        Ok(Self { root: root.to_owned(), lock, is_alone })
    }

    /// Says whether there is a copy of a skill.
    pub fn has(&self, offer: &Offer) -> bool {
        let folder = self.folder(offer);
        let is_whole = |path: &Utf8Path, size: u64| {
            let known = folder.join(path).symlink_metadata();
            known.is_ok_and(|known| known.is_file() && known.len() == size)
        };
        if offer.files.is_empty() {
            return folder.join(TOLD).is_file();
        }
        offer.files.iter().all(|file| offer.stays(file) || is_whole(&file.path, file.size))
    }

    /// Keeps what arrived of a skill, when it is what was announced.
    pub fn keep(&self, offer: &Offer, files: &[BundledFile]) -> Result<(), MirrorError> {
        if !is_announced(offer, files) {
            return Err(different(offer));
        }
        let folder = self.folder(offer);
        let failed = |source| MirrorError::Folder { path: folder.clone(), source };
        let parent = folder.parent().unwrap_or(&self.root);
        make_private(parent).map_err(failed)?;
        let draft = ScratchFolder::make_in(&self.root, DRAFT).map_err(failed)?;
        let inside = draft.path().join("copy");
        write_files(&inside, files).map_err(failed)?;
        // What is there is not whole, or somebody else is quicker.
        if !self.has(offer) {
            let _ = remove_folder(&folder);
        }
        match fs::rename(&inside, &folder) {
            Err(_) if self.has(offer) => Ok(()),
            moved => moved.map_err(failed),
        }
    }

    /// Loads the copy of a skill.
    pub fn load(&self, offer: Offer, keep: Keep) -> Result<Loaded, MirrorError> {
        let folder = self.folder(&offer);
        let mut loaded = if offer.files.is_empty() {
            let told = load_registry_file(&folder.join(TOLD), keep).into_iter().next();
            let told = told.filter(|told| manifest_hash(told) == offer.content_hash);
            told.ok_or_else(|| different(&offer))?
        } else {
            load_folder(&folder, keep)
        };
        if offer.files.is_empty() {
            loaded.files.clear();
        } else {
            loaded.files = offer.files.iter().map(|file| listed(&loaded, file)).collect();
        }
        for finding in &mut loaded.findings {
            let inside = finding.path.strip_prefix(&folder).unwrap_or(&finding.path);
            finding.path = format!("{}/{inside}", offer.id).trim_end_matches('/').into();
        }
        loaded.offer = Some(Arc::new(offer));
        Ok(loaded)
    }

    /// Loads the copies of skills, and holds them as long as the catalog is there. What is `disabled` is switched off there.
    pub fn catalog(
        self,
        offers: Vec<Offer>,
        disabled: BTreeSet<SkillName>,
        keep: Keep,
    ) -> Result<Catalog, MirrorError> {
        let loaded: Result<Vec<Arc<Loaded>>, MirrorError> =
            offers.into_par_iter().map(|offer| self.load(offer, keep).map(Arc::new)).collect();
        Ok(Catalog::of(loaded?, Vec::new()).without(disabled).holding(self))
    }

    /// Takes away the copies of everything else, unless somebody may be reading them.
    pub fn tidy(&mut self, offers: &[Offer]) -> Result<(), MirrorError> {
        if !std::mem::take(&mut self.is_alone) {
            return Ok(());
        }
        let failed = |source| MirrorError::Folder { path: self.root.clone(), source };
        let mut wanted: Vec<Utf8PathBuf> = offers.iter().map(|offer| self.folder(offer)).collect();
        wanted.sort();
        for entry in self.root.read_dir_utf8().map_err(failed)?.flatten() {
            if entry.file_name() == LOCK {
                continue;
            }
            let is_wanted = |path: &Utf8Path| wanted.binary_search_by(|known| (**known).cmp(path)).is_ok();
            let copies = entry.path().read_dir_utf8().into_iter().flatten().flatten();
            let (kept, others): (Vec<_>, Vec<_>) = copies.partition(|copy| is_wanted(copy.path()));
            // What cannot be taken away does no harm.
            if kept.is_empty() {
                let _ = remove_folder(entry.path());
            }
            for other in others {
                let _ = remove_folder(other.path());
            }
        }
        self.forget_old_neighbours();
        self.lock.lock_shared().map_err(failed)
    }

    /// Takes away the copies of callers who have not come for long: tokens are renewed, and nobody tells us of the old ones.
    fn forget_old_neighbours(&self) {
        let used = |lock: &File| lock.metadata().and_then(|metadata| metadata.modified());
        let Ok(today) = used(&self.lock) else { return };
        let neighbours = self.root.parent().map(Utf8Path::read_dir_utf8);
        let neighbours = neighbours.into_iter().flatten().flatten().flatten();
        for neighbour in neighbours.filter(|neighbour| neighbour.path() != self.root) {
            let lock = File::options().write(true).open(neighbour.path().join(LOCK));
            let Ok(lock) = lock else { continue };
            let is_old =
                used(&lock).is_ok_and(|last| today.duration_since(last).is_ok_and(|age| age > UNUSED_MAX));
            if is_old && lock.try_lock().is_ok() {
                let _ = remove_folder(neighbour.path());
            }
        }
    }

    /// Content has a folder of its own, and in it a name: what a skill is called may be the name of its folder.
    fn folder(&self, offer: &Offer) -> Utf8PathBuf {
        let hash = offer.content_hash.to_string();
        self.root.join(hash.trim_start_matches("sha256:")).join(offer.name.as_str())
    }
}

fn different(offer: &Offer) -> MirrorError {
    MirrorError::Different { skill: offer.id.to_string() }
}

/// Says whether all files arrived that were announced, and no others. Of a skill without files, what it says arrives, which
/// can only be judged once it is read.
fn is_announced(offer: &Offer, files: &[BundledFile]) -> bool {
    if offer.files.is_empty() {
        return matches!(files, [file] if file.path == TOLD);
    }
    let is_known = |file: &BundledFile| {
        let known = offer.file(file.path.as_str());
        known.is_some_and(|known| {
            known.is_executable == file.is_executable && known.hash == file_hash(&file.content)
        })
    };
    let has_arrived = |path: &Utf8Path| files.iter().any(|file| file.path == path);
    let is_there = offer.files.iter().all(|file| has_arrived(&file.path) || offer.stays(file));
    is_there && offer.is_consistent() && files.iter().all(is_known)
}

fn write_files(folder: &Utf8Path, files: &[BundledFile]) -> io::Result<()> {
    make_private(folder)?;
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            make_private(parent)?;
        }
        let mode = if file.is_executable { 0o700 } else { 0o600 };
        let mut copy = File::options().write(true).create_new(true).mode(mode).open(&path)?;
        copy.write_all(&file.content)?;
        // The process's mask may have taken rights of the owner.
        copy.set_permissions(Permissions::from_mode(mode))?;
        // A time of zero says that the server does not know it.
        let modified = file.modified.unwrap_or(std::time::UNIX_EPOCH);
        File::options().append(true).open(&path)?.set_modified(modified)?;
    }
    Ok(())
}

/// Makes a folder, and those above it, for its owner alone.
fn make_private(folder: &Utf8Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Returns a file as the server lists it, with the time of its copy.
fn listed(loaded: &Loaded, file: &crate::shared::EntryFile) -> FileEntry {
    let copy = loaded.files.iter().find(|copy| copy.path == file.path);
    let modified = copy.and_then(|copy| copy.modified).filter(|time| *time > std::time::UNIX_EPOCH);
    FileEntry {
        path: file.path.clone(),
        size: file.size,
        is_executable: file.is_executable,
        modified,
        is_link: false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::remove::{DEEP, make_deep, on_a_small_stack};
    use crate::shared::EntryFile;
    use crate::source::{ContentHash, hash_hashes};

    const SKILL: &str = "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n";

    fn files() -> Vec<BundledFile> {
        let modified = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let file = |path: &str, content: &str, is_executable| BundledFile {
            path: path.into(),
            content: content.into(),
            is_executable,
            modified,
        };
        vec![file("SKILL.md", SKILL, false), file("scripts/run", "#!/bin/sh\n", true)]
    }

    /// What a server says about some files, and about settings that it keeps.
    fn offer(files: &[BundledFile], settings: Option<&str>) -> Offer {
        let listed = |path: &Utf8Path, content: &[u8], is_executable| EntryFile {
            path: path.to_owned(),
            size: content.len() as u64,
            hash: file_hash(content),
            is_executable,
        };
        let mut listed: Vec<EntryFile> =
            files.iter().map(|file| listed(&file.path, &file.content, file.is_executable)).collect();
        if let Some(settings) = settings {
            let hash = file_hash(settings.as_bytes());
            let path = Utf8PathBuf::from("config.json");
            listed.push(EntryFile { path, size: settings.len() as u64, hash, is_executable: false });
        }
        listed.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
        let content_hash: ContentHash =
            hash_hashes(listed.iter().map(|file| (&*file.path, file.is_executable, file.hash)));
        let name = "greet".parse().unwrap();
        Offer { id: "default/greet".parse().unwrap(), name, content_hash, files: listed }
    }

    fn root() -> (tempfile::TempDir, Utf8PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(place.path()).unwrap().join("mirror/one");
        (place, root)
    }

    #[test]
    fn a_copy_is_what_the_server_has() {
        let (_place, root) = root();
        let mirror = Mirror::open(&root).unwrap();
        let offer = offer(&files(), Some("{}"));
        assert!(!mirror.has(&offer));
        mirror.keep(&offer, &files()).unwrap();
        assert!(mirror.has(&offer));
        assert_eq!(root.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let loaded = mirror.load(offer.clone(), Keep::Instructions).unwrap();
        assert!(loaded.is_usable(), "{:?}", loaded.findings);
        assert_eq!(loaded.instructions.as_deref(), Some("Say hello."));
        let paths: Vec<&str> = loaded.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["SKILL.md", "config.json", "scripts/run"]);
        assert_eq!((loaded.files[0].modified, loaded.files[1].modified), (files()[0].modified, None));
        assert_eq!(crate::main_file(&loaded), "default/greet");
    }

    #[test]
    fn what_is_not_what_was_announced_is_not_kept() {
        let (_place, root) = root();
        let mirror = Mirror::open(&root).unwrap();
        let offer = offer(&files(), None);
        let mut changed = files();
        changed[1].content = b"#!/bin/sh\nrm -rf /\n".to_vec();
        let mut more = files();
        more.push(BundledFile { path: "more".into(), ..files()[0].clone() });
        let mut executable = files();
        executable[0].is_executable = true;
        for files in [changed, more, executable, files()[..1].to_vec(), Vec::new()] {
            let told = mirror.keep(&offer, &files).unwrap_err().to_string();
            assert!(told.contains("default/greet"), "{told}");
        }
        assert!(!mirror.has(&offer));
        let other = Offer { content_hash: file_hash(b"other"), ..offer };
        assert!(mirror.keep(&other, &files()).is_err());
    }

    #[test]
    fn only_who_is_alone_takes_something_away() {
        let (_place, root) = root();
        let (gone, stays) = (offer(&files()[..1], None), offer(&files(), None));
        let mut first = Mirror::open(&root).unwrap();
        first.keep(&gone, &files()[..1]).unwrap();
        first.tidy(std::slice::from_ref(&gone)).unwrap();
        let mut second = Mirror::open(&root).unwrap();
        second.keep(&stays, &files()).unwrap();
        second.tidy(std::slice::from_ref(&stays)).unwrap();
        assert!(second.has(&gone), "the first one reads it");
        drop((first, second));
        let mut third = Mirror::open(&root).unwrap();
        third.tidy(std::slice::from_ref(&stays)).unwrap();
        assert!(third.has(&stays) && !third.has(&gone));
    }

    #[test]
    fn copies_for_who_does_not_come_any_more_go() {
        let (_place, root) = root();
        let now = Mirror::open(&root).unwrap().lock.metadata().unwrap().modified().unwrap();
        for (name, age) in [("old", UNUSED_MAX * 2), ("recent", UNUSED_MAX / 2)] {
            let mirror = Mirror::open(&root.with_file_name(name)).unwrap();
            mirror.lock.set_modified(now - age).unwrap();
        }
        Mirror::open(&root).unwrap().tidy(&[]).unwrap();
        assert!(root.exists() && root.with_file_name("recent").exists());
        assert!(!root.with_file_name("old").exists());
    }

    #[test]
    fn copies_are_their_owners_alone_whatever_was_there() {
        let (_place, root) = root();
        fs::create_dir_all(&root).unwrap();
        fs::set_permissions(&root, Permissions::from_mode(0o777)).unwrap();
        let mirror = Mirror::open(&root).unwrap();
        let offer = offer(&files(), None);
        mirror.keep(&offer, &files()).unwrap();
        let mode = |path: &Utf8Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let folder = mirror.folder(&offer);
        for path in
            [&root, folder.parent().unwrap(), &folder, &folder.join("scripts"), &folder.join("scripts/run")]
        {
            assert_eq!(mode(path), 0o700, "{path}");
        }
        for path in [root.join(LOCK), folder.join("SKILL.md")] {
            assert_eq!(mode(&path), 0o600, "{path}");
        }
    }

    #[test]
    fn what_a_process_left_there_goes_whatever_its_depth() {
        let (_place, root) = root();
        let mut mirror = Mirror::open(&root).unwrap();
        let offer = offer(&files(), None);
        make_deep(&mirror.folder(&offer).join("deep"), DEEP);
        make_deep(&root.join("other/copy"), DEEP);
        let old = Mirror::open(&root.with_file_name("old")).unwrap();
        make_deep(&root.with_file_name("old").join("deep"), DEEP);
        let long_ago = old.lock.metadata().unwrap().modified().unwrap() - UNUSED_MAX * 2;
        old.lock.set_modified(long_ago).unwrap();
        drop(old);
        let neighbours = on_a_small_stack(move || {
            mirror.keep(&offer, &files()).unwrap();
            mirror.tidy(&[]).unwrap();
            (root.parent().unwrap().read_dir_utf8().unwrap().count(), root.read_dir_utf8().unwrap().count())
        });
        assert_eq!(neighbours, (1, 1), "only this one, and in it only the lock");
    }

    #[test]
    fn a_copy_that_is_not_whole_is_made_again() {
        let (_place, root) = root();
        let mirror = Mirror::open(&root).unwrap();
        let offer = offer(&files(), None);
        mirror.keep(&offer, &files()).unwrap();
        fs::write(mirror.folder(&offer).join("SKILL.md"), "").unwrap();
        assert!(!mirror.has(&offer));
        mirror.keep(&offer, &files()).unwrap();
        assert!(mirror.has(&offer));
    }
}
