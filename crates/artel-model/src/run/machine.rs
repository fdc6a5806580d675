//! The state machine: an event in, actions out. Reads no clock; the time is part of the event, so replay is exact.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::event::{Interruption, RunEvent, StampedEvent, Submission};
use super::execution::AttemptRecord;
use super::report::{AttemptOutcome, AttemptReport, ErrorKind, Fault, Retry, StepError};
use super::step::{Halt, Settled, Step, StepState, StopCause, Target};
use crate::health::RunOutcome;
use crate::id::{ExecutionId, RunId};
use crate::limit::{ATTEMPTS_MAX, BACKOFF_MS_MAX};
use crate::plan::{Approval, Concurrency, Plan, ScriptTarget, Stand, StepIndex};
use crate::time::Timestamp;

/// What has to be done after an event. Doing it twice does no harm: it is fenced by the attempt's number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// Start the process of an attempt.
    Launch {
        /// The step.
        step: StepIndex,
        /// Which try.
        attempt: u32,
    },
    /// Tell the processes of an attempt something.
    Signal {
        /// The step.
        step: StepIndex,
        /// Which try.
        attempt: u32,
        /// What.
        signal: StepSignal,
    },
    /// The run is over.
    Finish,
}

/// What the processes of an attempt can be told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StepSignal {
    /// To end, because the run ends: politely, and after a grace for certain.
    Terminate,
    /// To end, because the attempt's time is up.
    TimeOut,
    /// To stand still.
    Stop,
    /// To go on.
    Continue,
}

/// A run: its plan, and where every step of it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub(super) id: RunId,
    pub(super) submission: Submission,
    pub(super) steps: Vec<Step>,
    /// The steps of each composite, by its place.
    pub(super) members: BTreeMap<StepIndex, Vec<StepIndex>>,
    /// Steps that wait for their turn and may run beside others, by their place in the order.
    pub(super) ready_beside: BTreeSet<usize>,
    /// Those that must run alone.
    pub(super) ready_alone: BTreeSet<usize>,
    pub(super) running: BTreeSet<StepIndex>,
    pub(super) awaiting: BTreeSet<StepIndex>,
    /// When attempts are out of time, and when the next ones are due.
    pub(super) timers: BTreeSet<(Timestamp, StepIndex)>,
    pub(super) unsettled: usize,
    /// The first place in the order that is not settled.
    pub(super) cursor: usize,
    pub(super) deadline: Timestamp,
    pub(super) halt: Option<Halt>,
    pub(super) is_paused: bool,
    /// Since when the run's clock stands still: while it is paused, or only somebody's yes is missing.
    pub(super) still_since: Option<Timestamp>,
    /// When the driver was last seen at work; the time after that does not count if it turns out to be dead.
    pub(super) seen_at: Timestamp,
    pub(super) created_at: Timestamp,
    pub(super) completed_at: Option<Timestamp>,
    /// Patches of everything before the cursor in the order, merged.
    pub(super) merged: Map<String, Value>,
    /// Patches of steps that completed before an earlier one, by their place in the order.
    pub(super) patches: BTreeMap<usize, Vec<Map<String, Value>>>,
    /// Steps whose record changed since it was last taken.
    pub(super) touched: BTreeSet<StepIndex>,
    /// How skills did since it was last taken.
    pub(super) outcomes: Vec<(ScriptTarget, RunOutcome)>,
}

impl Run {
    /// Begins a run.
    pub fn begin(id: RunId, submission: Submission, at: Timestamp) -> (Self, Vec<Action>) {
        let mut members: BTreeMap<StepIndex, Vec<StepIndex>> = BTreeMap::new();
        for (index, step) in submission.plan.steps().iter().enumerate() {
            if let Some(scope) = step.scope {
                members.entry(scope).or_default().push(index);
            }
        }
        let steps: Vec<Step> =
            submission.plan.steps().iter().map(|step| Step::waiting(step.needs.len())).collect();
        let mut run = Self {
            id,
            unsettled: steps.len(),
            steps,
            members,
            ready_beside: BTreeSet::new(),
            ready_alone: BTreeSet::new(),
            running: BTreeSet::new(),
            awaiting: BTreeSet::new(),
            timers: BTreeSet::new(),
            cursor: 0,
            deadline: at + submission.deadlines.run_ms,
            halt: None,
            is_paused: false,
            still_since: None,
            seen_at: at,
            created_at: at,
            completed_at: None,
            merged: submission.state.clone(),
            patches: BTreeMap::new(),
            touched: BTreeSet::new(),
            outcomes: Vec::new(),
            submission,
        };
        for step in 0..run.steps.len() {
            run.ready_if_nothing_is_missing(step);
        }
        let mut actions = Vec::new();
        run.conclude(at, &mut actions);
        (run, actions)
    }

    /// Gives the state of a run from its log. The first event must say what was asked for.
    pub fn replay<'a>(id: RunId, log: impl IntoIterator<Item = &'a StampedEvent>) -> Option<Self> {
        let mut log = log.into_iter();
        let first = log.next()?;
        let RunEvent::Submitted(submission) = &first.event else { return None };
        let (mut run, _) = Self::begin(id, (**submission).clone(), first.at);
        for event in log {
            run.apply(event);
        }
        Some(run)
    }

    /// Takes an event in and says what has to be done. An event that does not fit is late and changes nothing.
    pub fn apply(&mut self, event: &StampedEvent) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.completed_at.is_some() {
            return actions;
        }
        let at = event.at;
        if let RunEvent::Interrupted { because: Interruption::OwnerDied } = event.event {
            self.leave_out_absence(at);
        }
        if !event.event.is_command() {
            self.seen_at = at;
        }
        match &event.event {
            RunEvent::Submitted(_) | RunEvent::Emitted { .. } => {}
            RunEvent::Started { step, attempt, execution } => {
                self.start(*step, *attempt, *execution, at, &mut actions);
            }
            RunEvent::Ended { step, attempt, report } => self.end(*step, *attempt, report, at),
            RunEvent::TimeReached => self.reach(at, &mut actions),
            RunEvent::CancelRequested { .. } => self.halt(Halt::Cancelled, &mut actions),
            RunEvent::PauseRequested { .. } => self.pause(&mut actions),
            RunEvent::ResumeRequested { .. } => self.resume(&mut actions),
            RunEvent::Approved { step, .. } => self.approve(*step),
            RunEvent::Rejected { step, by, note } => {
                let why = note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
                self.reject(*step, format!("{} said no{why}", by.0));
            }
            RunEvent::Interrupted { because } => self.interrupt(*because, at),
        }
        self.conclude(at, &mut actions);
        actions
    }

    /// Returns the step that should start next, and which try it is; nothing while none may. Whoever has a slot for it
    /// says [`RunEvent::Started`].
    pub fn next_startable(&self) -> Option<(StepIndex, u32)> {
        if self.is_paused || self.halt.is_some() || self.completed_at.is_some() {
            return None;
        }
        let position = match self.plan().parts().concurrency {
            Concurrency::Sequential => self.running.is_empty().then_some(self.cursor)?,
            Concurrency::Parallel => self.next_in_parallel()?,
        };
        let step = *self.plan().order().get(position)?;
        match self.steps[step].state {
            StepState::Ready { attempt } => Some((step, attempt)),
            StepState::Waiting { .. }
            | StepState::AwaitingApproval
            | StepState::BackingOff { .. }
            | StepState::Running { .. }
            | StepState::Settled(_) => None,
        }
    }

    /// One that must run alone starts when nothing runs; until then those that need not be alone go first, so that
    /// nobody waits for it to get its turn.
    fn next_in_parallel(&self) -> Option<usize> {
        let (beside, alone) = (self.ready_beside.first(), self.ready_alone.first());
        if self.running.is_empty() {
            return beside.into_iter().chain(alone).min().copied();
        }
        let is_alone = |step: &StepIndex| self.plan().steps()[*step].stand == Stand::Alone;
        let has_slot = self.running.len() < self.submission.slots.max(1);
        beside.copied().filter(|_| has_slot && !self.running.iter().any(is_alone))
    }

    /// Returns when the run wants to hear [`RunEvent::TimeReached`]; nothing while its clock stands still.
    pub fn next_wake(&self) -> Option<Timestamp> {
        if self.completed_at.is_some() || self.still_since.is_some() {
            return None;
        }
        let deadline = self.halt.is_none().then_some(self.deadline);
        self.timers.first().map(|(at, _)| *at).into_iter().chain(deadline).min()
    }

    fn start(
        &mut self,
        step: StepIndex,
        attempt: u32,
        execution: ExecutionId,
        at: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if self.next_startable_is_not(step, attempt) {
            return;
        }
        let position = self.plan().position(step);
        self.ready_beside.remove(&position);
        self.ready_alone.remove(&position);
        let deadline = at + self.steps[step].timeout_ms(&self.plan().steps()[step]);
        let current = &mut self.steps[step];
        current.state = StepState::Running { attempt, deadline, stopping: None };
        current.execution.get_or_insert(execution);
        current.first_started_at.get_or_insert(at);
        current.attempt_count = attempt;
        current.attempts.push(AttemptRecord {
            attempt,
            started_at: at,
            completed_at: None,
            error: None,
            stderr: String::new(),
        });
        self.timers.insert((deadline, step));
        self.running.insert(step);
        self.touched.insert(step);
        let no_gathering = || self.gathered_failure(step).filter(|_| self.steps[step].target == Target::Own);
        match self.refusal(step).or_else(no_gathering) {
            None => actions.push(Action::Launch { step, attempt }),
            // It is not allowed, or there is nothing to gather; that it began gives it a record all the same.
            Some(settled) => self.end_without_launch(step, attempt, settled, at),
        }
    }

    fn end_without_launch(&mut self, step: StepIndex, attempt: u32, settled: Settled, at: Timestamp) {
        self.running.remove(&step);
        if let StepState::Running { deadline, .. } = self.steps[step].state {
            self.timers.remove(&(deadline, step));
        }
        self.steps[step].close_attempt(at, settled.error(), "");
        if !(settled.is_failure() && self.fall_back(step, attempt)) {
            self.settle(step, settled);
        }
    }

    /// A start that was decided on before the run was paused or halted comes too late.
    fn next_startable_is_not(&self, step: StepIndex, attempt: u32) -> bool {
        let is_ready = self.steps.get(step).map(|step| &step.state) == Some(&StepState::Ready { attempt });
        !is_ready || self.is_paused || self.halt.is_some()
    }

    fn end(&mut self, step: StepIndex, attempt: u32, report: &AttemptReport, at: Timestamp) {
        let Some(StepState::Running { attempt: running, deadline, stopping }) =
            self.steps.get(step).map(|step| step.state.clone())
        else {
            return;
        };
        if running != attempt {
            return;
        }
        self.running.remove(&step);
        self.timers.remove(&(deadline, step));
        self.touched.insert(step);
        match (stopping, &report.outcome) {
            (Some(cause), _) => {
                let settled = cause.settled(self.steps[step].timeout_ms(&self.plan().steps()[step]));
                self.steps[step].close_attempt(at, settled.error(), &report.stderr);
                self.end_stopped(step, attempt, cause, settled, at);
            }
            (None, AttemptOutcome::Completed { output, patches, .. }) => {
                self.steps[step].close_attempt(at, None, &report.stderr);
                self.patches.insert(self.plan().position(step), patches.clone());
                let settled = Settled::Completed { output: output.clone() };
                self.count_outcome(step, &settled, Fault::Skill);
                self.settle(step, settled);
            }
            (None, AttemptOutcome::Failed { error, retry, fault }) => {
                self.steps[step].close_attempt(at, Some(error), &report.stderr);
                self.fail(step, attempt, error, (*retry, *fault), at);
            }
        }
    }

    fn end_stopped(
        &mut self,
        step: StepIndex,
        attempt: u32,
        cause: StopCause,
        settled: Settled,
        at: Timestamp,
    ) {
        let is_own_fault = cause == StopCause::Timeout;
        if is_own_fault && self.halt.is_none() && self.try_again(step, attempt, at) {
            return;
        }
        if is_own_fault {
            self.count_outcome(step, &settled, Fault::Skill);
        }
        if !(is_own_fault && self.fall_back(step, attempt)) {
            self.settle(step, settled);
        }
    }

    fn fail(
        &mut self,
        step: StepIndex,
        attempt: u32,
        error: &StepError,
        (retry, fault): (Retry, Fault),
        at: Timestamp,
    ) {
        match retry {
            Retry::Useful if self.try_again(step, attempt, at) => return,
            Retry::Interrupted => return self.repeat_or_fail(step, attempt, error.clone(), at),
            Retry::Useful | Retry::Useless => {}
        }
        let settled = Settled::Failed(error.clone());
        self.count_outcome(step, &settled, fault);
        if !self.fall_back(step, attempt) {
            self.settle(step, settled);
        }
    }

    /// Lets a step have its next attempt if it has one left, and there is time for it.
    fn try_again(&mut self, step: StepIndex, attempt: u32, at: Timestamp) -> bool {
        let rule = self.plan().steps()[step].retry;
        let current = &mut self.steps[step];
        let retries_max = if current.target == Target::Own { rule.max_retries } else { 0 };
        if current.retries >= retries_max || attempt >= ATTEMPTS_MAX {
            return false;
        }
        let due = at + backoff_ms(rule.backoff_ms, current.retries + 1);
        if due >= self.deadline {
            return false;
        }
        current.retries += 1;
        if due == at {
            self.make_ready(step, attempt + 1);
        } else {
            self.steps[step].state = StepState::BackingOff { attempt: attempt + 1, due };
            self.timers.insert((due, step));
        }
        true
    }

    /// Lets what stands in for a step have its one attempt.
    fn fall_back(&mut self, step: StepIndex, attempt: u32) -> bool {
        let has_fallback = self.plan().steps()[step].fallback.is_some();
        let current = &mut self.steps[step];
        if current.target == Target::Fallback
            || !has_fallback
            || self.halt.is_some()
            || attempt >= ATTEMPTS_MAX
        {
            return false;
        }
        current.target = Target::Fallback;
        self.make_ready(step, attempt + 1);
        true
    }

    fn reach(&mut self, at: Timestamp, actions: &mut Vec<Action>) {
        if self.still_since.is_some() {
            return;
        }
        if self.halt.is_none() && at >= self.deadline {
            return self.halt(Halt::DeadlinePassed, actions);
        }
        while let Some(&(due, step)) = self.timers.first().filter(|(due, _)| *due <= at) {
            self.timers.remove(&(due, step));
            match &mut self.steps[step].state {
                StepState::BackingOff { attempt, .. } => {
                    let attempt = *attempt;
                    self.make_ready(step, attempt);
                }
                StepState::Running { attempt, stopping, .. } => {
                    *stopping = Some(StopCause::Timeout);
                    actions.push(Action::Signal { step, attempt: *attempt, signal: StepSignal::TimeOut });
                }
                StepState::Waiting { .. }
                | StepState::AwaitingApproval
                | StepState::Ready { .. }
                | StepState::Settled(_) => {}
            }
        }
    }

    /// Ends what runs and settles the rest.
    fn halt(&mut self, halt: Halt, actions: &mut Vec<Action>) {
        if self.halt.is_some() {
            return;
        }
        self.halt = Some(halt);
        self.is_paused = false;
        self.timers.clear();
        for step in 0..self.steps.len() {
            match &mut self.steps[step].state {
                StepState::Running { attempt, stopping, .. } => {
                    if stopping.is_none() {
                        *stopping = Some(StopCause::Halt(halt));
                    }
                    actions.push(Action::Signal { step, attempt: *attempt, signal: StepSignal::Terminate });
                }
                StepState::Settled(_) => {}
                StepState::Waiting { .. }
                | StepState::AwaitingApproval
                | StepState::Ready { .. }
                | StepState::BackingOff { .. } => {
                    let settled = match self.steps[step].attempts.last().and_then(|last| last.error.as_ref())
                    {
                        Some(error) => halt.between_attempts(error),
                        None => halt.before_start(),
                    };
                    self.settle(step, settled);
                }
            }
        }
    }

    fn pause(&mut self, actions: &mut Vec<Action>) {
        if self.halt.is_none() && !self.is_paused {
            self.is_paused = true;
            self.signal_running(StepSignal::Stop, actions);
        }
    }

    fn resume(&mut self, actions: &mut Vec<Action>) {
        if std::mem::take(&mut self.is_paused) {
            self.signal_running(StepSignal::Continue, actions);
        }
    }

    fn signal_running(&self, signal: StepSignal, actions: &mut Vec<Action>) {
        for &step in &self.running {
            if let StepState::Running { attempt, .. } = self.steps[step].state {
                actions.push(Action::Signal { step, attempt, signal });
            }
        }
    }

    fn approve(&mut self, step: StepIndex) {
        if self.awaiting.remove(&step) {
            self.make_ready(step, 1);
        }
    }

    fn reject(&mut self, step: StepIndex, why: String) {
        if self.awaiting.remove(&step) {
            self.settle(step, Settled::Failed(StepError::new(ErrorKind::PolicyDenied, why)));
        }
    }

    /// What ran is lost: it is tried again where that is safe.
    fn interrupt(&mut self, because: Interruption, at: Timestamp) {
        for step in std::mem::take(&mut self.running) {
            let StepState::Running { attempt, deadline, stopping } = self.steps[step].state.clone() else {
                continue;
            };
            self.timers.remove(&(deadline, step));
            self.touched.insert(step);
            let error = StepError::new(ErrorKind::ToolExecutionFailed, because.message());
            self.steps[step].close_attempt(at, Some(&error), "");
            if let Some(cause) = stopping {
                let settled = cause.settled(self.steps[step].timeout_ms(&self.plan().steps()[step]));
                self.end_stopped(step, attempt, cause, settled, at);
            } else {
                self.repeat_or_fail(step, attempt, error, at);
            }
        }
    }

    /// What was cut off is started again where that is safe, which is no retry; otherwise it needs one.
    fn repeat_or_fail(&mut self, step: StepIndex, attempt: u32, error: StepError, at: Timestamp) {
        if self.is_repeatable(step) && attempt < ATTEMPTS_MAX {
            self.make_ready(step, attempt + 1);
        } else if !self.try_again(step, attempt, at) {
            self.settle(step, Settled::Failed(error));
        }
    }

    /// Gathering outputs changes nothing outside, so it is always safe to repeat.
    fn is_repeatable(&self, step: StepIndex) -> bool {
        self.steps[step].script(&self.plan().steps()[step]).is_none_or(|(target, _)| target.idempotent)
    }

    pub(super) fn make_ready(&mut self, step: StepIndex, attempt: u32) {
        self.steps[step].state = StepState::Ready { attempt };
        let position = self.plan().position(step);
        match self.plan().steps()[step].stand {
            Stand::Beside => self.ready_beside.insert(position),
            Stand::Alone => self.ready_alone.insert(position),
        };
    }

    /// A step that waits for nothing more gets its turn, or asks somebody first.
    pub(super) fn ready_if_nothing_is_missing(&mut self, step: StepIndex) {
        if self.steps[step].state != (StepState::Waiting { unsettled: 0 }) {
            return;
        }
        match self.plan().steps()[step].approval {
            Approval::None => self.make_ready(step, 1),
            Approval::Required => {
                self.steps[step].state = StepState::AwaitingApproval;
                self.awaiting.insert(step);
            }
        }
    }

    /// After every event: is the run over, and does its clock stand still?
    fn conclude(&mut self, at: Timestamp, actions: &mut Vec<Action>) {
        if self.unsettled == 0 && self.completed_at.is_none() {
            self.completed_at = Some(at);
            actions.push(Action::Finish);
        }
        match (self.still_since, self.stands_still()) {
            (None, true) => self.still_since = Some(at),
            (Some(since), false) => {
                self.still_since = None;
                self.seen_at = at;
                self.move_clock(at.millis_since(since));
            }
            (None, false) | (Some(_), true) => {}
        }
    }

    /// Nobody drove the run since the driver was last seen, so that time is given back.
    fn leave_out_absence(&mut self, at: Timestamp) {
        if self.still_since.is_none() {
            self.move_clock(at.millis_since(self.seen_at));
        }
    }

    fn stands_still(&self) -> bool {
        self.is_paused || self.is_parked()
    }

    /// Says whether nothing can happen until somebody says yes or no.
    pub(super) fn is_parked(&self) -> bool {
        !self.awaiting.is_empty()
            && self.running.is_empty()
            && self.timers.is_empty()
            && self.next_startable().is_none()
    }

    fn move_clock(&mut self, millis: u64) {
        self.deadline = self.deadline + millis;
        for (due, step) in std::mem::take(&mut self.timers) {
            let moved = due + millis;
            match &mut self.steps[step].state {
                StepState::Running { deadline, .. } => *deadline = moved,
                StepState::BackingOff { due, .. } => *due = moved,
                StepState::Waiting { .. }
                | StepState::AwaitingApproval
                | StepState::Ready { .. }
                | StepState::Settled(_) => {}
            }
            self.timers.insert((moved, step));
        }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.submission.plan
    }
}

/// Returns how long to wait before a retry, from 1: twice as long each time.
pub(super) fn backoff_ms(first_ms: u64, retry: u32) -> u64 {
    let factor = 1u64.checked_shl(retry - 1).unwrap_or(u64::MAX);
    first_ms.saturating_mul(factor).min(BACKOFF_MS_MAX)
}
