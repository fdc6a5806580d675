//! Tools become steps: a script one step, a composite one that gathers and one for each of its steps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::check_input::{Known, check_input, fill_defaults, known_at};
use super::json::json_bytes;
use super::lookup::{SkillLookup, SkillView};
use super::problem::{PlanProblem, PlanProblemCode, Problems};
use super::resolved::{
    AfterFailure, Approval, ErrorRule, Importance, Need, PlanStep, RetryRule, Stand, StepIndex, Work,
};
use super::steps::{local_needs, step_problems};
use super::target::{Choice, Found, FoundScript, find, similar};
use crate::composite::{Composite, ErrorPolicy, Fallback, Step};
use crate::id::StepId;
use crate::limit::{COMPOSITE_DEPTH_MAX, PLAN_INPUTS_BYTES_MAX, PLAN_NEEDS_MAX, PLAN_TOOLS_MAX};
use crate::name::{LocalName, SkillName};
use crate::reference::{Reference, references_in};
use crate::schema::Schema;
use crate::skill::SkillPin;

/// Something to run, before it is known what that is.
pub(super) struct Wanted<'w> {
    pub(super) id: StepId,
    pub(super) choice: Choice<'w>,
    pub(super) place: Place,
    pub(super) input: Map<String, Value>,
    pub(super) importance: Importance,
    pub(super) stand: Stand,
    pub(super) retry: RetryWish,
    pub(super) timeout_ms: Option<u64>,
    pub(super) approval: Approval,
    pub(super) scope: Option<StepIndex>,
    pub(super) fallback: Option<AfterFailure>,
}

/// How often to try again.
#[derive(Clone, Copy)]
pub(super) enum RetryWish {
    /// Exactly so.
    Rule(RetryRule),
    /// So often, and as patiently as the skill says.
    Times(u32),
    /// As the skill says.
    AsTheSkill,
}

/// Where problems are reported.
#[derive(Clone)]
pub(super) struct Place {
    /// JSON Pointer to what the document's author wrote.
    pub(super) path: String,
    /// JSON Pointer to its input.
    pub(super) input_path: String,
    /// The steps of composites that lead from there to here; empty when this is what was written.
    pub(super) within: String,
}

/// The steps that something to run has become.
pub(super) struct Added {
    /// The one that others wait for.
    pub(super) head: StepIndex,
    /// Those that wait for whatever it needs.
    pub(super) waiting: Vec<StepIndex>,
}

pub(super) struct Builder<'a> {
    pub(super) problems: Problems,
    pub(super) steps: Vec<PlanStep>,
    skills: &'a dyn SkillLookup,
    disabled: BTreeSet<SkillName>,
    /// Whether the steps of a composite fit together, once that is known.
    is_sound: BTreeMap<SkillPin, bool>,
    wanted: usize,
    needs: usize,
    input_bytes: usize,
    is_full: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(skills: &'a dyn SkillLookup, disabled: &[SkillName], problems: Problems) -> Self {
        Self {
            problems,
            steps: Vec::new(),
            skills,
            disabled: disabled.iter().cloned().collect(),
            is_sound: BTreeMap::new(),
            wanted: 0,
            needs: 0,
            input_bytes: 0,
            is_full: false,
        }
    }

    /// Adds a tool with all its steps; nothing when that is not possible, which is a problem then.
    pub(super) fn add(&mut self, wanted: Wanted<'_>) -> Option<Added> {
        self.add_inside(wanted, &mut Vec::new())
    }

    /// Makes what was added wait. Only its head sees the results.
    pub(super) fn wait(&mut self, added: &Added, needs: &[Need]) {
        self.needs = self.needs.saturating_add(needs.len().saturating_mul(added.waiting.len()));
        if self.needs > PLAN_NEEDS_MAX {
            let message = format!("the plan has more than {PLAN_NEEDS_MAX} dependencies");
            return self.refuse(PlanProblemCode::TooManyDependencies, message);
        }
        for &step in &added.waiting {
            let is_head = step == added.head;
            let seen =
                |need: &Need| Need { step: need.step, shown_as: need.shown_as.clone().filter(|_| is_head) };
            self.steps[step].needs.extend(needs.iter().map(seen));
        }
    }

    /// `trail` are the composites that this is inside of.
    fn add_inside(&mut self, wanted: Wanted<'_>, trail: &mut Vec<SkillPin>) -> Option<Added> {
        self.wanted += 1;
        if self.is_full {
            return None;
        }
        if self.wanted > PLAN_TOOLS_MAX {
            let message =
                format!("the plan has more than {PLAN_TOOLS_MAX} steps, those of composites included");
            self.refuse(PlanProblemCode::TooManyTools, message);
            return None;
        }
        match find(wanted.choice, self.skills, &self.disabled) {
            Ok(Found::Script(found)) => self.add_script(wanted, &found),
            Ok(Found::Composite(view, composite)) => self.add_composite(wanted, view, composite, trail),
            Err(problem) => {
                self.report_target(&wanted.place, wanted.choice, problem);
                None
            }
        }
    }

    fn add_script(&mut self, wanted: Wanted<'_>, found: &FoundScript<'_>) -> Option<Added> {
        let attempts = found.view.skill.attempts;
        let own = RetryRule { max_retries: attempts.max_retries, backoff_ms: u64::from(attempts.backoff_ms) };
        let retry = match wanted.retry {
            RetryWish::Rule(rule) => rule,
            RetryWish::Times(max_retries) => RetryRule { max_retries, ..own },
            RetryWish::AsTheSkill => own,
        };
        let step = PlanStep {
            id: wanted.id,
            work: Work::Script(found.target()),
            input: self.input(wanted.input, schema_of(found), wanted.scope, &wanted.place),
            needs: Vec::new(),
            importance: wanted.importance,
            stand: wanted.stand,
            retry,
            timeout_ms: wanted.timeout_ms.unwrap_or_else(|| found.timeout_ms()),
            approval: wanted.approval,
            scope: wanted.scope,
            fallback: wanted.fallback,
        };
        let head = self.push(step);
        Some(Added { head, waiting: vec![head] })
    }

    fn add_composite(
        &mut self,
        mut wanted: Wanted<'_>,
        view: SkillView<'_>,
        composite: &Composite,
        trail: &mut Vec<SkillPin>,
    ) -> Option<Added> {
        let pin = view.skill.pin();
        if !self.may_enter(&wanted.place, &pin, trail) || !self.is_sound(&wanted.place, &pin, composite) {
            return None;
        }
        let on_failure = match &composite.on_failure {
            ErrorPolicy::Fallback { fallback: Fallback::Partial, .. } => ErrorRule::Partial,
            ErrorPolicy::Abort
            | ErrorPolicy::Retry { .. }
            | ErrorPolicy::Fallback { fallback: Fallback::Skill { .. }, .. } => ErrorRule::Abort,
        };
        let written = std::mem::take(&mut wanted.input);
        let input = self.input(written, &view.skill.interface.parameters, wanted.scope, &wanted.place);
        let inside = Inside { wanted: &wanted, skill: &pin.name };
        let gather = self.push(PlanStep {
            id: wanted.id.clone(),
            work: Work::Gather {
                skill: pin.name.clone(),
                version: pin.version.clone(),
                content_hash: view.content_hash.to_owned(),
                on_failure,
            },
            input,
            needs: Vec::new(),
            importance: wanted.importance,
            stand: wanted.stand,
            retry: RetryRule { max_retries: 0, backoff_ms: 0 },
            timeout_ms: 1000 * u64::from(view.skill.attempts.timeout_s),
            approval: Approval::None,
            scope: wanted.scope,
            fallback: wanted.fallback.clone(),
        });
        trail.push(pin.clone());
        let added = self.add_steps(&inside, composite, gather, trail);
        trail.pop();
        added
    }

    fn add_steps(
        &mut self,
        inside: &Inside<'_>,
        composite: &Composite,
        gather: StepIndex,
        trail: &mut Vec<SkillPin>,
    ) -> Option<Added> {
        let fallback = self.fallback(inside, composite, gather);
        let needs = local_needs(composite);
        let mut members = Vec::with_capacity(composite.steps.len());
        for (step, needs) in composite.steps.iter().zip(&needs) {
            members.push(self.add_step(inside, composite, step, (gather, needs), fallback.as_ref(), trail));
        }
        let members: Vec<Added> = members.into_iter().collect::<Option<_>>()?;
        let named = |step: usize| Need {
            step: members[step].head,
            shown_as: Some(composite.steps[step].id.to_string()),
        };
        let mut waiting = vec![gather];
        for (member, needs) in members.iter().zip(&needs) {
            if needs.is_empty() {
                waiting.extend(&member.waiting);
            } else {
                self.wait(member, &needs.iter().map(|&step| named(step)).collect::<Vec<_>>());
            }
        }
        let all: Vec<Need> = (0..members.len()).map(named).collect();
        self.wait(&Added { head: gather, waiting: vec![gather] }, &all);
        Some(Added { head: gather, waiting })
    }

    fn add_step(
        &mut self,
        inside: &Inside<'_>,
        composite: &Composite,
        step: &Step,
        (gather, needs): (StepIndex, &[usize]),
        fallback: Option<&AfterFailure>,
        trail: &mut Vec<SkillPin>,
    ) -> Option<Added> {
        let place = inside.place(&step.id);
        let wanted = inside.wanted;
        let id = match wanted.id.child(step.id.as_str()) {
            Ok(id) => id,
            Err(error) => {
                let message = format!("the id `{}/{}` cannot be used: {error}", wanted.id, step.id);
                self.report(&place, PlanProblem::new("", PlanProblemCode::InvalidComposite, message));
                return None;
            }
        };
        self.check_request(&place, gather, &step.input);
        let is_root = needs.is_empty();
        let asked = step.approval || (is_root && wanted.approval == Approval::Required);
        let retry = match &composite.on_failure {
            ErrorPolicy::Abort => RetryWish::AsTheSkill,
            ErrorPolicy::Retry { max_retries } | ErrorPolicy::Fallback { max_retries, .. } => {
                RetryWish::Times(*max_retries)
            }
        };
        let member = Wanted {
            id,
            choice: Choice::Skill { name: &step.skill, version: None, script: step.script.as_ref() },
            place,
            input: step.input.clone(),
            importance: if step.required { Importance::Required } else { Importance::Optional },
            stand: if step.depends_on.is_some() { Stand::Beside } else { wanted.stand },
            retry,
            timeout_ms: wanted.timeout_ms,
            approval: if asked { Approval::Required } else { Approval::None },
            scope: Some(gather),
            fallback: fallback.cloned(),
        };
        self.add_inside(member, trail)
    }

    /// Returns what stands in for a failed step of a composite.
    fn fallback(
        &mut self,
        inside: &Inside<'_>,
        composite: &Composite,
        gather: StepIndex,
    ) -> Option<AfterFailure> {
        let ErrorPolicy::Fallback { fallback: Fallback::Skill { skill, script, input }, .. } =
            &composite.on_failure
        else {
            return None;
        };
        let mut place = inside.wanted.place.clone();
        place.within.push_str(&format!("the fallback of `{}`: ", inside.skill));
        self.check_request(&place, gather, input);
        let choice = Choice::Skill { name: skill, version: None, script: script.as_ref() };
        match find(choice, self.skills, &self.disabled) {
            Ok(Found::Script(found)) => {
                let input = self.input(input.clone(), schema_of(&found), Some(gather), &place);
                // Every step gets a copy of it.
                self.has_room(&input, composite.steps.len()).then(|| AfterFailure {
                    target: found.target(),
                    input,
                    timeout_ms: inside.wanted.timeout_ms.unwrap_or_else(|| found.timeout_ms()),
                })
            }
            Ok(Found::Composite(..)) => {
                let message = format!("`{skill}` is itself made of steps, which a fallback cannot be");
                let problem = PlanProblem::new("", PlanProblemCode::FallbackIsComposite, message);
                self.report(&place, problem.hint("name a skill with a script, or one of its scripts"));
                None
            }
            Err(problem) => {
                self.report_target(&place, choice, problem);
                None
            }
        }
    }

    fn may_enter(&mut self, place: &Place, pin: &SkillPin, trail: &[SkillPin]) -> bool {
        if let Some(start) = trail.iter().position(|outer| outer.name == pin.name) {
            let ring = trail[start..].iter().chain([pin]).map(|pin| pin.name.as_str()).collect::<Vec<_>>();
            let message = format!("a composite is one of its own steps: {}", ring.join(" \u{2192} "));
            self.report(place, PlanProblem::new("/skill", PlanProblemCode::CompositeInItself, message));
            return false;
        }
        if trail.len() >= COMPOSITE_DEPTH_MAX {
            let message = format!("more than {COMPOSITE_DEPTH_MAX} composites are inside each other");
            self.report(place, PlanProblem::new("/skill", PlanProblemCode::CompositeTooDeep, message));
            return false;
        }
        true
    }

    fn is_sound(&mut self, place: &Place, pin: &SkillPin, composite: &Composite) -> bool {
        if let Some(&is_sound) = self.is_sound.get(pin)
            && is_sound
        {
            return true;
        }
        let problems = step_problems(composite);
        self.is_sound.insert(pin.clone(), problems.is_empty());
        for message in &problems {
            let message = format!("`{pin}` cannot run: {message}");
            self.report(place, PlanProblem::new("/skill", PlanProblemCode::InvalidComposite, message));
        }
        problems.is_empty()
    }

    /// Reports references to fields that the request of a composite does not have.
    fn check_request(&mut self, place: &Place, gather: StepIndex, input: &Map<String, Value>) {
        let (references, _) = references_in(&Value::Object(input.clone()), &|name| name == "request");
        for (_, reference) in references {
            let Reference::Request { path } = &reference else { continue };
            if let Known::Missing = known_at(&self.steps[gather].input, path) {
                let message = format!("`{reference}` is not among the parameters that were given");
                self.report(place, PlanProblem::new("/input", PlanProblemCode::InvalidReference, message));
            }
        }
    }

    /// Fills in defaults and reports what does not fit.
    fn input(
        &mut self,
        mut input: Map<String, Value>,
        schema: &Schema,
        scope: Option<StepIndex>,
        place: &Place,
    ) -> Map<String, Value> {
        fill_defaults(schema, &mut input);
        if !self.has_room(&input, 1) {
            return Map::new();
        }
        let request = scope.map(|scope| &self.steps[scope].input);
        let input = Value::Object(input);
        for (pointer, message) in check_input(schema, &input, request) {
            let problem = if place.within.is_empty() {
                let path = format!("{}{pointer}", place.input_path);
                PlanProblem::new(path, PlanProblemCode::InvalidInput, message)
            } else {
                let at = if pointer.is_empty() { String::new() } else { format!("`{pointer}`: ") };
                let message = format!("{}{at}{message}", place.within);
                PlanProblem::new(place.path.clone(), PlanProblemCode::InvalidInput, message)
            };
            self.problems.push(problem);
        }
        let Value::Object(input) = input else { return Map::new() };
        input
    }

    /// Counts an input so many times towards the bytes that a plan may have.
    fn has_room(&mut self, input: &Map<String, Value>, times: usize) -> bool {
        let left = PLAN_INPUTS_BYTES_MAX - self.input_bytes;
        let bytes =
            json_bytes(input, left).map(|bytes| bytes.saturating_mul(times)).filter(|bytes| *bytes <= left);
        match bytes {
            Some(bytes) => self.input_bytes += bytes,
            None => {
                let message = format!("the inputs of all steps have more than {PLAN_INPUTS_BYTES_MAX} bytes");
                self.refuse(PlanProblemCode::PlanTooLarge, message);
            }
        }
        bytes.is_some()
    }

    fn push(&mut self, step: PlanStep) -> StepIndex {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Reports a problem whose path is a field of what stands at `place`.
    fn report(&mut self, place: &Place, problem: PlanProblem) {
        self.problems.push(if place.within.is_empty() {
            PlanProblem { path: format!("{}{}", place.path, problem.path), ..problem }
        } else {
            let message = format!("{}{}", place.within, problem.message);
            PlanProblem { path: place.path.clone(), message, ..problem }
        });
    }

    /// Reports that what should run cannot. Looking for what was meant takes a while, so only the first are looked for.
    fn report_target(&mut self, place: &Place, choice: Choice<'_>, mut problem: PlanProblem) {
        let is_unknown = problem.code == PlanProblemCode::UnknownSkill && problem.hint.is_none();
        if is_unknown && self.problems.wants_hints() {
            problem.hint = similar(choice, self.skills);
        }
        self.report(place, problem);
    }

    /// Reports that the whole is too much, once, and adds nothing more.
    fn refuse(&mut self, code: PlanProblemCode, message: String) {
        if !std::mem::replace(&mut self.is_full, true) {
            self.problems.push(PlanProblem::new("", code, message));
        }
    }
}

/// A composite whose steps are being added.
struct Inside<'w> {
    wanted: &'w Wanted<'w>,
    skill: &'w SkillName,
}

impl Inside<'_> {
    fn place(&self, step: &LocalName) -> Place {
        let mut place = self.wanted.place.clone();
        place.within.push_str(&format!("step `{step}` of `{}`: ", self.skill));
        place
    }
}

fn schema_of<'a>(found: &FoundScript<'a>) -> &'a Schema {
    found.script.parameters_schema.as_ref().unwrap_or(&found.view.skill.interface.parameters)
}
