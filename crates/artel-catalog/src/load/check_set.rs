//! What is wrong between skills: duplicates, shadows, missing dependencies and circles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::registry::{DependencyProblem, Registry};
use artel_model::skill::{Skill, SkillPin};
use artel_model::version::{Dependency, Version};
use camino::Utf8PathBuf;

use super::loaded::Loaded;
use crate::source::{Listing, content_hash};

/// Where an entry is: the root, and its number in there.
type Spot = (usize, usize);

/// What was found, by the entry it is about.
type Found = BTreeMap<Spot, Vec<Finding>>;

/// Checks the skills of all `roots` together; earlier roots win by name. `known` are skills that exist besides.
pub fn check_set(roots: &mut [Vec<Loaded>], known: &[Arc<Skill>]) {
    add(roots, replaced(roots));
    let needs_others = |skill: &Arc<Skill>| !skill.dependencies.is_empty() || skill.composite.is_some();
    if !roots.iter().flatten().filter_map(|loaded| loaded.skill.as_ref()).any(needs_others) {
        return;
    }
    let role = || roots.iter().flatten().filter(|loaded| !loaded.is_superseded());
    // What is there twice was reported; a known skill that is loaded again is the loaded one, and of the loaded ones
    // that which can be used.
    let usable = role().filter_map(Loaded::usable);
    let registry = Registry::of(usable.chain(role().filter_map(|loaded| loaded.skill.as_ref())).chain(known));
    let mut found = Found::new();
    for (spot, loaded) in spots(roots) {
        let unknown = unknown_in_steps(loaded, &registry);
        if !unknown.is_empty() {
            found.insert(spot, unknown);
        }
    }
    find_dependency_problems(roots, &registry.dependency_problems(), &mut found);
    add(roots, found);
}

fn spots(roots: &[Vec<Loaded>]) -> impl Iterator<Item = (Spot, &Loaded)> {
    roots.iter().enumerate().flat_map(|(root, entries)| {
        entries.iter().enumerate().map(move |(index, entry)| ((root, index), entry))
    })
}

fn add(roots: &mut [Vec<Loaded>], found: Found) {
    for ((root, index), findings) in found {
        roots[root][index].add_findings(findings);
    }
}

/// Returns what an earlier skill of the same name replaces. What cannot be used itself replaces nothing.
fn replaced(roots: &[Vec<Loaded>]) -> Found {
    let skills = spots(roots).filter_map(|(spot, entry)| Some((entry.skill.as_deref()?, spot, entry)));
    let mut skills: Vec<(&Skill, Spot, &Loaded)> = skills.collect();
    skills.sort_by_key(|(skill, ..)| &skill.name);
    let mut found = Found::new();
    for same in skills.chunk_by(|(one, ..), (other, ..)| one.name == other.name).filter(|same| same.len() > 1)
    {
        let Some(first_at) = same.iter().position(|(.., entry)| entry.is_usable()) else { continue };
        let (_, (first_root, _), first) = same[first_at];
        let mut versions: BTreeSet<&Version> = BTreeSet::new();
        for &(skill, spot, entry) in &same[first_at..] {
            let (code, message) = if first_root != spot.0 && is_same_content(first, entry) {
                (Code::SameSkill, format!("`{}` is the same as {}", skill.name, first.location))
            } else if first_root != spot.0 {
                (Code::Shadowed, format!("`{}` is not used: {} comes first", skill.name, first.location))
            } else if versions.contains(&skill.version) {
                let message = format!("`{}` is defined already, by {}", skill.pin(), first.location);
                (Code::DuplicateSkill, message)
            } else {
                if entry.is_usable() {
                    versions.insert(&skill.version);
                }
                continue;
            };
            found.entry(spot).or_default().push(finding(
                entry,
                code,
                entry.name_place().cloned(),
                message,
                None,
            ));
        }
    }
    found
}

/// Says whether two folders hold the same files. What cannot be read is not the same.
fn is_same_content(one: &Loaded, other: &Loaded) -> bool {
    let sizes = |loaded: &Loaded| -> Vec<(Utf8PathBuf, u64)> {
        loaded.files.iter().map(|file| (file.path.clone(), file.size)).collect()
    };
    let hash = |loaded: &Loaded| {
        let listing = Listing { files: loaded.files.clone(), ..Listing::default() };
        content_hash(loaded.location.tree()?.as_ref(), &listing).ok()
    };
    // Most skills that share a name differ in size already, which costs no reading.
    sizes(one) == sizes(other) && hash(one).is_some_and(|hash_of_one| hash(other) == Some(hash_of_one))
}

fn unknown_in_steps(loaded: &Loaded, registry: &Registry) -> Vec<Finding> {
    let composite = loaded.skill.as_ref().and_then(|skill| skill.composite.as_ref());
    let (Some(composite), Some(places)) = (composite, &loaded.places) else { return Vec::new() };
    let Some(path) = &places.manifest else { return Vec::new() };
    let positions = places.steps.iter().copied().chain(places.fallback);
    let unknown = composite.skills().zip(positions).filter(|(name, _)| registry.get(name, None).is_err());
    unknown
        .map(|(name, position)| {
            let message = format!("there is no skill `{name}`");
            finding(loaded, Code::StepSkillUnknown, Some((path.clone(), position)), message, None)
        })
        .collect()
}

fn find_dependency_problems(roots: &[Vec<Loaded>], problems: &[DependencyProblem], found: &mut Found) {
    if problems.is_empty() {
        return;
    }
    let mut by_pin: BTreeMap<SkillPin, Vec<(Spot, &Loaded)>> = BTreeMap::new();
    for (spot, loaded) in spots(roots).filter(|(_, loaded)| !loaded.is_superseded()) {
        if let Some(skill) = &loaded.skill {
            by_pin.entry(skill.pin()).or_default().push((spot, loaded));
        }
    }
    for problem in problems {
        let turned = from_first(problem);
        let problem = turned.as_ref().unwrap_or(problem);
        let (code, skill, hint) = match problem {
            DependencyProblem::Unknown { skill, .. } => {
                (Code::DependencyUnknown, skill, "install it, or remove the dependency")
            }
            DependencyProblem::Disabled { skill, .. } => {
                (Code::DependencyVersion, skill, "enable it, or remove the dependency")
            }
            DependencyProblem::Version { skill, .. } => {
                (Code::DependencyVersion, skill, "ask for a version that exists")
            }
            DependencyProblem::Cycle(ring) => {
                (Code::DependencyCycle, &ring[0], "remove one of these dependencies")
            }
        };
        for &(spot, loaded) in by_pin.get(skill).into_iter().flatten() {
            if let Some(place) = dependency_place(loaded, problem) {
                let finding = finding(loaded, code, Some(place), problem.to_string(), Some(hint));
                found.entry(spot).or_default().push(finding);
            }
        }
    }
}

/// Turns a closed path so that it starts at its first skill; nothing where the problem is no path.
fn from_first(problem: &DependencyProblem) -> Option<DependencyProblem> {
    let ring = match problem {
        DependencyProblem::Cycle(ring) => ring,
        DependencyProblem::Unknown { .. }
        | DependencyProblem::Disabled { .. }
        | DependencyProblem::Version { .. } => return None,
    };
    let open = &ring[..ring.len() - 1];
    let start = open.iter().enumerate().min_by_key(|(_, pin)| *pin).map_or(0, |(index, _)| index);
    let turned = (0..=open.len()).map(|offset| open[(start + offset) % open.len()].clone());
    Some(DependencyProblem::Cycle(turned.collect()))
}

/// Returns where the skill asks for what is the problem.
fn dependency_place(loaded: &Loaded, problem: &DependencyProblem) -> Option<(Utf8PathBuf, Position)> {
    let is_meant = |entry: &Dependency| match problem {
        DependencyProblem::Unknown { dependency, .. }
        | DependencyProblem::Disabled { dependency, .. }
        | DependencyProblem::Version { dependency, .. } => entry == dependency,
        DependencyProblem::Cycle(ring) => entry.name == ring[1].name,
    };
    let places = loaded.places.as_ref()?;
    let entry = loaded.skill.as_ref()?.dependencies.iter().position(is_meant)?;
    Some((places.manifest.clone()?, *places.dependencies.get(entry)?))
}

fn finding(
    loaded: &Loaded,
    code: Code,
    place: Option<(Utf8PathBuf, Position)>,
    message: String,
    hint: Option<&str>,
) -> Finding {
    let (path, position) = match place {
        Some((path, position)) => (path, Some(position)),
        None => (Utf8PathBuf::from(loaded.location.to_string()), None),
    };
    Finding { code, message, path, position, hint: hint.map(str::to_owned) }
}
