//! All skills that can be used: from folders, earlier ones first, and from the binary itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_model::diagnostic::{Code, Diagnostic, Finding, Severity};
use artel_model::limit::SEARCH_RESULTS_MAX;
use artel_model::name::SkillName;
use artel_model::registry::{Availability, LookupError, Registry};
use artel_model::select::{CODING_SKILLS, Candidate, Risk, Selected, Selection, select};
use artel_model::skill::Skill;
use artel_model::version::Version;
use camino::Utf8PathBuf;

use crate::load::{LoadOptions, Loaded, Location, check_set, discover, discover_builtin};
use crate::mirror::Mirror;
use crate::profile::Profile;
use crate::search::{Field, Hit, Query, SearchDocument, SearchIndex};

/// What to load.
#[derive(Clone, Debug)]
pub struct CatalogRequest {
    /// Folders to search, the first wins by name.
    pub roots: Vec<Utf8PathBuf>,
    /// How to load them.
    pub options: LoadOptions,
    /// Skills that an operator switched off.
    pub disabled: BTreeSet<SkillName>,
    /// Versions that an operator chose.
    pub chosen: Vec<(SkillName, Version)>,
}

/// An immutable view of all skills.
#[derive(Debug)]
pub struct Catalog {
    entries: Vec<Arc<Loaded>>,
    /// Where each usable skill is among the entries, by name and version.
    usable: Vec<usize>,
    registry: Registry,
    disabled: BTreeSet<SkillName>,
    findings: Vec<Finding>,
    /// The copies that the skills were loaded from; nobody takes them away meanwhile.
    #[expect(dead_code, reason = "it is held, not read")]
    copies: Option<Mirror>,
}

/// What a person wants skills for.
#[derive(Clone, Debug)]
pub struct SelectRequest<'a> {
    /// The task, in words.
    pub task: &'a str,
    /// How much it may put at risk.
    pub risk: Risk,
    /// What kind of task it is.
    pub kind: TaskKind,
    /// How many skills at most.
    pub limit: usize,
}

/// The kinds of tasks that skills are chosen for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TaskKind {
    /// Any task: skills are found by its words.
    Any,
    /// Writing code: the two coding skills, whatever the words, the risk and the limit.
    Coding,
}

/// A skill found by words.
#[derive(Debug)]
pub struct SearchResult<'a> {
    /// The skill.
    pub entry: &'a Loaded,
    /// Its score, and what it is made of.
    pub hit: Hit,
}

/// The share of the best score that a skill needs to be chosen for a task: what only matches "the" is no help.
const SELECT_SCORE_SHARE_MIN: f32 = 0.05;

impl Catalog {
    /// Loads every skill there is. What cannot be used is left out and told.
    pub fn load(request: &CatalogRequest) -> Self {
        let mut findings = Vec::new();
        let mut roots: Vec<Vec<Loaded>> = Vec::new();
        // What is inside the binary takes a while to check and needs no disk, so it is loaded meanwhile.
        let (found, builtin) = rayon::join(
            || request.roots.iter().map(|root| discover(root, request.options)).collect::<Vec<_>>(),
            || discover_builtin(request.options.keep),
        );
        for discovery in found.into_iter().chain([builtin]) {
            findings.extend(discovery.findings);
            findings.extend(discovery.empty.into_iter().map(no_skill));
            roots.push(discovery.loaded);
        }
        check_set(&mut roots, &[]);
        let append = |mut all: Vec<Loaded>, mut more: Vec<Loaded>| {
            all.append(&mut more);
            all
        };
        let loaded = roots.into_iter().reduce(append).unwrap_or_default();
        let entries: Vec<Arc<Loaded>> = loaded.into_iter().map(Arc::new).collect();
        let (usable, mut registry) = usable_of(&entries);
        for name in &request.disabled {
            // A skill that was switched off may be gone since.
            let _ = registry.set_availability(name, Availability::Disabled);
        }
        for (name, version) in &request.chosen {
            if let Err(LookupError::UnknownVersion { .. }) = registry.override_version(name, version.clone())
            {
                findings.push(version_gone(name, version));
            }
        }
        Self { entries, usable, registry, disabled: request.disabled.clone(), findings, copies: None }
    }

    /// Makes a catalog of skills that others have chosen: each of `usual` is what its name means, `others` are further
    /// versions of them. What cannot be used is left out.
    pub fn of(usual: Vec<Arc<Loaded>>, others: Vec<Arc<Loaded>>) -> Self {
        let chosen: Vec<Arc<Skill>> = usual.iter().filter_map(|entry| entry.usable().cloned()).collect();
        let mut entries = usual;
        entries.extend(others);
        let (usable, mut registry) = usable_of(&entries);
        for skill in chosen {
            // It was registered a moment ago.
            let _ = registry.override_version(&skill.name, skill.version.clone());
        }
        Self { entries, usable, registry, disabled: BTreeSet::new(), findings: Vec::new(), copies: None }
    }

    /// Switches skills off, as an operator of whoever offers them did.
    #[must_use]
    pub fn without(mut self, disabled: BTreeSet<SkillName>) -> Self {
        for name in &disabled {
            // A skill that was switched off may be gone since.
            let _ = self.registry.set_availability(name, Availability::Disabled);
        }
        Self { disabled, ..self }
    }

    /// Keeps the copies that the skills were loaded from.
    pub(crate) fn holding(self, copies: Mirror) -> Self {
        Self { copies: Some(copies), ..self }
    }

    /// Returns the usable skills that are switched on, in all their versions, by name and version.
    pub fn published(&self) -> Vec<Arc<Loaded>> {
        let usable = self.usable.iter().filter_map(|index| self.entries.get(*index));
        let is_enabled =
            |entry: &&Arc<Loaded>| entry.skill.as_ref().is_some_and(|skill| self.is_enabled(&skill.name));
        usable.filter(is_enabled).cloned().collect()
    }

    /// Returns the skills by name and version.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the usual version of every usable skill, by name; also of those that are switched off.
    pub fn list(&self) -> Vec<&Loaded> {
        self.entries_of(self.registry.list_any())
    }

    /// Returns the usual version of every skill that is switched on, by name.
    pub fn enabled(&self) -> Vec<&Loaded> {
        self.entries_of(self.registry.list(&[]))
    }

    /// Says whether a skill is switched on.
    pub fn is_enabled(&self, name: &SkillName) -> bool {
        !self.disabled.contains(name)
    }

    /// Returns the skill in that version, or its usual one.
    pub fn find(&self, name: &SkillName, version: Option<&Version>) -> Result<&Loaded, LookupError> {
        let skill = match self.registry.get(name, version) {
            Err(LookupError::Disabled(_)) => {
                return self.usual(name).ok_or_else(|| LookupError::Unknown(name.clone()));
            }
            found => found?,
        };
        self.entry_of(skill).ok_or_else(|| LookupError::Unknown(name.clone()))
    }

    /// Returns the version that a look-up by name gives, whether or not the skill is switched on.
    fn usual(&self, name: &SkillName) -> Option<&Loaded> {
        self.registry.get_any(name).and_then(|skill| self.entry_of(skill))
    }

    fn entry_of(&self, skill: &Skill) -> Option<&Loaded> {
        let pin = |index: &usize| self.entries[*index].skill.as_ref().map(|own| (&own.name, &own.version));
        let at = self.usable.binary_search_by_key(&Some((&skill.name, &skill.version)), pin).ok()?;
        self.entries.get(self.usable[at]).map(AsRef::as_ref)
    }

    /// Returns the entries of skills that come by name and version: as the usable ones do, so one pass finds them all.
    fn entries_of<'a>(&'a self, skills: impl Iterator<Item = &'a Arc<Skill>>) -> Vec<&'a Loaded> {
        let mut usable = self.usable.iter().filter_map(|index| self.entries.get(*index).map(AsRef::as_ref));
        let is = |entry: &&Loaded, skill| entry.skill.as_ref().is_some_and(|own| Arc::ptr_eq(own, skill));
        skills.filter_map(|skill| usable.find(|entry| is(entry, skill))).collect()
    }

    /// Returns everything that was loaded, usable or not.
    pub fn entries(&self) -> &[Arc<Loaded>] {
        &self.entries
    }

    /// Returns what is to be said about loading, as a person who only wants to use the skills should hear it.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let search = self.findings.iter().filter_map(|finding| {
            let severity: Severity = finding.code.weight().lenient?;
            Some(Diagnostic { severity, finding: finding.clone() })
        });
        search.chain(self.entries.iter().flat_map(|entry| Profile::Lenient.diagnose(entry))).collect()
    }

    /// Returns names like `text`, the most alike first.
    pub fn similar_names(&self, text: &str) -> Vec<&SkillName> {
        let documents = self.list();
        let index = index(&documents, Bodies::Left);
        let found = index.search(&Query::new(text), 3);
        let in_name = |hit: &&Hit| hit.explanation.iter().any(|term| term.fields.contains(Field::Name));
        let hits = found.hits.iter().filter(in_name);
        let names = hits.filter_map(|hit| documents.get(hit.document as usize)?.skill.as_ref());
        names.map(|skill| &skill.name).collect()
    }

    /// Searches the enabled skills; the best come first.
    pub fn search(&self, query: &Query, limit: usize) -> (Vec<SearchResult<'_>>, usize) {
        let documents = self.enabled();
        let found = index(&documents, Bodies::Searched).search(query, limit.min(SEARCH_RESULTS_MAX));
        let results = found
            .hits
            .into_iter()
            .filter_map(|hit| Some(SearchResult { entry: documents.get(hit.document as usize)?, hit }))
            .collect();
        (results, found.total)
    }

    /// Chooses skills for a task; the chosen set always validates.
    pub fn select(&self, request: &SelectRequest<'_>) -> Result<Selection, LookupError> {
        if request.kind == TaskKind::Coding {
            return self.coding_skills();
        }
        let (results, _) = self.search(&Query::new(request.task), SEARCH_RESULTS_MAX);
        let floor = results.first().map_or(0.0, |best| best.hit.score * SELECT_SCORE_SHARE_MIN);
        let candidates: Vec<Candidate<'_>> = results
            .iter()
            .filter(|result| result.hit.score >= floor)
            .filter_map(|result| {
                let words: BTreeSet<&str> =
                    result.hit.explanation.iter().map(|found| found.word.as_str()).collect();
                let words: Vec<&str> = words.into_iter().collect();
                let skill = result.entry.skill.as_deref().filter(|skill| skill.invocation.by_model)?;
                Some(Candidate {
                    skill,
                    score: result.hit.score,
                    reason: format!("matches {}", words.join(", ")),
                })
            })
            .collect();
        Ok(select(&candidates, request.risk, request.limit, |name| {
            self.registry.get(name, None).ok().map(AsRef::as_ref)
        }))
    }

    fn coding_skills(&self) -> Result<Selection, LookupError> {
        let mut selection = Selection::default();
        for name in CODING_SKILLS {
            let name: SkillName = name.parse().expect("a constant name is valid");
            self.registry.get(&name, None)?;
            selection.selected.push(Selected {
                name,
                score: None,
                reason: "part of every coding task".to_owned(),
            });
        }
        Ok(selection)
    }
}

/// Returns where usable skills are among the entries, by name and version, and the skills themselves. Of the same version
/// twice, the first counts.
fn usable_of(entries: &[Arc<Loaded>]) -> (Vec<usize>, Registry) {
    let usable = entries.iter().enumerate().filter_map(|(index, entry)| Some((entry.usable()?, index)));
    let mut usable: Vec<(&Arc<Skill>, usize)> = usable.collect();
    usable.sort_by_key(|(skill, _)| (&skill.name, &skill.version));
    usable.dedup_by_key(|(skill, _)| (&skill.name, &skill.version));
    let registry = Registry::of(usable.iter().map(|(skill, _)| *skill));
    (usable.into_iter().map(|(_, index)| index).collect(), registry)
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Bodies {
    Searched,
    Left,
}

fn index(documents: &[&Loaded], bodies: Bodies) -> SearchIndex {
    SearchIndex::build(documents.iter().filter_map(|entry| {
        let skill = entry.skill.as_deref()?;
        let body = match bodies {
            Bodies::Searched => entry.instructions.as_deref().unwrap_or_default(),
            Bodies::Left => "",
        };
        Some(SearchDocument {
            name: skill.name.as_str(),
            title: skill.about.display_name.as_deref().unwrap_or_default(),
            description: &skill.description,
            tags: &skill.about.tags,
            body,
        })
    }))
}

/// A version that an operator chose and that does not exist any more.
fn version_gone(name: &SkillName, version: &Version) -> Finding {
    let message =
        format!("version {version} of `{name}` was chosen, but is not there; the usual one is used");
    Finding { code: Code::VersionGone, message, path: name.as_str().into(), position: None, hint: None }
}

/// A folder among skills that is none.
fn no_skill(path: Utf8PathBuf) -> Finding {
    let message = "the folder holds no skill; it is skipped".to_owned();
    Finding { code: Code::MissingFile, message, path, position: None, hint: None }
}

/// Returns where a skill's main file is, for people and prompts; what a server offers is known by its id.
pub fn main_file(entry: &Loaded) -> String {
    if let Some(offer) = &entry.offer {
        return offer.id.to_string();
    }
    match (&entry.location, main_file_name(entry)) {
        (Location::Folder(path), Some(name)) => path.join(name).into_string(),
        (Location::Folder(path) | Location::RegistryFile { path, .. }, _) => path.to_string(),
        (Location::BuiltIn(skill), name) => format!("skill://{skill}/{}", name.unwrap_or_default()),
    }
}

/// Returns the name of the file that says what a skill is; one that was defined in a registry file has none.
pub(crate) fn main_file_name(entry: &Loaded) -> Option<&'static str> {
    ["SKILL.md", "skill.md", "skill.json", "skill.yaml", "skill.yml"]
        .into_iter()
        .find(|name| entry.files.iter().any(|file| file.path == *name))
}
