//! What is wrong between skills: duplicates, shadows, missing dependencies and circles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::name::SkillName;
use artel_model::registry::{DependencyProblem, Registry};
use artel_model::skill::Skill;
use camino::Utf8PathBuf;

use super::loaded::Loaded;

/// Checks the skills of all `roots` together; earlier roots win by name. `known` are skills that exist besides.
pub fn check_set(roots: &mut [Vec<Loaded>], known: &[Arc<Skill>]) {
    supersede(roots);
    let mut registry = Registry::default();
    let standing = roots.iter().flatten().filter(|loaded| !loaded.is_superseded());
    for skill in standing.filter_map(|loaded| loaded.skill.as_ref()).chain(known) {
        // What is there twice was reported; a known skill that is loaded again is the loaded one.
        let _ = registry.register(skill);
    }
    let names: BTreeSet<&SkillName> = registry.all().map(|skill| &skill.name).collect();
    for loaded in roots.iter_mut().flatten() {
        check_steps(loaded, &names);
    }
    report_dependencies(roots, &registry.dependency_problems());
}

/// Marks what an earlier skill of the same name replaces.
fn supersede(roots: &mut [Vec<Loaded>]) {
    let mut by_name: BTreeMap<SkillName, (usize, Vec<artel_model::version::Version>, String)> =
        BTreeMap::new();
    for (root, skills) in roots.iter_mut().enumerate() {
        for loaded in skills {
            let Some(skill) = loaded.skill.clone() else { continue };
            let Some((first_root, versions, first)) = by_name.get_mut(&skill.name) else {
                let entry = (root, vec![skill.version.clone()], loaded.location.to_string());
                by_name.insert(skill.name.clone(), entry);
                continue;
            };
            let (code, message) = if *first_root != root {
                (Code::Shadowed, format!("`{}` is not used: {first} comes first", skill.name))
            } else if versions.contains(&skill.version) {
                (Code::DuplicateSkill, format!("`{}` is defined already, by {first}", skill.pin()))
            } else {
                versions.push(skill.version.clone());
                continue;
            };
            let place = loaded.name_place().cloned();
            push(loaded, code, place, message, None);
        }
    }
}

fn check_steps(loaded: &mut Loaded, names: &BTreeSet<&SkillName>) {
    let (Some(skill), Some(places)) = (loaded.skill.clone(), loaded.places.clone()) else { return };
    let (Some(composite), Some(path)) = (&skill.composite, places.manifest) else { return };
    let positions = places.steps.iter().copied().chain(places.fallback);
    for (name, position) in composite.skills().zip(positions) {
        if !names.contains(name) {
            let message = format!("there is no skill `{name}`");
            push(loaded, Code::StepSkillUnknown, Some((path.clone(), position)), message, None);
        }
    }
}

fn report_dependencies(roots: &mut [Vec<Loaded>], problems: &[DependencyProblem]) {
    for problem in problems {
        let (code, skill, dependency, hint) = match problem {
            DependencyProblem::Unknown { skill, dependency } => (
                Code::DependencyUnknown,
                skill.clone(),
                dependency.clone(),
                "install it, or remove the dependency",
            ),
            DependencyProblem::Version { skill, dependency, .. } => {
                let name = dependency.split('@').next().and_then(|name| name.parse().ok());
                let Some(name) = name else { continue };
                (Code::DependencyVersion, skill.clone(), name, "ask for a version that exists")
            }
            DependencyProblem::Cycle(ring) => {
                let ring = from_first(ring);
                (Code::DependencyCycle, ring[0].clone(), ring[1].clone(), "remove one of these dependencies")
            }
        };
        let message = match problem {
            DependencyProblem::Cycle(ring) => DependencyProblem::Cycle(from_first(ring)).to_string(),
            DependencyProblem::Unknown { .. } | DependencyProblem::Version { .. } => problem.to_string(),
        };
        for loaded in roots.iter_mut().flatten() {
            if let Some(place) = dependency_place(loaded, &skill, &dependency) {
                push(loaded, code, Some(place), message.clone(), Some(hint));
            }
        }
    }
}

/// Turns a closed path so that it starts at its first name.
fn from_first(ring: &[SkillName]) -> Vec<SkillName> {
    let open = &ring[..ring.len() - 1];
    let start = open.iter().enumerate().min_by_key(|(_, name)| *name).map_or(0, |(index, _)| index);
    (0..=open.len()).map(|offset| open[(start + offset) % open.len()].clone()).collect()
}

fn dependency_place(
    loaded: &Loaded,
    skill: &SkillName,
    dependency: &SkillName,
) -> Option<(Utf8PathBuf, Position)> {
    let own = loaded.skill.as_ref().filter(|own| own.name == *skill && !loaded.is_superseded())?;
    let places = loaded.places.as_ref()?;
    let entry = own.dependencies.iter().position(|entry| entry.name == *dependency)?;
    Some((places.manifest.clone()?, *places.dependencies.get(entry)?))
}

fn push(
    loaded: &mut Loaded,
    code: Code,
    place: Option<(Utf8PathBuf, Position)>,
    message: String,
    hint: Option<&str>,
) {
    let (path, position) = match place {
        Some((path, position)) => (path, Some(position)),
        None => (Utf8PathBuf::from(loaded.location.to_string()), None),
    };
    loaded.findings.push(Finding { code, message, path, position, hint: hint.map(str::to_owned) });
    loaded.findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    loaded.findings.dedup();
}
