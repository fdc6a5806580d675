//! Whether the files of a skill are those that a plan was made with. Looks at the files' stamps, and reads the files only
//! when a stamp has changed. Knows nothing of plans.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, PoisonError};

use artel_catalog::{Loaded, Location, content_hash, file_hash};
use artel_model::time::Timestamp;
use camino::{Utf8Path, Utf8PathBuf};

use crate::clock::Clock;

/// Milliseconds after a change during which another one may leave no trace in the stamp: file systems count time in steps,
/// the coarsest of two seconds.
const STEP_MS: u64 = 2000;

/// The content of one skill, as it was when somebody last looked; nothing while it may change without a trace.
#[derive(Default)]
pub(crate) struct Content(Mutex<Option<Seen>>);

struct Seen {
    stamps: Vec<Stamp>,
    hash: String,
}

/// What the file system says about a file. Whoever changes the file changes this, as no program can set `changed`; only two
/// changes that are close together may be told alike.
#[derive(Debug, Eq, PartialEq)]
struct Stamp {
    path: Utf8PathBuf,
    device: u64,
    inode: u64,
    size: u64,
    mode: u32,
    /// Seconds and nanoseconds.
    changed: (i64, i64),
}

impl Content {
    /// Returns the hash of the skill's files as they are.
    pub(crate) fn hash(&self, entry: &Loaded) -> String {
        self.hash_at(entry, Clock::system().now())
    }

    /// Returns the hash at a time that is not later than the moment of looking.
    fn hash_at(&self, entry: &Loaded, now: Timestamp) -> String {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Before the files are read: what changes meanwhile has another stamp the next time.
        let stamps = stamps(&entry.location);
        if let Some(seen) = seen.as_ref().filter(|seen| seen.stamps == stamps) {
            return seen.hash.clone();
        }
        let hash = hash_of(entry);
        let is_settled = stamps.iter().all(|stamp| stamp.is_settled(now));
        *seen = is_settled.then(|| Seen { stamps, hash: hash.clone() });
        hash
    }
}

/// What is inside the binary or was read from a registry file does not change.
fn stamps(location: &Location) -> Vec<Stamp> {
    match (location, location.tree()) {
        (Location::Folder(folder), Some(tree)) => {
            let files = tree.listing().files;
            files.into_iter().filter_map(|file| Stamp::of(folder, file.path)).collect()
        }
        (Location::Folder(_) | Location::RegistryFile { .. } | Location::BuiltIn(_), _) => Vec::new(),
    }
}

impl Stamp {
    fn of(folder: &Utf8Path, path: Utf8PathBuf) -> Option<Self> {
        let found = fs::metadata(folder.join(&path)).ok()?;
        Some(Self {
            path,
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            mode: found.mode(),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// Says whether every change from this time on gives another stamp. A change in the future says that clocks differ.
    fn is_settled(&self, now: Timestamp) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let changed =
            Timestamp::from_millis(seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000));
        changed + STEP_MS < now
    }
}

/// Skills without files of their own are told apart by what they say.
fn hash_of(entry: &Loaded) -> String {
    let of_files = entry.location.tree().and_then(|tree| content_hash(&*tree, &tree.listing()).ok());
    let of_manifest = || {
        let manifest = entry.skill.as_ref().map(|skill| serde_json::to_vec(&skill.manifest()));
        file_hash(&manifest.and_then(Result::ok).unwrap_or_default())
    };
    of_files.unwrap_or_else(of_manifest).to_string()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions};

    use super::*;

    struct Place {
        folder: tempfile::TempDir,
        catalog: Catalog,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let skill = folder.path().join("demo");
        fs::create_dir_all(skill.join("scripts")).unwrap();
        fs::write(skill.join("SKILL.md"), "---\nname: demo\ndescription: Does something.\n---\n").unwrap();
        fs::write(skill.join("scripts/run.sh"), "one").unwrap();
        let catalog = Catalog::load(&CatalogRequest {
            roots: vec![Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap()],
            options: LoadOptions::from(Keep::Descriptions),
            disabled: Default::default(),
            chosen: Vec::new(),
        });
        Place { folder, catalog }
    }

    impl Place {
        fn entry(&self) -> &Loaded {
            self.catalog.find(&"demo".parse().unwrap(), None).unwrap()
        }

        fn path(&self, inside: &str) -> std::path::PathBuf {
            self.folder.path().join("demo").join(inside)
        }
    }

    #[test]
    fn every_change_of_a_file_is_noticed() {
        let place = place();
        let content = Content::default();
        let mut hashes = vec![content.hash(place.entry())];
        assert_eq!(content.hash(place.entry()), hashes[0]);
        let script = place.path("scripts/run.sh");
        let modified = fs::metadata(&script).unwrap().modified().unwrap();
        let other = place.path("../other");
        let change: [&dyn Fn(); 4] = [
            // As large as before, and as old.
            &|| {
                fs::write(&other, "two").unwrap();
                fs::File::open(&other).unwrap().set_modified(modified).unwrap();
                fs::rename(&other, &script).unwrap();
            },
            &|| fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap(),
            &|| fs::write(place.path("scripts/more.sh"), "more").unwrap(),
            &|| fs::remove_file(&script).unwrap(),
        ];
        for change in change {
            change();
            hashes.push(content.hash(place.entry()));
        }
        assert_eq!(hashes.len(), std::collections::BTreeSet::from_iter(&hashes).len(), "{hashes:?}");
    }

    #[test]
    fn what_has_just_changed_is_read_again() {
        let place = place();
        let content = Content::default();
        let is_kept = || content.0.lock().unwrap().is_some();
        let last = stamps(&place.entry().location).iter().map(|stamp| stamp.changed).max().unwrap();
        let changed = Timestamp::from_millis(last.0 * 1000 + last.1 / 1_000_000);
        for (now, expected) in [
            (changed, false),
            (changed + STEP_MS, false),
            (changed + STEP_MS + 1, true),
            // What was sure stays so as long as nothing changes, whatever the clock says.
            (changed - STEP_MS, true),
        ] {
            content.hash_at(place.entry(), now);
            assert_eq!(is_kept(), expected, "{now}");
        }
        // What is kept is believed until a stamp changes.
        content.0.lock().unwrap().as_mut().unwrap().hash = "forged".to_owned();
        assert_eq!(content.hash_at(place.entry(), changed), "forged");
        fs::write(place.path("scripts/run.sh"), "three").unwrap();
        assert_ne!(content.hash_at(place.entry(), changed), "forged");
        assert!(!is_kept());
        // What is in the future never settles.
        content.hash_at(place.entry(), changed - 1_000_000);
        assert!(!is_kept());
    }

    #[test]
    fn what_is_no_change_of_the_content_is_none() {
        let place = place();
        let content = Content::default();
        let before = content.hash(place.entry());
        fs::create_dir(place.path("data")).unwrap();
        fs::write(place.path("data/kept"), "x").unwrap();
        fs::write(place.path("scripts/run.sh"), "one").unwrap();
        assert_eq!(content.hash(place.entry()), before);
    }
}
