//! A store that cannot be written: the driver of a run stops its processes, waits until the store is back, and goes on from
//! the log. It never gives up while the process lives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artel_model::run::{Interruption, RunEvent};
use artel_store::{Revision, StoreError};

use super::{Closing, DriveError, Driver, replay};
use crate::error_text::error_text;

/// Pauses before the store is tried again: the first, and the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Runs that wait for the store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoreOutage {
    /// How many.
    pub runs: usize,
    /// Why the store cannot be written.
    pub cause: String,
}

/// What the drivers of an engine know of outages of the store.
#[derive(Debug, Default)]
pub(crate) struct Outages(Mutex<Option<StoreOutage>>);

impl Outages {
    /// Returns the outage that lasts, if there is one.
    pub(crate) fn current(&self) -> Option<StoreOutage> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<StoreOutage>> {
        // Each change is a few assignments that cannot panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run that waits. The log is told once, however many wait.
    fn begin(self: &Arc<Self>, error: &StoreError) -> Waiting {
        let cause = error_text(error);
        let mut outage = self.lock();
        match &mut *outage {
            Some(outage) => outage.runs += 1,
            None => {
                tracing::error!(cause, "the store cannot be written: runs are stopped until it can be");
                *outage = Some(StoreOutage { runs: 1, cause });
            }
        }
        Waiting(self.clone())
    }
}

/// A run that waits for the store, as long as it does.
struct Waiting(Arc<Outages>);

impl Waiting {
    fn failed_again(&self, error: &StoreError) {
        if let Some(outage) = &mut *self.0.lock() {
            outage.cause = error_text(error);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut outage = self.0.lock();
        let others = outage.take().filter(|outage| outage.runs > 1);
        *outage = others.map(|outage| StoreOutage { runs: outage.runs - 1, ..outage });
    }
}

impl Driver {
    /// Stops what runs, and waits until the store can be written again; then the run goes on from its log. Returns false when
    /// the engine closes first.
    pub(super) async fn outlast(&mut self, error: StoreError) -> Result<bool, DriveError> {
        if is_for_good(&error) {
            return Err(DriveError::Store(error));
        }
        let waiting = self.context.outages.begin(&error);
        self.waiting_for_slot = None;
        self.spare_slot = None;
        self.end_steps().await;
        let mut pause = PAUSE_FIRST;
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = self.closing.wait_for(|closing| *closing != Closing::Open) => return Ok(false),
            }
            match self.go_on_from_log().await {
                Ok(()) => {
                    tracing::info!(run = %self.run.id(), "the store can be written again: the run goes on from its log");
                    return Ok(true);
                }
                Err(DriveError::Store(error)) if !is_for_good(&error) => {
                    waiting.failed_again(&error);
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the state from the log, as who recovers the run would: a write whose answer was lost may be there, and commands
    /// of others. What was running was stopped; deadlines that passed meanwhile count.
    async fn go_on_from_log(&mut self) -> Result<(), DriveError> {
        let (store, id) = (self.context.store.clone(), self.run.id());
        let row = store.run(id).await.map_err(DriveError::Store)?.ok_or(DriveError::TakenOver)?;
        if row.fence != self.fence {
            return Err(DriveError::TakenOver);
        }
        let replayed = replay(&*store, id, Revision(u64::MAX)).await?.ok_or(DriveError::Log)?;
        self.run = replayed.run;
        self.run.take_effects(&self.context.node);
        self.revision = replayed.revision;
        self.written = self.run.summary();
        if self.run.completed_at().is_some() {
            return Ok(());
        }
        let mut facts = vec![RunEvent::Interrupted { because: Interruption::StoreAway }];
        let now = self.context.clock.now();
        if self.run.next_wake().is_some_and(|wake| wake <= now) {
            facts.push(RunEvent::TimeReached);
        }
        self.turn(facts).await
    }
}

/// Says whether waiting does not help.
fn is_for_good(error: &StoreError) -> bool {
    match error {
        StoreError::Lost { .. } | StoreError::TooNew { .. } => true,
        StoreError::Unavailable { .. }
        | StoreError::Full { .. }
        | StoreError::Corrupt { .. }
        | StoreError::UnknownCursor { .. } => false,
    }
}
