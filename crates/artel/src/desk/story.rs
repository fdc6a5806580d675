//! A run as its log tells it: its state, and what its scripts said.

use artel_model::id::RunId;
use artel_model::name::SkillName;
use artel_model::run::{ResultDocument, Run, StampedEvent, Trace};
use artel_store::SkillHealth;

use crate::failure::Failure;

/// A run as its log tells it.
pub(crate) struct Story {
    id: RunId,
    run: Option<Run>,
    trace: Trace,
}

impl Story {
    /// Begins with nothing.
    pub(crate) fn new(id: RunId) -> Self {
        Self { id, run: None, trace: Trace::default() }
    }

    /// Returns which run it is about.
    pub(super) fn id(&self) -> RunId {
        self.id
    }

    /// Takes in the next event of the log.
    pub(crate) fn note(&mut self, event: &StampedEvent) {
        self.trace.note(event);
        match &mut self.run {
            None => self.run = Run::replay(self.id, [event]),
            Some(run) => {
                run.apply(event);
                // Who only looks keeps no records.
                run.take_effects("");
            }
        }
    }

    /// Returns the run.
    pub(super) fn into_run(self) -> Result<Run, Failure> {
        self.run.ok_or_else(|| unreadable(self.id))
    }

    /// Makes the result document.
    pub(super) fn result(self, failed_for_good: &[SkillHealth]) -> Result<(Run, ResultDocument), Failure> {
        let Self { id, run, trace } = self;
        let run = run.ok_or_else(|| unreadable(id))?;
        let has_failed = |skill: &SkillName, hash: &str| {
            failed_for_good.iter().any(|failed| failed.skill == *skill && failed.content_hash == hash)
        };
        let document = trace.result(&run, has_failed);
        Ok((run, document))
    }
}

fn unreadable(id: RunId) -> Failure {
    Failure::missing(format!("the log of run {id} cannot be read"))
}
