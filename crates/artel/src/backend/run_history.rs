//! A run as its log tells it.

use artel_model::id::RunId;
use artel_model::run::{Run, StampedEvent};

use crate::failure::Failure;

/// A run as its log tells it.
pub(crate) struct RunHistory {
    id: RunId,
    run: Option<Run>,
}

impl RunHistory {
    /// Begins with nothing.
    pub(crate) fn new(id: RunId) -> Self {
        Self { id, run: None }
    }

    /// Returns which run it is about.
    pub(super) fn id(&self) -> RunId {
        self.id
    }

    /// Takes in the next event of the log.
    pub(crate) fn note(&mut self, event: &StampedEvent) {
        match &mut self.run {
            None => self.run = Run::replay(self.id, [event]),
            Some(run) => {
                run.apply(event);
                // A reader keeps no records.
                run.take_effects("");
            }
        }
    }

    /// Returns the run.
    pub(super) fn into_run(self) -> Result<Run, Failure> {
        let id = self.id;
        self.run.ok_or_else(|| Failure::missing(format!("the log of run {id} cannot be read")))
    }
}
