//! A plan that can run: no ring, no unknown step, every tool an exact script of an exact skill.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data_scope::SkillOrigin;
use crate::graph::{Cycle, Graph};
use crate::id::{PlanId, StepId};
use crate::name::{LocalName, SkillName};
use crate::version::Version;

/// The place of a step in its plan.
pub type StepIndex = usize;

/// A plan whose steps can be run in some order; immutable.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(into = "PlanParts", try_from = "PlanParts")]
pub struct Plan {
    parts: PlanParts,
    /// The steps, each after everything it needs, otherwise as they were written.
    order: Vec<StepIndex>,
    /// Where each step stands in the order.
    positions: Vec<usize>,
    /// Who waits for each step.
    dependents: Vec<Vec<StepIndex>>,
    by_id: HashMap<StepId, StepIndex>,
}

/// What a plan is made of; becomes a [`Plan`] when it can run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PlanParts {
    /// The plan's id.
    pub id: PlanId,
    /// What its author says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrative: Option<String>,
    /// How many steps may run at once.
    pub concurrency: Concurrency,
    /// Skills that were left out when it was made.
    #[serde(default)]
    pub disabled_skills: Vec<SkillName>,
    /// How it came to be.
    pub metadata: PlanMetadata,
    /// The steps, as they were written; the steps of a composite follow the tool they belong to.
    pub steps: Vec<PlanStep>,
}

/// How a plan came to be.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("patternProperties" = {"^\\$": true}))]
pub struct PlanMetadata {
    /// Which try at planning it is, from 1.
    #[schemars(range(min = 1))]
    pub generation_attempt: u32,
    /// The plan that failed before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<uuid::Uuid>")]
    pub parent_plan_id: Option<PlanId>,
}

/// How many steps of a plan may run at once.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Concurrency {
    /// One at a time, in order.
    Sequential,
    /// Those that allow it, up to a number of slots.
    Parallel,
}

/// One step of a plan.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PlanStep {
    /// Its id.
    pub id: StepId,
    /// What it does.
    pub work: Work,
    /// Its input, with defaults filled in; may hold references.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// What must be settled before it starts.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// What its failure means.
    pub importance: Importance,
    /// Whether others may run beside it in a parallel plan.
    pub stand: Stand,
    /// How often it is tried again.
    pub retry: RetryRule,
    /// Milliseconds one attempt may take.
    pub timeout_ms: u64,
    /// Whether a person is asked first.
    pub approval: Approval,
    /// The composite it is a step of; `${request.…}` in its input means that one's input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<StepIndex>,
    /// What runs instead when every attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<AfterFailure>,
}

/// What a step does.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Work {
    /// Runs a script.
    Script(ScriptTarget),
    /// Gathers the outputs of a composite's steps under their names.
    Gather {
        /// The composite skill.
        skill: SkillName,
        /// Its version.
        version: Version,
        /// The hash of its files.
        content_hash: String,
        /// What happens to its other steps when a required one fails.
        on_failure: ErrorRule,
    },
}

/// What happens to the other steps of a composite when a required one has failed for good.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorRule {
    /// Those that have not started are skipped.
    Abort,
    /// Those that do not depend on it go on, and what was reached is the result.
    Partial,
}

/// An exact script of an exact skill.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ScriptTarget {
    /// The skill.
    pub skill: SkillName,
    /// Its version.
    pub version: Version,
    /// The hash of its files when the plan was made.
    pub content_hash: String,
    /// The script.
    pub script: LocalName,
    /// The tool's path as documents show it.
    pub tool_path: String,
    /// Whether an interrupted attempt may simply be repeated.
    pub idempotent: bool,
    /// Whether it is what the skill runs by itself, so that the skill's name means it too.
    #[serde(default)]
    pub is_entrypoint: bool,
    /// Which skill of which source it is; nothing in plans that were made before sources were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<SkillOrigin>,
}

/// Something a step waits for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Need {
    /// The step.
    pub step: StepIndex,
    /// The name under which the script sees its result; nothing when it only waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_as: Option<String>,
}

/// What a step's failure means for the rest.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Importance {
    /// Those that wait for it are skipped, and the whole fails.
    Required,
    /// Those that wait for it go on with `null`.
    Optional,
}

/// Whether others may run beside a step.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stand {
    /// It runs alone.
    Alone,
    /// Others that allow it may run beside it.
    Beside,
}

/// How often a step is tried again, and after how long.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RetryRule {
    /// Retries after the first try.
    pub max_retries: u32,
    /// Milliseconds before the first retry; each further one waits twice as long.
    pub backoff_ms: u64,
}

/// Whether a person is asked before a step starts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Nobody is asked.
    None,
    /// Somebody must say yes.
    Required,
}

/// What runs instead of a step that failed for good.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct AfterFailure {
    /// The script.
    pub target: ScriptTarget,
    /// Its input; may hold references.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// Milliseconds its attempt may take.
    pub timeout_ms: u64,
}

/// Why parts are not a plan.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PlanPartsError {
    /// A step needs, or belongs to, a step that does not exist.
    #[error("step {0} refers to a step that does not exist")]
    UnknownStep(StepIndex),
    /// Two steps with one id.
    #[error("two steps are called `{0}`")]
    DuplicateId(StepId),
    /// Steps that wait for each other.
    #[error("steps wait for each other: {0:?}")]
    Ring(Vec<StepIndex>),
}

impl Plan {
    /// Makes a plan, if its steps can be run in some order.
    pub fn assemble(parts: PlanParts) -> Result<Self, PlanPartsError> {
        let count = parts.steps.len();
        let mut by_id = HashMap::with_capacity(count);
        let mut dependents = vec![Vec::new(); count];
        let mut graph = Graph::new(count);
        for (index, step) in parts.steps.iter().enumerate() {
            if by_id.insert(step.id.clone(), index).is_some() {
                return Err(PlanPartsError::DuplicateId(step.id.clone()));
            }
            for other in step.needs.iter().map(|need| need.step).chain(step.scope) {
                if other >= count {
                    return Err(PlanPartsError::UnknownStep(index));
                }
            }
            for need in &step.needs {
                dependents[need.step].push(index);
                graph.add(index, need.step);
            }
        }
        if let Some(Cycle(ring)) = graph.cycles().into_iter().next() {
            return Err(PlanPartsError::Ring(ring));
        }
        let order = order(&parts.steps, &dependents);
        let mut positions = vec![0; count];
        for (position, &index) in order.iter().enumerate() {
            positions[index] = position;
        }
        Ok(Self { parts, order, positions, dependents, by_id })
    }

    /// Returns the plan's id.
    pub fn id(&self) -> PlanId {
        self.parts.id
    }

    /// Returns everything the plan is made of.
    pub fn parts(&self) -> &PlanParts {
        &self.parts
    }

    /// Returns the steps, as they were written.
    pub fn steps(&self) -> &[PlanStep] {
        &self.parts.steps
    }

    /// Returns the places of the steps in an order in which they can run; what was written first comes first.
    pub fn order(&self) -> &[StepIndex] {
        &self.order
    }

    /// Returns where a step stands in the order.
    pub fn position(&self, step: StepIndex) -> usize {
        self.positions[step]
    }

    /// Returns the steps that wait for this one.
    pub fn dependents(&self, step: StepIndex) -> &[StepIndex] {
        &self.dependents[step]
    }

    /// Returns the place of the step with that id.
    pub fn index_of(&self, id: &StepId) -> Option<StepIndex> {
        self.by_id.get(id).copied()
    }
}

impl From<Plan> for PlanParts {
    fn from(plan: Plan) -> Self {
        plan.parts
    }
}

impl TryFrom<PlanParts> for Plan {
    type Error = PlanPartsError;

    fn try_from(parts: PlanParts) -> Result<Self, PlanPartsError> {
        Self::assemble(parts)
    }
}

/// Kahn's algorithm; among those that could come next, the one written first does.
fn order(steps: &[PlanStep], dependents: &[Vec<StepIndex>]) -> Vec<StepIndex> {
    let mut waits_for: Vec<usize> = steps.iter().map(|step| step.needs.len()).collect();
    let mut next: BinaryHeap<Reverse<StepIndex>> =
        (0..steps.len()).filter(|&step| waits_for[step] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some(Reverse(step)) = next.pop() {
        order.push(step);
        for &dependent in &dependents[step] {
            waits_for[dependent] -= 1;
            if waits_for[dependent] == 0 {
                next.push(Reverse(dependent));
            }
        }
    }
    order
}
