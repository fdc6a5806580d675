//! One slot for every process that may run at once, and who waits for one. Knows nothing of runs.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::metrics::{Raised, SlotMeters};

/// The slots of an engine; clones are the same.
#[derive(Clone)]
pub(crate) struct Slots {
    free: Arc<Semaphore>,
    meters: SlotMeters,
}

/// A slot, given back when it is dropped.
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
    _in_use: Raised,
}

impl Slots {
    /// Makes slots for so many processes, at least one.
    pub(crate) fn new(processes_max: usize) -> Self {
        let slots = processes_max.max(1);
        Self { free: Arc::new(Semaphore::new(slots)), meters: SlotMeters::new(slots) }
    }

    /// Takes a slot if one is free.
    pub(crate) fn try_take(&self) -> Option<Slot> {
        self.free.clone().try_acquire_owned().ok().map(|permit| self.slot(permit))
    }

    /// Waits for a slot; who waits longest is served first.
    pub(crate) async fn take(self) -> Slot {
        let waiting = Raised::new(&self.meters.waiting);
        let permit = self.free.clone().acquire_owned().await.expect("the slots are never closed");
        drop(waiting);
        self.slot(permit)
    }

    fn slot(&self, permit: OwnedSemaphorePermit) -> Slot {
        Slot { _permit: permit, _in_use: Raised::new(&self.meters.in_use) }
    }
}
