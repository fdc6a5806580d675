//! What can be asked of a run, and what has to be kept of it beside its log.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::event::{Submission, SubmissionKind};
use super::execution::{ExecutionRecord, ExecutionStatus};
use super::machine::Run;
use super::step::{Halt, Settled, StepState};
use super::summary::{RunState, RunSummary};
use crate::health::RunOutcome;
use crate::id::RunId;
use crate::merge::deep_merge;
use crate::name::SkillName;
use crate::plan::{Importance, ScriptTarget, StepIndex, Work};
use crate::protocol::DependencyResult;
use crate::time::Timestamp;
use crate::version::Version;

/// What changed since it was last asked: to be kept in one write with the events that caused it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunEffects {
    /// Records that are new or changed.
    pub executions: Vec<ExecutionRecord>,
    /// How skills did.
    pub outcomes: Vec<(ScriptTarget, RunOutcome)>,
}

/// Where a step stands, for showing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepView<'a> {
    /// It has not started, or waits for its next attempt.
    Pending,
    /// Somebody must say yes first.
    AwaitingApproval,
    /// An attempt runs.
    Running {
        /// Which try.
        attempt: u32,
    },
    /// It is over.
    Settled(&'a Settled),
}

impl Run {
    /// Returns the run's id.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Returns what was asked for.
    pub fn submission(&self) -> &Submission {
        &self.submission
    }

    /// Says where a step stands.
    pub fn step(&self, step: StepIndex) -> StepView<'_> {
        match &self.steps[step].state {
            StepState::Waiting { .. } | StepState::Ready { .. } | StepState::BackingOff { .. } => {
                StepView::Pending
            }
            StepState::AwaitingApproval => StepView::AwaitingApproval,
            StepState::Running { attempt, .. } => StepView::Running { attempt: *attempt },
            StepState::Settled(settled) => StepView::Settled(settled),
        }
    }

    /// Returns the steps that somebody must say yes to, in the order of the plan.
    pub fn awaiting_approval(&self) -> impl Iterator<Item = StepIndex> {
        self.awaiting.iter().copied()
    }

    /// Returns the steps that run.
    pub fn running(&self) -> impl Iterator<Item = (StepIndex, u32)> {
        self.running.iter().filter_map(|&step| match self.steps[step].state {
            StepState::Running { attempt, .. } => Some((step, attempt)),
            StepState::Waiting { .. }
            | StepState::AwaitingApproval
            | StepState::Ready { .. }
            | StepState::BackingOff { .. }
            | StepState::Settled(_) => None,
        })
    }

    /// Returns the script that a step runs at the moment; nothing when it gathers.
    pub fn script(&self, step: StepIndex) -> Option<&ScriptTarget> {
        self.steps[step].script(&self.plan().steps()[step]).map(|(target, _)| target)
    }

    /// Returns how long an attempt at a step may take.
    pub fn timeout_ms(&self, step: StepIndex) -> u64 {
        self.steps[step].timeout_ms(&self.plan().steps()[step])
    }

    /// Says where the run stands.
    pub fn state(&self) -> RunState {
        if self.completed_at.is_some() {
            return match self.halt {
                Some(Halt::Cancelled) => RunState::Cancelled,
                Some(Halt::DeadlinePassed) => RunState::Failed,
                None if self.is_success() => RunState::Succeeded,
                None => RunState::Failed,
            };
        }
        match self.halt {
            Some(_) => RunState::Stopping,
            None if self.is_paused => RunState::Paused,
            None if self.is_parked() => RunState::AwaitingApproval,
            None => RunState::Running,
        }
    }

    /// Says whether everything that is required completed.
    pub fn is_success(&self) -> bool {
        let lacks = |(plan, step): (&crate::plan::PlanStep, &super::step::Step)| {
            plan.scope.is_none()
                && plan.importance == Importance::Required
                && !step.settled().is_some_and(Settled::is_completed)
        };
        !self.plan().steps().iter().zip(&self.steps).any(lacks)
    }

    /// Returns why the run was ended before its time.
    pub fn halted(&self) -> Option<Halt> {
        self.halt
    }

    /// Returns when the run ended.
    pub fn completed_at(&self) -> Option<Timestamp> {
        self.completed_at
    }

    /// Returns what lists show about the run.
    pub fn summary(&self) -> RunSummary {
        RunSummary {
            run_id: self.id,
            kind: self.submission.kind.clone(),
            plan_id: self.plan().id(),
            agent_id: self.submission.agent,
            owner: self.submission.viewer.as_ref().map(|viewer| viewer.user.clone()),
            state: self.state(),
            steps: self.steps.len(),
            created_at: self.created_at,
            completed_at: self.completed_at,
        }
    }

    /// Returns the state: the patches of every step that completed, in the order of the plan.
    pub fn merged_state(&self) -> Map<String, Value> {
        let mut state = self.merged.clone();
        for patch in self.patches.values().flatten() {
            // What is too deep was refused when the script said it.
            let _ = deep_merge(&mut state, patch.clone());
        }
        state
    }

    /// Returns the results of what a step waited for, as its script sees them.
    pub fn dependencies(&self, step: StepIndex) -> BTreeMap<String, Option<DependencyResult>> {
        let shown = self.plan().steps()[step].needs.iter().filter_map(|need| {
            let output = self.steps[need.step].settled().and_then(Settled::output);
            let result = output.map(|output| DependencyResult { ok: true, output: output.clone() });
            Some((need.shown_as.clone()?, result))
        });
        shown.collect()
    }

    /// Returns the outputs of a composite's steps that completed, by their names.
    pub fn gathered(&self, step: StepIndex) -> Map<String, Value> {
        let prefix = self.plan().steps()[step].id.as_str().len() + 1;
        let members = self.members.get(&step).into_iter().flatten();
        let output = |&member: &StepIndex| {
            let name = self.plan().steps()[member].id.as_str().get(prefix..)?.to_owned();
            let output = self.steps[member].settled()?.output()?;
            Some((name, Value::Object(output.clone())))
        };
        members.filter_map(output).collect()
    }

    /// Returns what changed since this was last asked.
    pub fn take_effects(&mut self, node: &str) -> RunEffects {
        let touched = std::mem::take(&mut self.touched);
        let executions = touched.iter().filter_map(|&step| self.record(step, node)).collect();
        for step in touched {
            if self.steps[step].settled().is_some() {
                self.steps[step].attempts = Vec::new();
            }
        }
        RunEffects { executions, outcomes: std::mem::take(&mut self.outcomes) }
    }

    fn record(&self, index: StepIndex, node: &str) -> Option<ExecutionRecord> {
        let (plan, step) = (&self.plan().steps()[index], &self.steps[index]);
        let (skill_name, skill_version, content_hash) = self.skill(index);
        let started_at = self.started_at(index)?;
        let completed_at = step.settled().and(step.attempts.last()?.completed_at);
        Some(ExecutionRecord {
            execution_id: step.execution?,
            run_id: self.id,
            step_id: plan.id.clone(),
            agent_id: self.submission.agent,
            skill_name: skill_name.clone(),
            skill_version: skill_version.clone(),
            content_hash: content_hash.to_owned(),
            parameters: self.input(index).unwrap_or_else(|_| plan.input.clone()),
            result: step.settled().and_then(Settled::output).cloned(),
            error: step.settled().and_then(Settled::error).cloned(),
            status: status(&step.state),
            started_at,
            completed_at,
            duration_ms: completed_at.map(|at| at.millis_since(started_at)),
            retry_count: step.attempt_count.saturating_sub(1),
            node: node.to_owned(),
            attempts: step.attempts.clone(),
        })
    }

    /// Returns the skill that a step runs.
    pub fn skill(&self, step: StepIndex) -> (&SkillName, &Version, &str) {
        if let Some(target) = self.script(step) {
            return (&target.skill, &target.version, &target.content_hash);
        }
        match &self.plan().steps()[step].work {
            Work::Script(target) => (&target.skill, &target.version, &target.content_hash),
            Work::Gather { skill, version, content_hash, .. } => (skill, version, content_hash),
        }
    }

    /// A composite begins when the first of its steps does.
    fn started_at(&self, step: StepIndex) -> Option<Timestamp> {
        let mut first = self.steps[step].first_started_at;
        let mut scopes = vec![step];
        while let Some(scope) = scopes.pop() {
            for &member in self.members.get(&scope).into_iter().flatten() {
                first = first.into_iter().chain(self.steps[member].first_started_at).min();
                scopes.push(member);
            }
        }
        first
    }

    /// Says whether the run is of one skill, and of which.
    pub fn skill_asked_for(&self) -> Option<&SkillName> {
        match &self.submission.kind {
            SubmissionKind::Plan => None,
            SubmissionKind::Skill { skill } => Some(skill),
        }
    }
}

fn status(state: &StepState) -> ExecutionStatus {
    match state {
        StepState::Waiting { .. }
        | StepState::AwaitingApproval
        | StepState::Ready { .. }
        | StepState::BackingOff { .. } => ExecutionStatus::Pending,
        StepState::Running { .. } => ExecutionStatus::Running,
        StepState::Settled(Settled::Completed { .. }) => ExecutionStatus::Success,
        StepState::Settled(Settled::Failed(_)) => ExecutionStatus::Failed,
        StepState::Settled(Settled::TimedOut(_)) => ExecutionStatus::Timeout,
        StepState::Settled(Settled::Cancelled(_) | Settled::Skipped(_)) => ExecutionStatus::Cancelled,
    }
}
