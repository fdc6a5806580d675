//! Which skills of a catalog a lock file is about.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::name::SkillName;
use artel_model::registry::ResolveError;
use artel_model::skill::SkillPin;

use super::locked::LockScope;
use crate::catalog::Catalog;
use crate::load::Loaded;

/// The skills of a catalog that are used.
#[derive(Debug, Default)]
pub struct Used<'a> {
    /// The skills, with all they build on, by name and version.
    pub skills: BTreeMap<SkillPin, &'a Loaded>,
    /// Skills that are meant and not there, or switched off.
    pub missing: BTreeSet<SkillName>,
    /// What is wrong with the dependencies of some; harmless to show.
    pub problems: Vec<String>,
}

/// Returns the skills that are meant by `scope`, with those they build on and those they run as steps.
pub fn used<'a>(catalog: &'a Catalog, scope: &LockScope) -> Used<'a> {
    let mut open: BTreeSet<SkillName> = match scope {
        LockScope::All => catalog
            .enabled()
            .into_iter()
            .filter_map(|entry| entry.skill.as_ref())
            .map(|skill| skill.name.clone())
            .collect(),
        LockScope::Named(names) => names.clone(),
    };
    let mut used = Used::default();
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop_first() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let steps = used.add(catalog, &name);
        open.extend(steps);
    }
    used
}

impl<'a> Used<'a> {
    /// Adds a skill with all it builds on, and returns the skills that those run as steps.
    fn add(&mut self, catalog: &'a Catalog, name: &SkillName) -> BTreeSet<SkillName> {
        let skills = match catalog.registry().resolve_dependencies(name) {
            Ok(skills) => skills,
            Err(ResolveError::Lookup(_)) => {
                self.missing.insert(name.clone());
                return BTreeSet::new();
            }
            Err(problem @ ResolveError::Dependency(_)) => {
                self.problems.push(problem.to_string());
                catalog.registry().get(name, None).into_iter().cloned().collect()
            }
        };
        let mut steps = BTreeSet::new();
        for skill in skills {
            let Ok(entry) = catalog.find(&skill.name, Some(&skill.version)) else { continue };
            let inside = skill.composite.iter().flat_map(|composite| &composite.steps);
            steps.extend(inside.map(|step| step.skill.clone()));
            self.skills.insert(skill.pin(), entry);
        }
        steps
    }
}
