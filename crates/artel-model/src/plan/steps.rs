//! How the steps of a composite depend on each other, and what is wrong with that. Knows nothing of plans.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::composite::{Composite, ErrorPolicy, Fallback, Step, StepProblem};
use crate::name::LocalName;
use crate::reference::{Reference, references_in};

/// Returns the steps that each step of a composite waits for, without repetitions.
pub(super) fn local_needs(composite: &Composite) -> Vec<Vec<usize>> {
    let places: BTreeMap<&LocalName, usize> =
        composite.steps.iter().enumerate().map(|(place, step)| (&step.id, place)).collect();
    let needs = |(place, step): (usize, &Step)| -> Vec<usize> {
        match &step.depends_on {
            None => place.checked_sub(1).into_iter().collect(),
            Some(names) => {
                let mut seen = BTreeSet::new();
                names
                    .iter()
                    .filter_map(|name| places.get(name).copied())
                    .filter(|step| seen.insert(*step))
                    .collect()
            }
        }
    };
    composite.steps.iter().enumerate().map(needs).collect()
}

/// Returns why the steps of a composite cannot run together, in words.
pub(super) fn step_problems(composite: &Composite) -> Vec<String> {
    let between = composite.problems();
    let between = between.iter().map(|problem| step_problem(composite, problem));
    between.chain(fallback_problems(composite)).collect()
}

fn step_problem(composite: &Composite, problem: &StepProblem) -> String {
    let id = |step: usize| &composite.steps[step].id;
    match problem {
        StepProblem::DuplicateId { step } => format!("two of its steps are called `{}`", id(*step)),
        StepProblem::UnknownDependency { step, name, .. } => {
            format!("step `{}` waits for `{name}`, which is no step of it", id(*step))
        }
        StepProblem::Reference { step, message, .. } => format!("step `{}`: {message}", id(*step)),
        StepProblem::Cycle { ring, .. } => {
            let names: Vec<&str> = ring.iter().map(LocalName::as_str).collect();
            format!("its steps wait for each other: {}", names.join(" \u{2192} "))
        }
    }
}

/// What stands in for any step can only know the request: when the first step fails there is nothing else.
fn fallback_problems(composite: &Composite) -> Vec<String> {
    let ErrorPolicy::Fallback { fallback: Fallback::Skill { input, .. }, .. } = &composite.on_failure else {
        return Vec::new();
    };
    let is_step = |name: &str| composite.steps.iter().any(|step| step.id.as_str() == name);
    let (references, errors) = references_in(&Value::Object(input.clone()), &is_step);
    let steps = references.iter().filter_map(|(_, reference)| match reference {
        Reference::Step { .. } => {
            Some(format!("its fallback may only use `${{request.FIELD}}`, not `{reference}`"))
        }
        Reference::Request { .. } => None,
    });
    steps.chain(errors.iter().map(|error| format!("its fallback: {error}"))).collect()
}
