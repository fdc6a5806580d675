//! Skills by name and version: looking them up, and what they need before them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::graph::{Cycle, Graph};
use crate::name::SkillName;
use crate::skill::{Skill, SkillPin};
use crate::version::{Dependency, Version};

/// The identifier of the one registry of a process.
pub const REGISTRY_ID: &str = "default";

/// All registered skills. A skill once registered is immutable.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    skills: BTreeMap<SkillName, Versions>,
}

#[derive(Clone, Debug, Default)]
struct Versions {
    /// Every version, the lowest first. Most skills have one, for which a map would be a waste.
    skills: Vec<Arc<Skill>>,
    /// The version that a look-up by name gives, when an operator chose one.
    chosen: Option<Version>,
    /// A switch is about the name, so that a version that comes later does not bring a skill back.
    availability: Availability,
}

/// Whether a skill may be found without naming its version.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Availability {
    /// It may.
    #[default]
    Enabled,
    /// An operator switched it off.
    Disabled,
}

/// Why a skill was not registered.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RegisterError {
    /// This version is registered already, and skills are immutable.
    #[error("`{0}` is registered already: a changed skill needs another version")]
    Duplicate(SkillPin),
}

/// Why something could not be looked up.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LookupError {
    /// No skill has this name.
    #[error("there is no skill `{0}`")]
    Unknown(SkillName),
    /// The skill has no such version.
    #[error("there is no version {version} of skill `{name}`")]
    UnknownVersion {
        /// The skill.
        name: SkillName,
        /// The version asked for.
        version: Version,
    },
    /// The skill is switched off.
    #[error("skill `{0}` is disabled")]
    Disabled(SkillName),
}

/// Why the dependencies of skills do not work out.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DependencyProblem {
    /// A skill that does not exist.
    #[error("`{}` depends on `{}`, which does not exist", .skill.name, .dependency.name)]
    Unknown {
        /// The skill that asks.
        skill: SkillPin,
        /// What it asks for.
        dependency: Dependency,
    },
    /// A skill that an operator switched off.
    #[error("`{}` depends on `{}`, which is disabled", .skill.name, .dependency.name)]
    Disabled {
        /// The skill that asks.
        skill: SkillPin,
        /// What it asks for.
        dependency: Dependency,
    },
    /// A skill that exists, but not in a version that will do.
    #[error("`{}` depends on `{dependency}`, but only {} exists", .skill.name, versions(.available))]
    Version {
        /// The skill that asks.
        skill: SkillPin,
        /// What it asks for.
        dependency: Dependency,
        /// The versions there are, lowest first.
        available: Vec<Version>,
    },
    /// Skills that need each other; the first is repeated at the end.
    #[error("circular dependency: {}", names(.0))]
    Cycle(Vec<SkillPin>),
}

fn versions(available: &[Version]) -> String {
    available.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Writes a closed path as `a → b → a`.
fn names(ring: &[SkillPin]) -> String {
    ring.iter().map(|pin| pin.name.as_str()).collect::<Vec<_>>().join(" → ")
}

impl Registry {
    /// Makes a registry of many skills; of the same version twice, the first counts.
    pub fn of<'a>(skills: impl IntoIterator<Item = &'a Arc<Skill>>) -> Self {
        let mut skills: Vec<&Arc<Skill>> = skills.into_iter().collect();
        // One sort takes a fraction of the time that it takes to find the place of every skill in a map.
        skills.sort_by_key(|skill| (&skill.name, &skill.version));
        skills.dedup_by_key(|skill| (&skill.name, &skill.version));
        let versions = |same: &[&Arc<Skill>]| Versions {
            skills: same.iter().copied().map(Arc::clone).collect(),
            ..Versions::default()
        };
        let named = skills.chunk_by(|a, b| a.name == b.name);
        Self { skills: named.map(|same| (same[0].name.clone(), versions(same))).collect() }
    }

    /// Adds one version of a skill. Its dependencies may be registered later; see [`Registry::dependency_problems`].
    pub fn register(&mut self, skill: &Arc<Skill>) -> Result<(), RegisterError> {
        let versions = self.skills.entry(skill.name.clone()).or_default();
        match versions.search(&skill.version) {
            Ok(_) => Err(RegisterError::Duplicate(skill.pin())),
            Err(at) => {
                versions.skills.insert(at, Arc::clone(skill));
                Ok(())
            }
        }
    }

    /// Switches a skill on or off, in every version that it has or gets.
    pub fn set_availability(
        &mut self,
        name: &SkillName,
        availability: Availability,
    ) -> Result<(), LookupError> {
        let versions = self.skills.get_mut(name).ok_or_else(|| LookupError::Unknown(name.clone()))?;
        versions.availability = availability;
        Ok(())
    }

    /// Makes look-ups by name give `version` from here on.
    pub fn override_version(&mut self, name: &SkillName, version: Version) -> Result<(), LookupError> {
        let versions = self.skills.get_mut(name).ok_or_else(|| LookupError::Unknown(name.clone()))?;
        if versions.get(&version).is_none() {
            return Err(LookupError::UnknownVersion { name: name.clone(), version });
        }
        versions.chosen = Some(version);
        Ok(())
    }

    /// Returns the skill in that version, or else the chosen or highest enabled one.
    pub fn get(&self, name: &SkillName, version: Option<&Version>) -> Result<&Arc<Skill>, LookupError> {
        let versions = self.skills.get(name).ok_or_else(|| LookupError::Unknown(name.clone()))?;
        match version {
            Some(version) => versions
                .get(version)
                .ok_or_else(|| LookupError::UnknownVersion { name: name.clone(), version: version.clone() }),
            None => versions.usual().ok_or_else(|| LookupError::Disabled(name.clone())),
        }
    }

    /// Returns the usual version of every enabled skill that has all of `tags`, by name.
    pub fn list<'a>(&'a self, tags: &'a [String]) -> impl Iterator<Item = &'a Arc<Skill>> {
        let usual = self.skills.values().filter_map(Versions::usual);
        usual.filter(move |skill| tags.iter().all(|tag| skill.about.tags.contains(tag)))
    }

    /// Returns the usual version of a skill, or the highest when it is switched off.
    pub fn get_any(&self, name: &SkillName) -> Option<&Arc<Skill>> {
        self.skills.get(name).and_then(Versions::usual_or_highest)
    }

    /// Returns the usual version of every skill, or the highest where it is switched off, by name.
    pub fn list_any(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.skills.values().filter_map(Versions::usual_or_highest)
    }

    /// Returns every version of every skill, by name, then version.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.skills.values().flat_map(|versions| &versions.skills)
    }

    /// Returns the names each skill depends on, by name.
    pub fn dependency_graph(&self) -> BTreeMap<&SkillName, Vec<&SkillName>> {
        self.list(&[])
            .map(|skill| {
                (&skill.name, skill.dependencies.iter().map(|dependency| &dependency.name).collect())
            })
            .collect()
    }

    /// Returns the skill and all it needs, each after everything it needs: the order to run them in.
    pub fn resolve_dependencies(&self, name: &SkillName) -> Result<Vec<Arc<Skill>>, ResolveError> {
        let start = self.get(name, None).map_err(ResolveError::Lookup)?;
        let resolution = Resolution::of(self, vec![start]);
        if let Some(problem) = resolution.problems.into_iter().next() {
            return Err(ResolveError::Dependency(Box::new(problem)));
        }
        match resolution.graph.order_of(0) {
            Ok(order) => Ok(order.into_iter().map(|node| Arc::clone(resolution.nodes[node])).collect()),
            Err(cycle) => Err(ResolveError::Dependency(Box::new(named(&cycle, &resolution.nodes)))),
        }
    }

    /// Returns the ring that the dependencies of a skill run into, if they do.
    pub fn detect_cycles(&self, name: &SkillName) -> Result<Option<Vec<SkillPin>>, LookupError> {
        let start = self.get(name, None)?;
        let resolution = Resolution::of(self, vec![start]);
        Ok(resolution.graph.order_of(0).err().map(|cycle| ring(&cycle, &resolution.nodes)))
    }

    /// Checks the dependencies of all skills together, so that they may be registered in any order.
    pub fn dependency_problems(&self) -> Vec<DependencyProblem> {
        let starts = self.all().filter(|skill| !skill.dependencies.is_empty());
        let resolution = Resolution::of(self, starts.collect());
        let cycles = resolution.graph.cycles();
        let mut problems = resolution.problems;
        problems.extend(cycles.iter().map(|cycle| named(cycle, &resolution.nodes)));
        problems
    }

    fn problem(&self, skill: &Skill, dependency: &Dependency) -> DependencyProblem {
        let (skill, dependency) = (skill.pin(), dependency.clone());
        match self.skills.get(&dependency.name) {
            None => DependencyProblem::Unknown { skill, dependency },
            Some(versions) => match versions.availability {
                Availability::Disabled => DependencyProblem::Disabled { skill, dependency },
                Availability::Enabled => {
                    let available = versions.skills.iter().map(|skill| skill.version.clone()).collect();
                    DependencyProblem::Version { skill, dependency, available }
                }
            },
        }
    }
}

impl Versions {
    /// Returns where a version is, or where it would have to be.
    fn search(&self, version: &Version) -> Result<usize, usize> {
        self.skills.binary_search_by(|skill| skill.version.cmp(version))
    }

    fn get(&self, version: &Version) -> Option<&Arc<Skill>> {
        self.search(version).ok().map(|at| &self.skills[at])
    }

    /// Returns what may be found without naming its version: every version or none.
    fn enabled(&self) -> &[Arc<Skill>] {
        match self.availability {
            Availability::Enabled => &self.skills,
            Availability::Disabled => &[],
        }
    }

    fn usual(&self) -> Option<&Arc<Skill>> {
        let enabled = self.enabled();
        let chosen =
            self.chosen.as_ref().filter(|_| !enabled.is_empty()).and_then(|version| self.get(version));
        // A pre-release is only usual when there is nothing else.
        let release = || enabled.iter().rev().find(|skill| skill.version.pre.is_empty());
        chosen.or_else(release).or(enabled.last())
    }

    /// Returns the version to use for a dependency: the usual one if it will do, else the highest that will.
    fn satisfy(&self, dependency: &Dependency) -> Option<&Arc<Skill>> {
        let will_do = |skill: &&Arc<Skill>| dependency.accepts(&skill.version);
        self.usual().filter(will_do).or_else(|| self.enabled().iter().rev().find(will_do))
    }

    fn usual_or_highest(&self) -> Option<&Arc<Skill>> {
        self.usual().or(self.skills.last())
    }
}

/// Why there is no order to run a skill's dependencies in.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ResolveError {
    /// The skill itself could not be looked up.
    #[error(transparent)]
    Lookup(LookupError),
    /// Something it needs is missing, or needs it in turn.
    #[error(transparent)]
    Dependency(Box<DependencyProblem>),
}

/// The graph of some skills and all they need, with what is missing.
struct Resolution<'a> {
    nodes: Vec<&'a Arc<Skill>>,
    graph: Graph,
    problems: Vec<DependencyProblem>,
}

impl<'a> Resolution<'a> {
    fn of(registry: &'a Registry, starts: Vec<&'a Arc<Skill>>) -> Self {
        // There are many more dependencies than skills, so looking them up must be quick. Nobody walks through these
        // maps, so their order does not matter.
        let mut index: HashMap<*const Skill, usize> = HashMap::new();
        let mut versions: HashMap<&SkillName, Option<&Versions>> = HashMap::new();
        let mut nodes = starts;
        for (node, skill) in nodes.iter().enumerate() {
            index.insert(Arc::as_ptr(skill), node);
        }
        let (mut edges, mut problems) = (Vec::new(), Vec::new());
        let mut node = 0;
        while node < nodes.len() {
            let skill = nodes[node];
            for dependency in &skill.dependencies {
                let known = versions.entry(&dependency.name);
                let known = known.or_insert_with(|| registry.skills.get(&dependency.name));
                let Some(needed) = known.and_then(|versions| versions.satisfy(dependency)) else {
                    problems.push(registry.problem(skill, dependency));
                    continue;
                };
                let other = *index.entry(Arc::as_ptr(needed)).or_insert_with(|| {
                    nodes.push(needed);
                    nodes.len() - 1
                });
                edges.push((node, other));
            }
            node += 1;
        }
        let mut graph = Graph::new(nodes.len());
        for (node, other) in edges {
            graph.add(node, other);
        }
        Self { nodes, graph, problems }
    }
}

fn named(cycle: &Cycle, nodes: &[&Arc<Skill>]) -> DependencyProblem {
    DependencyProblem::Cycle(ring(cycle, nodes))
}

fn ring(cycle: &Cycle, nodes: &[&Arc<Skill>]) -> Vec<SkillPin> {
    cycle.0.iter().map(|&node| nodes[node].pin()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Skills as `name@version dependency…`.
    fn registry(skills: &[&str]) -> Registry {
        let mut registry = Registry::default();
        for text in skills {
            registry.register(&Arc::new(skill(text))).unwrap();
        }
        registry
    }

    fn skill(text: &str) -> Skill {
        let mut words = text.split_whitespace();
        let (name, version) = words.next().and_then(|head| head.split_once('@')).unwrap();
        let mut skill = Skill::new(name.parse().unwrap(), version.parse().unwrap(), "Does it.".to_owned());
        skill.dependencies = words.map(|word| word.parse().unwrap()).collect();
        skill.about.tags = vec![name[..1].to_owned()];
        skill
    }

    fn name(text: &str) -> SkillName {
        text.parse().unwrap()
    }

    fn version_of(registry: &Registry, text: &str) -> Result<String, LookupError> {
        registry.get(&name(text), None).map(|skill| skill.version.to_string())
    }

    #[test]
    fn a_name_gives_the_highest_enabled_version() {
        let mut registry = registry(&["a@1.0.0", "a@1.10.0", "a@1.9.0", "a@2.0.0-rc.1"]);
        assert_eq!(version_of(&registry, "a").unwrap(), "1.10.0");
        registry.override_version(&name("a"), Version::new(1, 9, 0)).unwrap();
        assert_eq!(version_of(&registry, "a").unwrap(), "1.9.0");
        registry.set_availability(&name("a"), Availability::Disabled).unwrap();
        assert_eq!(version_of(&registry, "a"), Err(LookupError::Disabled(name("a"))));
        assert!(registry.get(&name("a"), Some(&Version::new(1, 0, 0))).is_ok());
    }

    #[test]
    fn a_later_version_does_not_bring_a_disabled_skill_back() {
        let mut registry = registry(&["a@1.0.0", "x@1.0.0 a"]);
        registry.set_availability(&name("a"), Availability::Disabled).unwrap();
        registry.register(&Arc::new(skill("a@2.0.0"))).unwrap();
        assert_eq!(version_of(&registry, "a"), Err(LookupError::Disabled(name("a"))));
        let error = registry.resolve_dependencies(&name("x")).unwrap_err();
        assert_eq!(error.to_string(), "`x` depends on `a`, which is disabled");
        registry.set_availability(&name("a"), Availability::Enabled).unwrap();
        assert_eq!(version_of(&registry, "a").unwrap(), "2.0.0");
    }

    #[test]
    fn what_does_not_exist_is_said() {
        let mut registry = registry(&["a@1.0.0"]);
        assert_eq!(version_of(&registry, "b"), Err(LookupError::Unknown(name("b"))));
        let missing = Version::new(3, 0, 0);
        let error = registry.override_version(&name("a"), missing.clone()).unwrap_err();
        assert_eq!(error, LookupError::UnknownVersion { name: name("a"), version: missing });
        let again = registry.register(&Arc::new(skill("a@1.0.0"))).unwrap_err();
        assert_eq!(
            again.to_string(),
            "`a@1.0.0` is registered already: a changed skill needs another version"
        );
    }

    #[test]
    fn lists_are_by_name_and_tags() {
        let registry = registry(&["b@1.0.0", "a@1.0.0", "a@2.0.0"]);
        let names = |tags: &[String]| registry.list(tags).map(|s| s.pin().to_string()).collect::<Vec<_>>();
        assert_eq!(names(&[]), ["a@2.0.0", "b@1.0.0"]);
        assert_eq!(names(&["b".to_owned()]), ["b@1.0.0"]);
        assert_eq!(registry.all().count(), 3);
    }

    #[test]
    fn many_skills_at_once_are_the_same_as_one_after_the_other() {
        let skills = ["b@1.0.0", "a@2.0.0", "a@1.0.0 b", "a@2.0.0 b"].map(|text| Arc::new(skill(text)));
        let mut one_by_one = Registry::default();
        let results = skills.each_ref().map(|skill| one_by_one.register(skill).is_ok());
        assert_eq!(results, [true, true, true, false]);
        let at_once = Registry::of(&skills);
        let all = |registry: &Registry| registry.all().map(Arc::as_ptr).collect::<Vec<_>>();
        assert_eq!(all(&at_once), all(&one_by_one));
        assert_eq!(at_once.all().count(), 3);
    }

    #[test]
    fn what_is_switched_off_still_has_a_highest_version() {
        let mut registry = registry(&["a@1.0.0", "a@2.0.0-rc.1", "b@1.0.0"]);
        let pin = |registry: &Registry| registry.get_any(&name("a")).map(|skill| skill.pin().to_string());
        assert_eq!(pin(&registry).as_deref(), Some("a@1.0.0"));
        registry.set_availability(&name("a"), Availability::Disabled).unwrap();
        assert_eq!(pin(&registry).as_deref(), Some("a@2.0.0-rc.1"));
        assert_eq!(registry.list_any().count(), 2);
        assert_eq!(registry.list(&[]).count(), 1);
        assert_eq!(registry.get_any(&name("c")), None);
    }

    #[track_caller]
    fn check_order(skills: &[&str], of: &str, expected: Result<&[&str], &str>) {
        let order = registry(skills).resolve_dependencies(&name(of));
        let order = order.map(|skills| skills.iter().map(|s| s.pin().to_string()).collect::<Vec<_>>());
        assert_eq!(
            order.map_err(|error| error.to_string()),
            expected.map(|names| names.iter().map(ToString::to_string).collect()).map_err(str::to_owned)
        );
    }

    #[test]
    fn dependencies_come_first() {
        let chain = ["grasp@1.0.0 detect", "navigate@1.0.0", "detect@1.0.0 navigate"];
        check_order(&chain, "grasp", Ok(&["navigate@1.0.0", "detect@1.0.0", "grasp@1.0.0"]));
        check_order(
            &["a@1.0.0 b@^1 c", "b@1.5.0", "b@2.0.0", "c@1.0.0 b@^2"],
            "a",
            Ok(&["b@1.5.0", "b@2.0.0", "c@1.0.0", "a@1.0.0"]),
        );
    }

    #[test]
    fn what_is_missing_or_circular_is_said() {
        check_order(&["a@1.0.0 b"], "a", Err("`a` depends on `b`, which does not exist"));
        check_order(&["a@1.0.0 b@^2", "b@1.0.0"], "a", Err("`a` depends on `b@^2`, but only 1.0.0 exists"));
        let ring = ["x@1.0.0 a", "a@1.0.0 b", "b@1.0.0 c", "c@1.0.0 a"];
        check_order(&ring, "x", Err("circular dependency: a → b → c → a"));
        let registry = registry(&ring);
        assert_eq!(
            registry.detect_cycles(&name("x")).unwrap().map(|ring| names(&ring)).as_deref(),
            Some("a → b → c → a")
        );
        assert_eq!(registry.dependency_problems().len(), 1);
        assert_eq!(registry.dependency_graph()[&name("x")], [&name("a")]);
    }
}
