//! What follows when a step is settled: who may start, who is skipped, which patches count.

use super::machine::Run;
use super::report::{ErrorKind, Fault, StepError};
use super::step::{Settled, StepState};
use crate::health::RunOutcome;
use crate::merge::deep_merge;
use crate::plan::{ErrorRule, Importance, StepIndex, Work};

impl Run {
    /// Settles a step and everything that follows from it. Without recursion, so that a long chain does no harm.
    pub(super) fn settle(&mut self, step: StepIndex, settled: Settled) {
        let mut to_settle = vec![(step, settled)];
        let mut now_complete = Vec::new();
        while let Some((step, settled)) = to_settle.pop() {
            if self.steps[step].settled().is_some() {
                continue;
            }
            self.leave_queues(step);
            let blocks =
                !settled.is_completed() && self.plan().steps()[step].importance == Importance::Required;
            self.steps[step].state = StepState::Settled(settled);
            self.unsettled -= 1;
            if self.steps[step].execution.is_some() {
                self.touched.insert(step);
            }
            for dependent in self.plan().dependents(step).to_vec() {
                let gathers = self.plan().steps()[step].scope == Some(dependent);
                if blocks && !gathers {
                    to_settle.push((dependent, self.skipped_because_of(step)));
                } else if let StepState::Waiting { unsettled } = &mut self.steps[dependent].state {
                    *unsettled -= 1;
                    now_complete.push(dependent);
                }
            }
            if blocks {
                to_settle.extend(self.aborted_with(step));
            }
        }
        self.merge_what_is_settled();
        for step in now_complete {
            self.ready_if_nothing_is_missing(step);
        }
    }

    fn leave_queues(&mut self, step: StepIndex) {
        let position = self.plan().position(step);
        self.ready_beside.remove(&position);
        self.ready_alone.remove(&position);
        self.awaiting.remove(&step);
        if let StepState::BackingOff { due, .. } = self.steps[step].state {
            self.timers.remove(&(due, step));
        }
    }

    fn skipped_because_of(&self, step: StepIndex) -> Settled {
        let how = match self.steps[step].settled() {
            Some(Settled::Skipped(_)) => "was skipped",
            Some(Settled::Cancelled(_)) => "was cancelled",
            Some(Settled::TimedOut(_)) => "timed out",
            Some(Settled::Failed(_) | Settled::Completed { .. }) | None => "failed",
        };
        let message = format!("`{}`, which it needs, {how}", self.plan().steps()[step].id);
        Settled::Skipped(StepError::new(ErrorKind::DependencyFailed, message))
    }

    /// Returns the other steps of the same composite that must not start any more.
    fn aborted_with(&self, step: StepIndex) -> Vec<(StepIndex, Settled)> {
        let Some(scope) = self.plan().steps()[step].scope else { return Vec::new() };
        let Work::Gather { on_failure: ErrorRule::Abort, .. } = &self.plan().steps()[scope].work else {
            return Vec::new();
        };
        let message =
            format!("`{}` failed, and the skill it is a step of stops then", self.plan().steps()[step].id);
        let skipped = Settled::Skipped(StepError::new(ErrorKind::DependencyFailed, message));
        let mut aborted = Vec::new();
        let mut scopes = vec![scope];
        while let Some(scope) = scopes.pop() {
            for &member in self.members.get(&scope).into_iter().flatten() {
                match self.steps[member].state {
                    StepState::Waiting { .. }
                    | StepState::AwaitingApproval
                    | StepState::Ready { .. }
                    | StepState::BackingOff { .. } => aborted.push((member, skipped.clone())),
                    StepState::Running { .. } | StepState::Settled(_) => {}
                }
                scopes.push(member);
            }
        }
        aborted
    }

    /// Returns how a composite ends without gathering: a required step of it did not complete.
    pub(super) fn gathered_failure(&self, step: StepIndex) -> Option<Settled> {
        let Work::Gather { on_failure, .. } = &self.plan().steps()[step].work else { return None };
        let members = self.members.get(&step).map(Vec::as_slice).unwrap_or_default();
        let settled = |&member: &StepIndex| Some((member, self.steps[member].settled()?));
        let lacking: Vec<(StepIndex, &Settled)> = members
            .iter()
            .filter_map(settled)
            .filter(|(member, settled)| {
                !settled.is_completed() && self.plan().steps()[*member].importance == Importance::Required
            })
            .collect();
        let (first, why) = lacking.iter().find(|(_, settled)| settled.is_failure()).or(lacking.first())?;
        let has_something = members.iter().filter_map(settled).any(|(_, settled)| settled.is_completed());
        if *on_failure == ErrorRule::Partial && has_something {
            return None;
        }
        let error = why.error()?;
        let error = StepError {
            message: format!("`{}`: {}", self.plan().steps()[*first].id, error.message),
            ..error.clone()
        };
        Some(match why {
            Settled::TimedOut(_) => Settled::TimedOut(error),
            Settled::Cancelled(_) => Settled::Cancelled(error),
            Settled::Failed(_) | Settled::Skipped(_) | Settled::Completed { .. } => Settled::Failed(error),
        })
    }

    /// Moves patches into the state in the order of the plan, whatever the order in which the steps ended.
    fn merge_what_is_settled(&mut self) {
        let order = self.submission.plan.order();
        while let Some(&step) = order.get(self.cursor) {
            if self.steps[step].settled().is_none() {
                break;
            }
            for patch in self.patches.remove(&self.cursor).unwrap_or_default() {
                // What is too deep was refused when the script said it.
                let _ = deep_merge(&mut self.merged, patch);
            }
            self.cursor += 1;
        }
    }

    /// Counts how the skill of a step did, where that says something about the skill.
    pub(super) fn count_outcome(&mut self, step: StepIndex, settled: &Settled, fault: Fault) {
        let Some((target, _)) = self.steps[step].script(&self.submission.plan.steps()[step]) else { return };
        let outcome = match settled {
            Settled::Completed { .. } => RunOutcome::Success,
            Settled::TimedOut(_) => RunOutcome::Transient,
            Settled::Failed(error) => match (error.kind, fault) {
                (_, Fault::Elsewhere) => return,
                (ErrorKind::Timeout, _) | (ErrorKind::ToolExecutionFailed, Fault::Network) => {
                    RunOutcome::Transient
                }
                (
                    ErrorKind::ToolExecutionFailed | ErrorKind::ProtocolViolation | ErrorKind::SpawnFailed,
                    Fault::Skill | Fault::Network,
                ) => RunOutcome::Failure,
                (ErrorKind::DependencyFailed | ErrorKind::Cancelled | ErrorKind::PolicyDenied, _) => return,
            },
            Settled::Cancelled(_) | Settled::Skipped(_) => return,
        };
        self.outcomes.push((target.clone(), outcome));
    }
}
