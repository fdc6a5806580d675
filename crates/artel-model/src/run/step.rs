//! Where one step of a run stands.

use serde_json::{Map, Value};

use super::execution::AttemptRecord;
use super::report::{ErrorKind, StepError};
use crate::id::ExecutionId;
use crate::plan::{AfterFailure, PlanStep, ScriptTarget, Work};
use crate::time::Timestamp;

/// A step and what has been tried so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) state: StepState,
    /// What runs: the step's own script, or the one that stands in for it.
    pub(super) target: Target,
    /// Retries of the current target so far.
    pub(super) retries: u32,
    pub(super) execution: Option<ExecutionId>,
    /// Attempts that are not in a finished record yet.
    pub(super) attempts: Vec<AttemptRecord>,
    /// How many attempts there have been.
    pub(super) attempt_count: u32,
    pub(super) first_started_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum StepState {
    /// For what it needs.
    Waiting {
        unsettled: usize,
    },
    /// For somebody's yes.
    AwaitingApproval,
    /// For its turn.
    Ready {
        attempt: u32,
    },
    /// For the time of its next attempt.
    BackingOff {
        attempt: u32,
        due: Timestamp,
    },
    Running {
        attempt: u32,
        deadline: Timestamp,
        stopping: Option<StopCause>,
    },
    Settled(Settled),
}

/// Which script of a step runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Target {
    Own,
    Fallback,
}

/// Why a running attempt was told to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum StopCause {
    Timeout,
    Halt(Halt),
}

/// Why a run ends before its steps are through.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Halt {
    /// Somebody cancelled it.
    Cancelled,
    /// Its time is up.
    DeadlinePassed,
}

/// How a step ended; final.
#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    /// It did what it should.
    Completed {
        /// What came out.
        output: Map<String, Value>,
    },
    /// It failed.
    Failed(StepError),
    /// It took too long.
    TimedOut(StepError),
    /// It was ended.
    Cancelled(StepError),
    /// It never ran.
    Skipped(StepError),
}

impl Settled {
    /// Returns the output of a step that completed.
    pub fn output(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Completed { output } => Some(output),
            Self::Failed(_) | Self::TimedOut(_) | Self::Cancelled(_) | Self::Skipped(_) => None,
        }
    }

    /// Returns why a step did not complete.
    pub fn error(&self) -> Option<&StepError> {
        match self {
            Self::Completed { .. } => None,
            Self::Failed(error) | Self::TimedOut(error) | Self::Cancelled(error) | Self::Skipped(error) => {
                Some(error)
            }
        }
    }

    /// Says whether it ran and did not complete.
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Failed(_) | Self::TimedOut(_) => true,
            Self::Completed { .. } | Self::Cancelled(_) | Self::Skipped(_) => false,
        }
    }

    /// Says whether it completed.
    pub fn is_completed(&self) -> bool {
        self.output().is_some()
    }
}

impl Step {
    pub(super) fn waiting(needs: usize) -> Self {
        Self {
            state: StepState::Waiting { unsettled: needs },
            target: Target::Own,
            retries: 0,
            execution: None,
            attempts: Vec::new(),
            attempt_count: 0,
            first_started_at: None,
        }
    }

    pub(super) fn settled(&self) -> Option<&Settled> {
        match &self.state {
            StepState::Settled(settled) => Some(settled),
            StepState::Waiting { .. }
            | StepState::AwaitingApproval
            | StepState::Ready { .. }
            | StepState::BackingOff { .. }
            | StepState::Running { .. } => None,
        }
    }

    /// Returns the script that runs, and the input it is written with.
    pub(super) fn script<'a>(
        &self,
        plan: &'a PlanStep,
    ) -> Option<(&'a ScriptTarget, &'a Map<String, Value>)> {
        match (self.target, &plan.fallback, &plan.work) {
            (Target::Fallback, Some(AfterFailure { target, input, .. }), _) => Some((target, input)),
            (_, _, Work::Script(target)) => Some((target, &plan.input)),
            (_, _, Work::Gather { .. }) => None,
        }
    }

    pub(super) fn timeout_ms(&self, plan: &PlanStep) -> u64 {
        match (self.target, &plan.fallback) {
            (Target::Fallback, Some(fallback)) => fallback.timeout_ms,
            (Target::Fallback, None) | (Target::Own, _) => plan.timeout_ms,
        }
    }

    /// Notes how the last attempt ended.
    pub(super) fn close_attempt(&mut self, at: Timestamp, error: Option<&StepError>, stderr: &str) {
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.completed_at = Some(at);
            attempt.error = error.cloned();
            stderr.clone_into(&mut attempt.stderr);
        }
    }
}

impl StopCause {
    /// Returns how a step ends that was stopped for this reason.
    pub(super) fn settled(self, timeout_ms: u64) -> Settled {
        match self {
            Self::Timeout => Settled::TimedOut(StepError::new(
                ErrorKind::Timeout,
                format!("the attempt took longer than {timeout_ms} ms"),
            )),
            Self::Halt(Halt::DeadlinePassed) => Settled::TimedOut(StepError::new(
                ErrorKind::Timeout,
                "the deadline of the run passed while it was running",
            )),
            Self::Halt(Halt::Cancelled) => {
                Settled::Cancelled(StepError::new(ErrorKind::Cancelled, "the run was cancelled"))
            }
        }
    }
}

impl Halt {
    /// Returns how a step ends that had failed and waited for its next attempt when the run was halted.
    pub(super) fn between_attempts(self, error: &StepError) -> Settled {
        match self {
            Self::Cancelled => Settled::Cancelled(StepError::new(
                ErrorKind::Cancelled,
                format!("the run was cancelled before the next attempt; the last one: {error}"),
            )),
            Self::DeadlinePassed => Settled::TimedOut(StepError::new(
                ErrorKind::Timeout,
                format!("the deadline of the run passed before the next attempt; the last one: {error}"),
            )),
        }
    }

    /// Returns how a step ends that had not started when the run was halted.
    pub(super) fn before_start(self) -> Settled {
        match self {
            Self::Cancelled => Settled::Cancelled(StepError::new(
                ErrorKind::Cancelled,
                "the run was cancelled before it started",
            )),
            Self::DeadlinePassed => Settled::Skipped(StepError::new(
                ErrorKind::Timeout,
                "the deadline of the run passed before it started",
            )),
        }
    }
}
