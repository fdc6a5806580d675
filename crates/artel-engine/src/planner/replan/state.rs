//! The decisions of the replan loop. Pure: attempts in, what is next out.

use std::collections::BTreeSet;
use std::fmt;

use artel_model::id::{PlanId, StepId};
use artel_model::name::SkillName;
use artel_model::plan::{FailureReason, PlanProblem, failure_reason};
use artel_model::run::ResultDocument;
use serde::Serialize;

use super::driver::Ran;
use super::summary::{AttemptOutcome, AttemptSummary};
use crate::error_text::error_text;
use crate::planner::ask::{Planned, PlannedBy};
use crate::planner::error::{PlanningError, told};
use crate::planner::offer::SkillOffer;

/// Where the loop stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplanState {
    /// A plan is to be made.
    Pending,
    /// A plan runs.
    Executing,
    /// A plan succeeded.
    Success,
    /// A plan failed, and another one would not help.
    Failed,
    /// All attempts, or all the time, are used up.
    Exhausted,
}

/// What is to be planned next.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NextAttempt {
    pub(super) attempt: u32,
    pub(super) parent: Option<PlanId>,
    pub(super) disabled: BTreeSet<SkillName>,
    pub(super) feedback: Vec<String>,
}

/// What the last attempt gave; what ran is kept over what did not.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Last {
    /// There was none.
    Nothing,
    /// A plan ran.
    Ran(Box<ResultDocument>),
    /// A plan could not be run.
    Invalid(Vec<PlanProblem>),
    /// There was no plan.
    NotPlanned(String),
}

/// The loop's memory.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) state: ReplanState,
    attempts_max: u32,
    attempt: u32,
    disabled: BTreeSet<SkillName>,
    parent: Option<PlanId>,
    feedback: Vec<String>,
    pub(super) last: Last,
    pub(super) attempts: Vec<AttemptSummary>,
}

impl Loop {
    pub(super) fn new(attempts_max: u32, disabled: BTreeSet<SkillName>) -> Self {
        Self {
            state: ReplanState::Pending,
            attempts_max: attempts_max.max(1),
            attempt: 1,
            disabled,
            parent: None,
            feedback: Vec::new(),
            last: Last::Nothing,
            attempts: Vec::new(),
        }
    }

    pub(super) fn next(&self) -> NextAttempt {
        NextAttempt {
            attempt: self.attempt,
            parent: self.parent,
            disabled: self.disabled.clone(),
            feedback: self.feedback.clone(),
        }
    }

    pub(super) fn disabled(&self) -> &BTreeSet<SkillName> {
        &self.disabled
    }

    /// A plan was made. It runs, unless it says that nothing fits once what failed is left out: the failure before is
    /// the answer then, and no plan without tools makes a success of it.
    pub(super) fn planned(&mut self, planned: &Planned) {
        let has_nothing = planned.document.tools.is_empty() && planned.by == PlannedBy::Pattern;
        match &mut self.last {
            Last::Ran(result) if has_nothing => {
                result.can_replan = false;
                let plan_id = planned.document.request_id;
                self.note(plan_id, Some(planned), AttemptOutcome::NothingLeft, Vec::new());
                self.state = ReplanState::Failed;
            }
            Last::Ran(_) | Last::Nothing | Last::Invalid(_) | Last::NotPlanned(_) => {
                self.state = ReplanState::Executing;
            }
        }
    }

    /// There is no plan, which uses up the attempt.
    pub(super) fn not_planned(&mut self, plan_id: PlanId, error: &PlanningError) {
        self.feedback = error.feedback();
        self.note(plan_id, None, AttemptOutcome::NotPlanned, vec![error_text(error)]);
        if !matches!(self.last, Last::Ran(_)) {
            self.last = Last::NotPlanned(error.to_string());
        }
        self.go_on();
    }

    /// The plan cannot be run, which is nobody's fault but the planner's.
    pub(super) fn invalid(&mut self, planned: &Planned, problems: Vec<PlanProblem>) {
        let reason = failure_reason(&problems);
        self.feedback = told(&problems);
        self.note(
            planned.document.request_id,
            Some(planned),
            AttemptOutcome::Invalid(reason),
            told(&problems),
        );
        self.parent = Some(planned.document.request_id);
        if !matches!(self.last, Last::Ran(_)) {
            self.last = Last::Invalid(problems);
        }
        self.go_on();
    }

    /// The plan ran.
    pub(super) fn ran(&mut self, planned: &Planned, ran: Ran, offers: &[SkillOffer]) {
        let Ran { mut result, tools } = ran;
        let plan_id = planned.document.request_id;
        if result.success {
            self.note_ran(planned, AttemptOutcome::Success, &tools, &result, Vec::new());
            self.last = Last::Ran(Box::new(result));
            self.state = ReplanState::Success;
            return;
        }
        let failed: BTreeSet<SkillName> = tools
            .iter()
            .filter(|(tool, _)| result.failed_tools.contains(tool))
            .map(|(_, skill)| skill.clone())
            .collect();
        let reason = result.failure_reason.unwrap_or(FailureReason::ToolFailure);
        let would_be_left = offers.iter().any(|offer| {
            offer.is_runnable() && !self.disabled.contains(&offer.name) && !failed.contains(&offer.name)
        });
        result.can_replan &= would_be_left && reason != FailureReason::Cancelled;
        let disabled = if result.can_replan { failed.into_iter().collect() } else { Vec::new() };
        self.note_ran(planned, AttemptOutcome::Failed(reason), &tools, &result, disabled.clone());
        self.feedback = failures(&result, &tools, reason);
        self.disabled.extend(disabled);
        self.parent = Some(plan_id);
        let can_replan = result.can_replan;
        self.last = Last::Ran(Box::new(result));
        if can_replan { self.go_on() } else { self.state = ReplanState::Failed }
    }

    /// The time for all attempts is over.
    pub(super) fn time_is_up(&mut self) {
        self.state = ReplanState::Exhausted;
    }

    fn go_on(&mut self) {
        if self.attempt < self.attempts_max {
            self.attempt += 1;
            self.state = ReplanState::Pending;
        } else {
            self.state = ReplanState::Exhausted;
        }
    }

    fn note(
        &mut self,
        plan_id: PlanId,
        planned: Option<&Planned>,
        outcome: AttemptOutcome,
        why: Vec<String>,
    ) {
        let tools = planned.map(|planned| planned.document.tools.as_slice()).unwrap_or_default();
        let named = tools.iter().filter_map(|tool| Some(tool.skill.as_ref()?.name.clone()));
        let skills: BTreeSet<SkillName> = named.collect();
        let notes = planned.map(|planned| planned.notes.clone()).unwrap_or_default();
        self.attempts.push(AttemptSummary {
            attempt: self.attempt,
            plan_id,
            parent: self.parent,
            planner: planned.map(|planned| planned.by),
            skills: skills.into_iter().collect(),
            outcome,
            failed_tools: Vec::new(),
            disabled: Vec::new(),
            notes: notes.into_iter().chain(why).collect(),
        });
    }

    /// What ran is known better than what was planned: a path in a plan leads to a skill.
    fn note_ran(
        &mut self,
        planned: &Planned,
        outcome: AttemptOutcome,
        tools: &[(StepId, SkillName)],
        result: &ResultDocument,
        disabled: Vec<SkillName>,
    ) {
        self.note(planned.document.request_id, Some(planned), outcome, Vec::new());
        if let Some(summary) = self.attempts.last_mut() {
            let skills: BTreeSet<&SkillName> = tools.iter().map(|(_, skill)| skill).collect();
            summary.skills = skills.into_iter().cloned().collect();
            summary.failed_tools.clone_from(&result.failed_tools);
            summary.disabled = disabled;
        }
    }
}

/// Returns what the next attempt should know about the tools that failed.
fn failures(result: &ResultDocument, tools: &[(StepId, SkillName)], reason: FailureReason) -> Vec<String> {
    if result.failed_tools.is_empty() {
        return vec![said(reason).to_owned()];
    }
    let failed = result.execution_trace.iter().filter(|entry| result.failed_tools.contains(&entry.tool_id));
    let line = |entry: &artel_model::run::TraceEntry| {
        let skill = tools.iter().find(|(tool, _)| *tool == entry.tool_id).map(|(_, skill)| skill.as_str());
        let why = entry.error.as_ref().map_or("it failed", |error| error.message.as_str());
        format!("tool `{}` (skill `{}`): {why}", entry.tool_id, skill.unwrap_or_default())
    };
    failed.map(line).collect()
}

fn said(reason: FailureReason) -> &'static str {
    match reason {
        FailureReason::CircularDependency => "tools of the plan wait for each other",
        FailureReason::ToolFailure => "the plan failed, and no tool is to blame",
        FailureReason::Timeout => "the plan took longer than it may",
        FailureReason::ProtocolViolation => "a tool did not speak the tool protocol",
        FailureReason::InvalidPlan => "the plan cannot be run",
        FailureReason::Cancelled => "somebody ended the plan",
    }
}

impl ReplanState {
    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Executing => "executing",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Exhausted => "exhausted",
        }
    }
}

impl fmt::Display for ReplanState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
