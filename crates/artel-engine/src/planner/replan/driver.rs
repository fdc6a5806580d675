//! Answers requests: asks the planner, has plans run, and lets `state` decide what is next. Knows nothing of how plans are
//! run.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use artel_model::id::{PlanId, StepId};
use artel_model::name::SkillName;
use artel_model::plan::{PlanDocument, PlanMetadata, PlanProblem};
use artel_model::run::ResultDocument;
use async_trait::async_trait;
use tokio::time::{Instant, timeout_at};

use super::fallback::{Exhausted, fallback, nothing_ran};
use super::state::{Last, Loop, NextAttempt, ReplanState};
use super::summary::AttemptSummary;
use crate::planner::ask::{PlanCheck, Planned, Planner, PlanningRequest};
use crate::planner::clock;
use crate::planner::error::PlanningError;
use crate::planner::offer::SkillOffer;

/// Attempts to answer one request, when nothing else is configured.
const ATTEMPTS_DEFAULT: u32 = 5;
/// Milliseconds for all attempts together, when nothing else is configured.
const DEADLINE_MS_DEFAULT: u64 = 300_000;

/// Runs plans.
#[async_trait]
pub trait PlanRunner: Send + Sync {
    /// Runs a plan to its end, which should come before `deadline`. A plan that cannot be run is no error.
    async fn run(&self, document: PlanDocument, deadline: Instant) -> RunVerdict;
}

/// What came of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum RunVerdict {
    /// It ran.
    Ran(Box<Ran>),
    /// It could not be run.
    Invalid(Vec<PlanProblem>),
}

/// A plan that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// Its result.
    pub result: ResultDocument,
    /// The skill of every tool of the plan, as it was resolved; of a composite's tool it is the composite.
    pub tools: Vec<(StepId, SkillName)>,
}

/// How often and how long an answer is looked for, and where ids come from.
#[derive(Clone)]
pub struct ReplanConfig {
    /// Attempts at most.
    pub attempts_max: u32,
    /// Milliseconds for all attempts together.
    pub deadline_ms: u64,
    /// Makes the id of a plan.
    pub new_plan_id: Arc<dyn Fn() -> PlanId + Send + Sync>,
}

/// What is to be answered.
#[derive(Clone)]
pub struct Question {
    /// What a person asked for, in words.
    pub text: String,
    /// The skills there are.
    pub offers: Arc<[SkillOffer]>,
    /// Skills that no plan may use.
    pub disabled: BTreeSet<SkillName>,
    /// Says whether a plan could be run.
    pub check: Arc<dyn PlanCheck>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What came of it.
    pub result: ResultDocument,
    /// How the loop ended.
    pub state: ReplanState,
    /// Every attempt, in order.
    pub attempts: Vec<AttemptSummary>,
}

/// Answers requests with plans.
pub struct Replanner {
    planner: Arc<dyn Planner>,
    config: ReplanConfig,
}

impl ReplanConfig {
    /// Returns the usual numbers.
    pub fn new(new_plan_id: Arc<dyn Fn() -> PlanId + Send + Sync>) -> Self {
        Self { attempts_max: ATTEMPTS_DEFAULT, deadline_ms: DEADLINE_MS_DEFAULT, new_plan_id }
    }
}

impl Replanner {
    /// Makes a loop around a planner.
    pub fn new(planner: Arc<dyn Planner>, config: ReplanConfig) -> Self {
        Self { planner, config }
    }

    /// Answers a request. Dropping the future while a plan is made stops that; a plan that runs is its runner's to stop.
    pub async fn answer(&self, question: &Question, runner: &dyn PlanRunner) -> Answer {
        let deadline = clock::from_now(self.config.deadline_ms);
        let mut state = Loop::new(self.config.attempts_max, question.disabled.clone());
        let mut last_ask: Option<(PlanId, PlanMetadata)> = None;
        while state.state == ReplanState::Pending {
            if clock::left_until(deadline).is_zero() {
                state.time_is_up();
                break;
            }
            let ask = self.request(question, state.next(), deadline);
            last_ask = Some((ask.plan_id, ask.metadata()));
            match self.plan(&ask).await {
                Err(error) => state.not_planned(ask.plan_id, &error),
                Ok(planned) => {
                    state.planned(&planned);
                    if state.state == ReplanState::Executing {
                        execute(&mut state, &planned, question, runner, deadline).await;
                    }
                }
            }
            log(&state);
        }
        self.conclude(question, state, last_ask)
    }

    fn request(&self, question: &Question, next: NextAttempt, deadline: Instant) -> PlanningRequest {
        PlanningRequest {
            text: question.text.clone(),
            offers: question.offers.clone(),
            disabled: next.disabled,
            plan_id: (self.config.new_plan_id)(),
            attempt: next.attempt,
            parent: next.parent,
            feedback: next.feedback,
            deadline,
            check: question.check.clone(),
        }
    }

    /// A planner that does not mind the deadline is stopped.
    async fn plan(&self, ask: &PlanningRequest) -> Result<Planned, PlanningError> {
        timeout_at(ask.deadline, self.planner.plan(ask)).await.unwrap_or(Err(PlanningError::Deadline))
    }

    fn conclude(&self, question: &Question, state: Loop, last_ask: Option<(PlanId, PlanMetadata)>) -> Answer {
        let disabled: Vec<SkillName> = state.disabled().iter().cloned().collect();
        let (plan_id, metadata) =
            last_ask.unwrap_or_else(|| ((self.config.new_plan_id)(), PlanMetadata::first()));
        let base = nothing_ran(plan_id, metadata, disabled);
        let Loop { state, last, attempts, .. } = state;
        let made = u32::try_from(attempts.len()).unwrap_or(u32::MAX);
        let exhausted = if made >= self.config.attempts_max.max(1) {
            Exhausted::Attempts(made)
        } else {
            Exhausted::Time(made)
        };
        let result = match (state, last) {
            (ReplanState::Success | ReplanState::Failed, Last::Ran(result)) => *result,
            (_, last) => fallback(&question.text, last, base, exhausted),
        };
        Answer { result, state, attempts }
    }
}

async fn execute(
    state: &mut Loop,
    planned: &Planned,
    question: &Question,
    runner: &dyn PlanRunner,
    deadline: Instant,
) {
    match runner.run(planned.document.clone(), deadline).await {
        RunVerdict::Ran(ran) => state.ran(planned, *ran, &question.offers),
        RunVerdict::Invalid(problems) => state.invalid(planned, problems),
    }
}

fn log(state: &Loop) {
    let Some(attempt) = state.attempts.last() else { return };
    let skills: Vec<&str> = attempt.skills.iter().map(SkillName::as_str).collect();
    tracing::info!(
        attempt = attempt.attempt,
        plan = %attempt.plan_id,
        planner = attempt.planner.map_or("none", |planner| planner.as_str()),
        skills = skills.join(","),
        outcome = ?attempt.outcome,
        state = state.state.as_str(),
        notes = attempt.notes.join("; "),
        "an attempt to answer a request is over"
    );
}

impl fmt::Debug for Replanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replanner").field("attempts_max", &self.config.attempts_max).finish_non_exhaustive()
    }
}
