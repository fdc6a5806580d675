//! The skills of a catalog, as plans and steps need them: with the hash of their files, their health and their folder.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use artel_catalog::{Catalog, Loaded, Location};
use artel_model::data_scope::{Sharing, SkillOrigin, sharing};
use artel_model::health::Health;
use artel_model::name::SkillName;
use artel_model::plan::{SkillLookup, SkillView, ToolPath};
use artel_model::registry::Availability;
use artel_model::skill::{Skill, SkillPin};
use artel_model::version::Version;
use artel_store::SkillHealth;
use camino::{Utf8Path, Utf8PathBuf};

use crate::content::Content;
use crate::home::{HomeError, home};

/// How a path names a file of a skill wherever that skill lies.
const SKILL_SCHEME: &str = "skill://";

/// The skills of one catalog.
pub struct SkillShelf {
    catalog: Catalog,
    /// What is not healthy, by name and hash.
    health: BTreeMap<(SkillName, String), Health>,
    paths: Paths,
    data: Utf8PathBuf,
    /// Where skills come from that are not the operator's own.
    origins: BTreeMap<SkillName, SkillOrigin>,
    /// Ids of skills that may share their data with every caller.
    shared_data: Vec<String>,
    /// What is found out about a skill when it is first asked for.
    known: BTreeMap<SkillPin, Known>,
    /// The real folders of skills, when a path is first asked for.
    folders: OnceLock<HashMap<Utf8PathBuf, usize>>,
}

/// Whether plans may name scripts by paths of this machine.
enum Paths {
    /// They may, and relative ones start here.
    From(Utf8PathBuf),
    /// They may not, and are shown none.
    Hidden,
}

#[derive(Default)]
struct Known {
    content_hash: OnceLock<String>,
    content: Content,
    folder: OnceLock<String>,
    origin: OnceLock<SkillOrigin>,
    home: OnceLock<Utf8PathBuf>,
}

impl SkillShelf {
    /// Makes a shelf of a catalog. Relative paths in plans start at `base`; built-in skills are unpacked into `data`.
    pub fn new(catalog: Catalog, health: Vec<SkillHealth>, base: Utf8PathBuf, data: Utf8PathBuf) -> Self {
        Self::with(catalog, health, Paths::From(base), data)
    }

    /// Makes a shelf for people elsewhere, who are to learn nothing of this machine's files: plans name scripts by their skills,
    /// every path is outside of them whether it exists or not, and none is shown.
    pub fn without_paths(catalog: Catalog, health: Vec<SkillHealth>, data: Utf8PathBuf) -> Self {
        Self::with(catalog, health, Paths::Hidden, data)
    }

    fn with(catalog: Catalog, health: Vec<SkillHealth>, paths: Paths, data: Utf8PathBuf) -> Self {
        let pins = catalog.registry().all().map(|skill| (skill.pin(), Known::default()));
        let known = pins.collect();
        let health = health.into_iter().map(|seen| ((seen.skill, seen.content_hash), seen.health)).collect();
        Self {
            catalog,
            health,
            paths,
            data,
            origins: BTreeMap::new(),
            shared_data: Vec::new(),
            known,
            folders: OnceLock::new(),
        }
    }

    /// Says where skills come from; all others are the operator's own.
    #[must_use]
    pub fn with_origins(self, origins: BTreeMap<SkillName, SkillOrigin>) -> Self {
        Self { origins, ..self }
    }

    /// Says which skills may share their data with every caller, by their ids; no others may.
    #[must_use]
    pub fn with_shared_data(self, shared_data: Vec<String>) -> Self {
        Self { shared_data, ..self }
    }

    /// Returns which skill of which source this is.
    pub fn origin<'s>(&'s self, skill: &Skill) -> Option<&'s SkillOrigin> {
        let known = self.known.get(&skill.pin())?;
        Some(known.origin.get_or_init(|| {
            let from_elsewhere = self.origins.get(&skill.name).cloned();
            from_elsewhere.unwrap_or_else(|| SkillOrigin::default_source(&skill.name))
        }))
    }

    /// Returns the catalog.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns what was loaded of exactly that skill.
    pub fn entry(&self, name: &SkillName, version: &Version) -> Option<&Loaded> {
        self.catalog.find(name, Some(version)).ok()
    }

    /// Returns the hash of a skill's files, as they were when this was first asked.
    pub fn content_hash(&self, entry: &Loaded) -> Option<&str> {
        let known = self.known.get(&entry.skill.as_ref()?.pin())?;
        Some(known.content_hash.get_or_init(|| known.content.hash(entry)))
    }

    /// Says whether a skill lies here whose files are, at this moment, those with that hash.
    pub fn holds(&self, skill: &SkillPin, content_hash: &str) -> bool {
        let entry = self.entry(&skill.name, &skill.version);
        let known = entry.zip(self.known.get(skill));
        known.is_some_and(|(entry, known)| known.content.hash(entry) == content_hash)
    }

    /// Returns the real folder of a skill.
    pub fn home(&self, entry: &Loaded) -> Result<Utf8PathBuf, HomeError> {
        let known = entry.skill.as_ref().and_then(|skill| self.known.get(&skill.pin()));
        if let Some(home) = known.and_then(|known| known.home.get()) {
            return Ok(home.clone());
        }
        let found = home(entry, self.content_hash(entry).unwrap_or_default(), &self.data)?;
        if let Some(known) = known {
            let _ = known.home.set(found.clone());
        }
        Ok(found)
    }

    /// Returns how well a skill has been doing; only with the files it has.
    pub fn health(&self, entry: &Loaded) -> Health {
        let files = entry.skill.as_ref().zip(self.content_hash(entry));
        let known = files.and_then(|(skill, hash)| self.health.get(&(skill.name.clone(), hash.to_owned())));
        known.copied().unwrap_or(Health::NEW)
    }

    fn view<'s>(&'s self, entry: &'s Loaded) -> Option<SkillView<'s>> {
        let skill = entry.skill.as_deref()?;
        let known = self.known.get(&skill.pin())?;
        let is_enabled = self.catalog.is_enabled(&skill.name);
        let availability = if is_enabled { Availability::Enabled } else { Availability::Disabled };
        let origin = self.origin(skill);
        Some(SkillView {
            skill,
            origin,
            sharing: origin.map_or(Sharing::NotGranted, |origin| sharing(origin, &self.shared_data)),
            content_hash: self.content_hash(entry)?,
            folder: known.folder.get_or_init(|| self.shown_folder(&skill.name, &entry.location)),
            health: self.health(entry),
            availability,
        })
    }

    fn shown_folder(&self, name: &SkillName, location: &Location) -> String {
        match (&self.paths, location) {
            (Paths::From(_), Location::Folder(path) | Location::RegistryFile { path, .. }) => {
                path.to_string()
            }
            (Paths::From(_), Location::BuiltIn(name)) => format!("{SKILL_SCHEME}{name}"),
            (Paths::Hidden, _) => format!("{SKILL_SCHEME}{name}"),
        }
    }

    /// Says which script of a skill a file inside its folder is.
    fn script_at(&self, skill: &Skill, inside: &Utf8Path) -> ToolPath {
        match skill.scripts.iter().find(|script| script.path == inside) {
            Some(script) if script.is_executable => {
                ToolPath::Script { skill: skill.pin(), script: script.name.clone() }
            }
            Some(_) => ToolPath::NotExecutable,
            None => ToolPath::NotAScript,
        }
    }

    fn script_by_scheme(&self, path: &str) -> ToolPath {
        let Some((name, inside)) = path.split_once('/') else { return ToolPath::Missing };
        let Some(entry) = name.parse().ok().and_then(|name: SkillName| self.catalog.find(&name, None).ok())
        else {
            return ToolPath::Outside;
        };
        let is_there = entry.files.iter().any(|file| file.path == inside);
        match (&entry.skill, is_there) {
            (Some(skill), true) => self.script_at(skill, Utf8Path::new(inside)),
            (Some(_), false) => ToolPath::Missing,
            (None, _) => ToolPath::Outside,
        }
    }

    /// Returns the innermost usable skill whose folder holds a file, and the file's path inside it.
    fn skill_around(&self, real: &Utf8Path) -> Option<(&Skill, Utf8PathBuf)> {
        let folders = self.folders.get_or_init(|| real_folders(&self.catalog));
        let folder = real.ancestors().find(|ancestor| folders.contains_key(*ancestor))?;
        let skill = self.catalog.entries().get(folders[folder])?.skill.as_deref()?;
        Some((skill, real.strip_prefix(folder).ok()?.to_owned()))
    }
}

/// Returns where the folders of usable skills really are, and which entries they belong to.
fn real_folders(catalog: &Catalog) -> HashMap<Utf8PathBuf, usize> {
    let entries = catalog.entries().iter().enumerate().filter(|(_, entry)| entry.is_usable());
    let folders = entries.filter_map(|(index, entry)| match &entry.location {
        Location::Folder(path) => Some((path.canonicalize_utf8().ok()?, index)),
        Location::RegistryFile { .. } | Location::BuiltIn(_) => None,
    });
    folders.collect()
}

impl SkillLookup for SkillShelf {
    fn skill(&self, name: &SkillName, version: Option<&Version>) -> Option<SkillView<'_>> {
        self.view(self.catalog.find(name, version).ok()?)
    }

    fn tool_path(&self, path: &str) -> ToolPath {
        if let Some(inside) = path.strip_prefix(SKILL_SCHEME) {
            return self.script_by_scheme(inside);
        }
        let base = match &self.paths {
            Paths::From(base) => base,
            Paths::Hidden => return ToolPath::Outside,
        };
        let Ok(real) = base.join(path).canonicalize_utf8() else { return ToolPath::Missing };
        match self.skill_around(&real) {
            Some((skill, inside)) => self.script_at(skill, &inside),
            None => ToolPath::Outside,
        }
    }

    fn similar(&self, name: &SkillName) -> Vec<SkillName> {
        self.catalog.similar_names(name.as_str()).into_iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use artel_catalog::{CatalogRequest, Keep, LoadOptions};

    use super::*;

    fn catalog(folder: &Utf8Path) -> Catalog {
        let script = folder.join("demo/scripts/run.sh");
        fs::create_dir_all(folder.join("demo/scripts")).unwrap();
        fs::write(folder.join("demo/SKILL.md"), "---\nname: demo\ndescription: Shows it.\n---\n").unwrap();
        fs::write(&script, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        Catalog::load(&CatalogRequest {
            roots: vec![folder.to_owned()],
            options: LoadOptions::from(Keep::Descriptions),
            disabled: Default::default(),
            chosen: Vec::new(),
        })
    }

    #[test]
    fn people_elsewhere_learn_nothing_of_the_files() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(place.path()).unwrap();
        let [there, nowhere] = ["demo/scripts/run.sh", "demo/nothing"].map(|path| folder.join(path));
        let shelf = SkillShelf::new(catalog(folder), Vec::new(), folder.to_owned(), folder.join("data"));
        assert!(matches!(shelf.tool_path(there.as_str()), ToolPath::Script { .. }));
        assert!(matches!(shelf.tool_path(nowhere.as_str()), ToolPath::Missing));
        let shelf = SkillShelf::without_paths(catalog(folder), Vec::new(), folder.join("data"));
        for path in [there.as_str(), nowhere.as_str(), "demo/scripts/run.sh", "/etc/passwd", "/etc/no-such"] {
            assert!(matches!(shelf.tool_path(path), ToolPath::Outside), "{path}");
        }
        assert!(matches!(shelf.tool_path("skill://demo/scripts/run.sh"), ToolPath::Script { .. }));
        let view = shelf.skill(&"demo".parse().unwrap(), None).unwrap();
        assert_eq!(view.folder, "skill://demo");
    }
}
