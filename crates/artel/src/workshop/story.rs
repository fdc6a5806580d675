//! A run as its log tells it: its state, and what its scripts said.

use std::collections::BTreeSet;

use artel_model::id::RunId;
use artel_model::name::SkillName;
use artel_model::run::{ResultDocument, Run, StampedEvent, Trace};
use artel_store::{Revision, RunStore};

use crate::failure::Failure;

/// Events that are read at once.
const PAGE: usize = 1000;

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

    /// Reads a whole log.
    pub(crate) async fn read(store: &dyn RunStore, id: RunId) -> Result<Self, Failure> {
        let mut story = Self::new(id);
        let mut after = Revision(0);
        loop {
            let page = store.events(id, after, PAGE).await.map_err(|error| Failure::unavailable(&error))?;
            let Some(last) = page.last() else { return Ok(story) };
            after = last.revision;
            for logged in &page {
                story.note(&logged.event);
            }
        }
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
    pub(crate) fn run(&self) -> Result<&Run, Failure> {
        self.run
            .as_ref()
            .ok_or_else(|| Failure::missing(format!("the log of run {} cannot be read", self.id)))
    }

    /// Makes the result document.
    pub(crate) fn result(
        self,
        failed_for_good: &BTreeSet<SkillName>,
    ) -> Result<(Run, ResultDocument), Failure> {
        self.run()?;
        let Self { run: Some(run), trace, .. } = self else { return Err(Failure::reported()) };
        let document = trace.result(&run, |skill| failed_for_good.contains(skill));
        Ok((run, document))
    }
}
