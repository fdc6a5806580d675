//! The state machine of an agent: an event in, another record out. Reads no clock; the time is part of the event.

use super::event::{AgentEvent, OperationEnd, StampedAgentEvent, WorkEnd};
use super::record::{AgentPhase, AgentRecord, AgentState, ErrorEntry, Work, WorkOutcome, cut_error};
use crate::id::AgentId;
use crate::limit::{AGENT_ENTITIES_MAX, AGENT_ERROR_LOG_MAX};
use crate::time::Timestamp;

/// How often in a row an agent may try what it is not allowed to before it is put aside.
pub const DENIED_IN_A_ROW_MAX: u32 = 10;

/// An agent, made from its log.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    record: AgentRecord,
}

/// From where to where an agent went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Transition {
    /// From here.
    pub from: AgentState,
    /// To there.
    pub to: AgentState,
}

/// An agent cannot go from one state to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an agent that is {} cannot become {}", .from.as_str(), .to.as_str())]
pub struct InvalidTransition {
    /// Where it stands.
    pub from: AgentState,
    /// Where it was to go.
    pub to: AgentState,
}

impl Agent {
    /// Makes an agent of its first event.
    pub fn begin(id: AgentId, first: &StampedAgentEvent) -> Option<Self> {
        let AgentEvent::Spawned { spec, .. } = &first.event else { return None };
        Some(Self { record: AgentRecord::new(id, spec.clone(), first.at) })
    }

    /// Makes an agent of its record.
    pub fn from_record(record: AgentRecord) -> Self {
        Self { record }
    }

    /// Gives an agent from its log; nothing when the log is not one of an agent.
    pub fn replay<'a>(id: AgentId, log: impl IntoIterator<Item = &'a StampedAgentEvent>) -> Option<Self> {
        let mut log = log.into_iter();
        let mut agent = Self::begin(id, log.next()?)?;
        for event in log {
            agent.apply(event).ok()?;
        }
        Some(agent)
    }

    /// Returns the record.
    pub fn record(&self) -> &AgentRecord {
        &self.record
    }

    /// Returns the record for good.
    pub fn into_record(self) -> AgentRecord {
        self.record
    }

    /// Takes an event in. One that does not fit changes nothing and is an error that names both states.
    pub fn apply(&mut self, event: &StampedAgentEvent) -> Result<Transition, InvalidTransition> {
        let from = self.record.state();
        let at = event.at;
        match &event.event {
            AgentEvent::Spawned { .. } => return Err(InvalidTransition { from, to: AgentState::Idle }),
            AgentEvent::Started { work, .. } => {
                self.check_from(AgentState::Running, &[AgentState::Idle])?;
                self.record.standing = AgentPhase::Running { work: work.clone() };
                self.record.started_at = Some(at);
                self.record.completed_at = None;
            }
            AgentEvent::Paused { .. } => self.swap(AgentState::Paused)?,
            AgentEvent::Resumed { .. } => {
                self.check_from(AgentState::Running, &[AgentState::Paused])?;
                self.swap(AgentState::Running)?;
            }
            AgentEvent::TakenOver { owner } => self.work_in_hand()?.owner.clone_from(owner),
            AgentEvent::Doing { run_id } => self.work_in_hand()?.run_id = *run_id,
            AgentEvent::Called(end) => self.count(end, at),
            AgentEvent::Denied(denial) => {
                self.count_error(&denial.message, at);
                if denial.code.is_violation() {
                    self.record.denied_in_a_row += 1;
                    self.park_if_it_does_not_learn(at);
                }
            }
            AgentEvent::Ended(end) => self.end(end, at)?,
            AgentEvent::Unfit { error } => {
                self.check(AgentState::Failed)?;
                self.fail(error, at);
            }
            AgentEvent::Retried { .. } => {
                self.check_from(AgentState::Idle, &[AgentState::Failed])?;
                self.record.standing = AgentPhase::Idle;
            }
            AgentEvent::Freed { .. } => {
                self.check_from(AgentState::Idle, &[AgentState::Failed, AgentState::Completed])?;
                self.record.denied_in_a_row = 0;
                self.record.standing = AgentPhase::Idle;
            }
            AgentEvent::Cancelled { .. } => {
                self.check(AgentState::Cancelled)?;
                self.record.standing = AgentPhase::Cancelled;
                self.record.completed_at = Some(at);
            }
            AgentEvent::Terminated { .. } => {
                self.check(AgentState::Terminated)?;
                self.record.standing = AgentPhase::Terminated;
                self.record.completed_at.get_or_insert(at);
            }
            AgentEvent::Said { .. } => {}
        }
        self.record.last_active = at;
        Ok(Transition { from, to: self.record.state() })
    }

    fn work_in_hand(&mut self) -> Result<&mut Work, InvalidTransition> {
        let from = self.record.state();
        match &mut self.record.standing {
            AgentPhase::Running { work } | AgentPhase::Paused { work } => Ok(work),
            AgentPhase::Idle
            | AgentPhase::Completed
            | AgentPhase::Failed { .. }
            | AgentPhase::Cancelled
            | AgentPhase::Terminated => Err(InvalidTransition { from, to: AgentState::Running }),
        }
    }

    fn check(&self, to: AgentState) -> Result<(), InvalidTransition> {
        let from = self.record.state();
        if from.may_become(to) { Ok(()) } else { Err(InvalidTransition { from, to }) }
    }

    fn check_from(&self, to: AgentState, allowed: &[AgentState]) -> Result<(), InvalidTransition> {
        let from = self.record.state();
        if allowed.contains(&from) { Ok(()) } else { Err(InvalidTransition { from, to }) }
    }

    /// Stands still in the middle of its work, or goes on with it.
    fn swap(&mut self, to: AgentState) -> Result<(), InvalidTransition> {
        self.check(to)?;
        let standing = match std::mem::replace(&mut self.record.standing, AgentPhase::Idle) {
            AgentPhase::Running { work } => AgentPhase::Paused { work },
            AgentPhase::Paused { work } => AgentPhase::Running { work },
            other @ (AgentPhase::Idle
            | AgentPhase::Completed
            | AgentPhase::Failed { .. }
            | AgentPhase::Cancelled
            | AgentPhase::Terminated) => other,
        };
        self.record.standing = standing;
        Ok(())
    }

    fn end(&mut self, end: &WorkEnd, at: Timestamp) -> Result<(), InvalidTransition> {
        let to = match &end.outcome {
            WorkOutcome::Completed => AgentState::Completed,
            WorkOutcome::Failed { .. } => AgentState::Failed,
            WorkOutcome::Returned => AgentState::Idle,
        };
        self.check_from(to, &[AgentState::Running])?;
        for call in &end.calls {
            self.count(call, at);
        }
        self.record.keep_results(&end.results);
        match &end.outcome {
            WorkOutcome::Completed => self.record.standing = AgentPhase::Completed,
            WorkOutcome::Failed { error } => self.fail(error, at),
            WorkOutcome::Returned => self.record.standing = AgentPhase::Idle,
        }
        self.record.completed_at = Some(at);
        Ok(())
    }

    fn fail(&mut self, error: &str, at: Timestamp) {
        let error = cut_error(error);
        let is_logged =
            self.record.error_log.last().is_some_and(|last| last.at == at && last.message == error);
        if !is_logged {
            self.log_error(&error, at);
        }
        self.record.standing = AgentPhase::Failed { error };
        self.record.completed_at = Some(at);
    }

    fn count(&mut self, end: &OperationEnd, at: Timestamp) {
        self.record.keep_results(&end.results);
        let entities = &mut self.record.created_entities;
        entities.extend(end.entities.iter().cloned());
        let too_many = entities.len().saturating_sub(AGENT_ENTITIES_MAX);
        entities.drain(..too_many);
        match &end.error {
            None => {
                self.record.operation_count += 1;
                self.record.success_count += 1;
                self.record.denied_in_a_row = 0;
            }
            Some(error) => self.count_error(&format!("{}: {error}", end.operation), at),
        }
    }

    fn count_error(&mut self, error: &str, at: Timestamp) {
        self.record.operation_count += 1;
        self.record.error_count += 1;
        self.log_error(&cut_error(error), at);
    }

    fn log_error(&mut self, message: &str, at: Timestamp) {
        let log = &mut self.record.error_log;
        log.push(ErrorEntry { at, message: message.to_owned() });
        let too_many = log.len().saturating_sub(AGENT_ERROR_LOG_MAX);
        log.drain(..too_many);
    }

    /// An agent that only tries what it is not allowed to is put aside, so that it does not go on for ever.
    fn park_if_it_does_not_learn(&mut self, at: Timestamp) {
        let may_fail = self.record.state().may_become(AgentState::Failed);
        if self.record.denied_in_a_row >= DENIED_IN_A_ROW_MAX && may_fail {
            let error = format!("{DENIED_IN_A_ROW_MAX} calls in a row were not allowed");
            self.fail(&error, at);
        }
    }
}
