//! What is wrong between skills: duplicates, shadows, missing dependencies and circles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::name::SkillName;
use artel_model::registry::{DependencyProblem, Registry};
use artel_model::skill::Skill;
use artel_model::version::Version;
use camino::Utf8PathBuf;

use super::loaded::Loaded;

/// Checks the skills of all `roots` together; earlier roots win by name. `known` are skills that exist besides.
pub fn check_set(roots: &mut [Vec<Loaded>], known: &[Arc<Skill>]) {
    supersede(roots);
    let needs_others = |skill: &Arc<Skill>| !skill.dependencies.is_empty() || skill.composite.is_some();
    if !roots.iter().flatten().filter_map(|loaded| loaded.skill.as_ref()).any(needs_others) {
        return;
    }
    let standing = roots.iter().flatten().filter(|loaded| !loaded.is_superseded());
    // What is there twice was reported; a known skill that is loaded again is the loaded one.
    let registry = Registry::of(standing.filter_map(|loaded| loaded.skill.as_ref()).chain(known));
    for loaded in roots.iter_mut().flatten() {
        check_steps(loaded, &registry);
    }
    report_dependencies(roots, &registry.dependency_problems());
}

/// Marks what an earlier skill of the same name replaces.
fn supersede(roots: &mut [Vec<Loaded>]) {
    let places = roots.iter().enumerate().flat_map(|(root, entries)| {
        entries.iter().enumerate().map(move |(index, entry)| (root, index, entry))
    });
    let skills = places.filter_map(|(root, index, entry)| Some((entry.skill.as_deref()?, root, index)));
    let mut skills: Vec<(&Skill, usize, usize)> = skills.collect();
    skills.sort_by_key(|(skill, ..)| &skill.name);
    let mut replaced = Vec::new();
    for same in skills.chunk_by(|(one, ..), (other, ..)| one.name == other.name).filter(|same| same.len() > 1)
    {
        let (_, first_root, first_index) = same[0];
        let first = &roots[first_root][first_index].location;
        let mut seen: BTreeSet<&Version> = BTreeSet::new();
        for &(skill, root, index) in same {
            let is_new = seen.insert(&skill.version);
            let (code, message) = if first_root != root {
                (Code::Shadowed, format!("`{}` is not used: {first} comes first", skill.name))
            } else if !is_new {
                (Code::DuplicateSkill, format!("`{}` is defined already, by {first}", skill.pin()))
            } else {
                continue;
            };
            replaced.push((root, index, code, message));
        }
    }
    for (root, index, code, message) in replaced {
        let loaded = &mut roots[root][index];
        let place = loaded.name_place().cloned();
        push(loaded, code, place, message, None);
    }
}

fn check_steps(loaded: &mut Loaded, registry: &Registry) {
    let is_composite = |skill: &&Arc<Skill>| skill.composite.is_some();
    let Some(skill) = loaded.skill.as_ref().filter(is_composite).cloned() else { return };
    let (Some(composite), Some(places)) = (&skill.composite, loaded.places.clone()) else { return };
    let Some(path) = places.manifest else { return };
    let positions = places.steps.iter().copied().chain(places.fallback);
    for (name, position) in composite.skills().zip(positions) {
        if registry.get(name, None).is_err() {
            let message = format!("there is no skill `{name}`");
            push(loaded, Code::StepSkillUnknown, Some((path.clone(), position)), message, None);
        }
    }
}

fn report_dependencies(roots: &mut [Vec<Loaded>], problems: &[DependencyProblem]) {
    if problems.is_empty() {
        return;
    }
    let mut by_name: BTreeMap<SkillName, Vec<(usize, usize)>> = BTreeMap::new();
    for (root, entries) in roots.iter().enumerate() {
        for (index, skill) in
            entries.iter().enumerate().filter_map(|(index, e)| Some((index, e.skill.as_ref()?)))
        {
            by_name.entry(skill.name.clone()).or_default().push((root, index));
        }
    }
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
        for &(root, index) in by_name.get(&skill).into_iter().flatten() {
            let loaded = &mut roots[root][index];
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
