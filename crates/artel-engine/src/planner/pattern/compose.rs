//! A request becomes a plan: each clause finds what fits it best, and what comes next waits for what came before. Pure.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::id::StepId;
use artel_model::name::SkillName;
use artel_model::plan::{PlanDocument, RetryPolicy, SkillChoice, ToolInvocation};
use serde_json::{Map, Value};

use super::clause::{Clause, Joined, clauses};
use super::fill::{Said, Source, fill};
use super::narrative::{nothing_fits, told};
use super::property::properties;
use super::target::{Target, Targets};
use super::weigh::{COVERAGE_MIN, EVIDENCE_MIN, Vocabulary};
use super::words::{Word, words};
use crate::planner::ask::PlanningRequest;

/// Characters of a request that are read.
const REQUEST_CHARS_MAX: usize = 16_000;
/// What the search's opinion counts, compared to what of a clause is understood.
const SEARCH_SHARE: f32 = 0.25;

/// What fits a clause.
pub(super) struct Step<'a> {
    pub(super) target: Target<'a>,
    pub(super) input: Map<String, Value>,
    joined: Joined,
}

/// What would fit if more was said.
pub(super) struct Near<'a> {
    pub(super) target: Target<'a>,
    pub(super) missing: Vec<String>,
}

/// What became of a request.
#[derive(Default)]
pub(super) struct Composition<'a> {
    pub(super) steps: Vec<Step<'a>>,
    /// Clauses that nothing was found for.
    pub(super) unread: Vec<String>,
    pub(super) near: Option<Near<'a>>,
}

/// Makes a plan without the skills that are disabled or `avoided`; it has no tools when nothing fits.
pub(super) fn compose(ask: &PlanningRequest, avoided: &BTreeSet<SkillName>) -> PlanDocument {
    let offers: Vec<_> = ask.usable().filter(|offer| !avoided.contains(&offer.name)).collect();
    let targets = Targets::new(offers.iter().copied());
    let text: String = ask.text.chars().take(REQUEST_CHARS_MAX).collect();
    let composition = Composition::of(&text, &targets);
    let narrative = if composition.steps.is_empty() {
        nothing_fits(&text, &composition, &offers)
    } else {
        told(&composition)
    };
    PlanDocument {
        request_id: ask.plan_id,
        narrative: Some(narrative),
        tools: tools(composition.steps),
        parallel: false,
        disabled_skills: ask.disabled.iter().cloned().collect(),
        metadata: ask.metadata(),
    }
}

impl<'a> Composition<'a> {
    /// What comes after something that was not understood is left out: it may only make sense after it.
    fn of(text: &str, targets: &Targets<'a>) -> Self {
        let mut composition = Self::default();
        let mut before = Vec::new();
        let mut is_stuck = false;
        for clause in clauses(&words(text), &targets.verbs()) {
            is_stuck &= clause.joined == Joined::Next;
            let found = if is_stuck { Err(None) } else { best(&clause, targets, &before) };
            match found {
                Ok(step) => {
                    before.extend(step.said());
                    composition.steps.push(step);
                }
                Err(near) => {
                    is_stuck = true;
                    composition.unread.push(said(&clause.words));
                    composition.near = composition.near.or(near);
                }
            }
        }
        composition
    }
}

impl Step<'_> {
    /// Returns what the clause said, for what comes after it to refer to.
    fn said(&self) -> Vec<Said> {
        let properties = properties(self.target.schema.document());
        let said = properties.iter().filter_map(|property| {
            let value = self.input.get(property.name)?.clone();
            Some(Said { name: property.name.to_owned(), role: property.role, value })
        });
        said.collect()
    }
}

/// Returns what fits a clause best; else what would fit if more was said.
fn best<'a>(clause: &Clause, targets: &Targets<'a>, before: &[Said]) -> Result<Step<'a>, Option<Near<'a>>> {
    let hits = targets.find(&said(&clause.words));
    let best_score = hits.first().map_or(1.0, |(_, hit)| hit.score.max(f32::MIN_POSITIVE));
    let mut best: Option<(f32, Step<'a>)> = None;
    let mut near: Option<(f32, Near<'a>)> = None;
    for (target, hit) in &hits {
        let vocabulary = Vocabulary::new(hit);
        let is_about = |word: &Word| vocabulary.names(word);
        let source = Source { words: &clause.words, before, is_about: &is_about };
        let target = (*target).clone();
        match fill(target.schema, &source) {
            Ok(filled) => {
                let weight = vocabulary.weigh(&clause.words, &filled.taken);
                let total = weight.coverage + SEARCH_SHARE * hit.score / best_score;
                let fits = weight.coverage >= COVERAGE_MIN && weight.evidence >= EVIDENCE_MIN;
                if fits && best.as_ref().is_none_or(|(known, _)| total > *known) {
                    best = Some((total, Step { target, input: filled.input, joined: clause.joined }));
                }
            }
            Err(missing) => {
                let weight = vocabulary.weigh(&clause.words, &[]);
                let is_better = near.as_ref().is_none_or(|(known, _)| weight.coverage > *known);
                if weight.evidence >= EVIDENCE_MIN && is_better {
                    near = Some((weight.coverage, Near { target, missing: missing.0 }));
                }
            }
        }
    }
    best.map(|(_, step)| step).ok_or(near.map(|(_, near)| near))
}

fn said(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn tools(steps: Vec<Step<'_>>) -> Vec<ToolInvocation> {
    let mut used: BTreeMap<&SkillName, usize> = BTreeMap::new();
    let mut tools: Vec<ToolInvocation> = Vec::new();
    for step in steps {
        let name = &step.target.offer.name;
        let count = used.entry(name).or_default();
        *count += 1;
        let id = if *count == 1 { name.to_string() } else { format!("{name}-{count}") };
        let before = tools.last().filter(|_| step.joined == Joined::Next).map(|tool| tool.tool_id.clone());
        tools.push(ToolInvocation {
            tool_id: step_id(&id),
            tool_path: None,
            skill: Some(SkillChoice { name: name.clone(), version: None }),
            script: step.target.script.cloned(),
            input: step.input.into_iter().map(|(name, value)| (name, plain(value))).collect(),
            dependencies: before.into_iter().collect(),
            required: true,
            r#async: false,
            retry_policy: RetryPolicy::default(),
            timeout_ms: None,
        });
    }
    tools
}

fn step_id(id: &str) -> StepId {
    id.parse().expect("a skill's name and a number are a step's id")
}

/// What a person wrote is no reference, whatever it looks like.
fn plain(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("${", "$${")),
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, plain(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
