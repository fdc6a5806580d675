//! Plans for one skill: the skill alone, or a chain of everything it depends on with the skill last.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::document::SkillChoice;
use super::expand::{Builder, Place, RetryWish, Wanted};
use super::links::{Tool, link};
use super::lookup::SkillLookup;
use super::problem::{PlanProblem, PlanProblemCode, Problems};
use super::resolve::{finish, wait_for_each_other};
use super::resolved::{
    Approval, Concurrency, Importance, Need, Plan, PlanMetadata, PlanParts, PlanStep, Stand,
};
use super::target::Choice;
use crate::id::{PlanId, StepId};
use crate::name::{LocalName, SkillName};
use crate::reference::escape;
use crate::registry::{DependencyProblem, LookupError, Registry, ResolveError};
use crate::skill::Skill;
use crate::version::Dependency;

/// One skill to run.
#[derive(Clone, Debug)]
pub struct SkillRequest<'a> {
    /// The id of the plan to make.
    pub id: PlanId,
    /// The skill.
    pub skill: &'a SkillChoice,
    /// One of its scripts; what the skill runs by itself when absent.
    pub script: Option<&'a LocalName>,
    /// Its parameters; they stand for themselves, whatever they look like.
    pub params: Map<String, Value>,
}

/// A skill to run after everything it depends on.
#[derive(Clone, Debug)]
pub struct ChainRequest<'a> {
    /// The id of the plan to make.
    pub id: PlanId,
    /// The skill.
    pub skill: &'a SkillName,
    /// Parameters for each skill of the chain; strings may hold `${skill.output.path}` of what that one depends on.
    pub params: BTreeMap<SkillName, Map<String, Value>>,
}

/// Makes the plan for running one skill. Paths of problems start at `/params`.
pub fn skill_plan(request: SkillRequest<'_>, skills: &dyn SkillLookup) -> Result<Plan, Vec<PlanProblem>> {
    let mut input = request.params;
    input.values_mut().for_each(escape);
    let mut builder = Builder::new(skills, &[], Problems::default());
    let id = step_id(&request.skill.name.to_string());
    builder.add(wanted(id, Choice::of(request.skill, request.script), "/params", input));
    finish(parts(request.id, builder.steps), builder.problems)
}

/// Makes the plan for running a skill after everything it depends on, in resolved order. What only holds instructions
/// is left out. Paths of problems start at `/params`.
pub fn chain_plan(
    request: &ChainRequest<'_>,
    registry: &Registry,
    skills: &dyn SkillLookup,
) -> Result<Plan, Vec<PlanProblem>> {
    let order = registry.resolve_dependencies(request.skill).map_err(|error| vec![unresolved(&error)])?;
    let chain = Chain::of(order, registry);
    let mut problems = Problems::default();
    for name in request.params.keys().filter(|name| !chain.links.iter().any(|link| link.skill.name == **name))
    {
        let message = format!("`{name}` does not run in this chain");
        problems.push(PlanProblem::new(format!("/params/{name}"), PlanProblemCode::UnknownSkill, message));
    }
    let nothing = Map::new();
    let tools: Vec<Tool<'_>> = chain
        .links
        .iter()
        .map(|link| Tool {
            id: &link.id,
            path: format!("/params/{}", link.skill.name),
            input_path: format!("/params/{}", link.skill.name),
            input: request.params.get(&link.skill.name).unwrap_or(&nothing),
            dependencies: &link.dependencies,
        })
        .collect();
    let needs = link(&tools, &[], &mut problems);
    let mut builder = Builder::new(skills, &[], problems);
    let mut added = Vec::new();
    for (link, tool) in chain.links.iter().zip(&tools) {
        let choice =
            Choice::Skill { name: &link.skill.name, version: Some(&link.skill.version), script: None };
        added.push(builder.add(wanted(link.id.clone(), choice, &tool.input_path, tool.input.clone())));
    }
    wait_for_each_other(&mut builder, &added, &needs, &tools);
    let mut parts = parts(request.id, builder.steps);
    show_by_skill(&mut parts.steps, &chain);
    finish(parts, builder.problems)
}

fn wanted<'a>(id: StepId, choice: Choice<'a>, input_path: &str, input: Map<String, Value>) -> Wanted<'a> {
    Wanted {
        id,
        choice,
        place: Place { path: String::new(), input_path: input_path.to_owned(), within: String::new() },
        input,
        importance: Importance::Required,
        stand: Stand::Alone,
        retry: RetryWish::AsTheSkill,
        timeout_ms: None,
        approval: Approval::None,
        scope: None,
        fallback: None,
    }
}

/// The skill itself runs alone; the steps of a composite may run beside each other.
fn parts(id: PlanId, steps: Vec<PlanStep>) -> PlanParts {
    PlanParts {
        id,
        narrative: None,
        concurrency: Concurrency::Parallel,
        disabled_skills: Vec::new(),
        metadata: PlanMetadata::first(),
        steps,
    }
}

fn step_id(text: &str) -> StepId {
    text.parse().expect("names and versions of skills are short and printable")
}

/// The skills of a chain that run, in order.
struct Chain {
    links: Vec<Link>,
}

struct Link {
    /// The skill's name; with its version where the chain has several.
    id: StepId,
    skill: Arc<Skill>,
    /// What it waits for.
    dependencies: Vec<StepId>,
    /// What it waits for only because something between them does not run.
    unseen: Vec<StepId>,
}

impl Chain {
    fn of(order: Vec<Arc<Skill>>, registry: &Registry) -> Self {
        let last = order.len().saturating_sub(1);
        let id = |skill: &Skill| {
            let is_alone = order.iter().filter(|other| other.name == skill.name).count() == 1;
            step_id(&if is_alone { skill.name.to_string() } else { skill.pin().to_string() })
        };
        let mut links: Vec<Link> = Vec::new();
        // What has to be waited for instead of a skill: itself, or what it needs when it does not run.
        let mut stands_for: Vec<Vec<StepId>> = Vec::new();
        for (place, skill) in order.iter().enumerate() {
            let (mut dependencies, mut unseen) = (Vec::new(), Vec::new());
            for dependency in &skill.dependencies {
                let Some(other) = satisfied_by(dependency, &order[..place], registry) else { continue };
                let into = if runs(&order[other]) { &mut dependencies } else { &mut unseen };
                into.extend(stands_for[other].iter().cloned());
            }
            unseen.retain(|id| !dependencies.contains(id));
            // The skill that was asked for must run, or it is said why not.
            if runs(skill) || place == last {
                let id = id(skill);
                dependencies.extend(unseen.iter().cloned());
                links.push(Link { id: id.clone(), skill: Arc::clone(skill), dependencies, unseen });
                stands_for.push(vec![id]);
            } else {
                dependencies.append(&mut unseen);
                stands_for.push(dependencies);
            }
        }
        Self { links }
    }
}

/// Returns the skill that a dependency means: the usual version if it will do, else the highest that will.
fn satisfied_by(dependency: &Dependency, before: &[Arc<Skill>], registry: &Registry) -> Option<usize> {
    let usual = registry.get(&dependency.name, None).ok();
    let fits = |skill: &Arc<Skill>| skill.name == dependency.name && dependency.accepts(&skill.version);
    let fitting = || before.iter().enumerate().filter(|(_, skill)| fits(skill));
    let chosen = fitting().find(|(_, skill)| usual.is_some_and(|usual| usual.version == skill.version));
    chosen.or_else(|| fitting().max_by_key(|(_, skill)| &skill.version)).map(|(place, _)| place)
}

fn runs(skill: &Skill) -> bool {
    skill.composite.is_some() || skill.entrypoint.is_some()
}

/// Shows results under the names of skills, and nothing of what is only waited for.
fn show_by_skill(steps: &mut [PlanStep], chain: &Chain) {
    let names: BTreeMap<&str, &SkillName> =
        chain.links.iter().map(|link| (link.id.as_str(), &link.skill.name)).collect();
    for link in &chain.links {
        let Some(step) = steps.iter_mut().find(|step| step.scope.is_none() && step.id == link.id) else {
            continue;
        };
        for Need { shown_as, .. } in &mut step.needs {
            let Some(shown) = shown_as.take() else { continue };
            if !link.unseen.iter().any(|id| id.as_str() == shown) {
                *shown_as = Some(names.get(shown.as_str()).map_or(shown, ToString::to_string));
            }
        }
    }
}

fn unresolved(error: &ResolveError) -> PlanProblem {
    let code = match error {
        ResolveError::Lookup(LookupError::Unknown(_) | LookupError::UnknownVersion { .. }) => {
            PlanProblemCode::UnknownSkill
        }
        ResolveError::Lookup(LookupError::Disabled(_)) => PlanProblemCode::SkillDisabled,
        ResolveError::Dependency(problem) => match **problem {
            DependencyProblem::Disabled { .. } => PlanProblemCode::SkillDisabled,
            DependencyProblem::Cycle(_) => PlanProblemCode::Cycle,
            DependencyProblem::Unknown { .. } | DependencyProblem::Version { .. } => {
                PlanProblemCode::UnresolvedChain
            }
        },
    };
    PlanProblem::new("", code, error.to_string())
}
