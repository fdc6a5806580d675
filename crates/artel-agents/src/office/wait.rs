//! Who waits for whom, noted in the store so that a ring of agents who wait for each other is seen when it closes.
//!
//! A wait is noted for a short time only, and again and again while it lasts: one whose process died is soon forgotten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artel_model::id::{AgentId, CorrelationId};
use artel_model::message::{Address, Message, MessageKind, Sender, Wait};

use super::error::RequestError;
use super::post_office::Shared;

/// How long a wait stands without being noted again.
const LEASE_MS: u64 = 30_000;
/// How often a wait is noted again: twice it may fail.
pub(super) const RENEWAL: Duration = Duration::from_secs(10);

/// The waits of this process, and for whom they are.
#[derive(Default)]
pub(super) struct OpenWaits(Mutex<BTreeMap<(AgentId, CorrelationId), AgentId>>);

impl OpenWaits {
    /// Says whether somebody's answer is waited for here.
    fn is_awaited(&self, waiter: AgentId, correlation: CorrelationId, from: Sender) -> bool {
        match (self.lock().get(&(waiter, correlation)), from) {
            (Some(_), Sender::System) => true,
            (Some(awaited), Sender::Agent(from)) => *awaited == from,
            (None, Sender::System | Sender::Agent(_)) => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(AgentId, CorrelationId), AgentId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait that is noted in the store, until this is ended or dropped.
pub(super) struct OpenWait {
    shared: Arc<Shared>,
    wait: Wait,
    is_noted: bool,
}

impl OpenWait {
    /// Begins a wait that lasts until `wait.until` at most, unless it closes a ring.
    pub(super) async fn begin(shared: &Arc<Shared>, wait: Wait) -> Result<Self, RequestError> {
        shared.open_waits.lock().insert((wait.waiter, wait.correlation), wait.awaited);
        // Made before the store is asked: this may be given up while the store writes.
        let mut open = Self { shared: Arc::clone(shared), wait, is_noted: true };
        if let Err(error) = open.note().await {
            open.is_noted = !matches!(error, RequestError::Deadlock { .. });
            return Err(error);
        }
        Ok(open)
    }

    /// Notes again that the wait goes on. If it was forgotten because this process stood still, it may close a ring.
    pub(super) async fn renew(&self) -> Result<(), RequestError> {
        match self.note().await {
            Err(RequestError::Store(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, agent = %self.wait.waiter, "cannot note that an agent still waits");
                Ok(())
            }
            noted => noted,
        }
    }

    /// Ends the wait.
    pub(super) async fn end(mut self) {
        self.shared.end_wait(self.wait.waiter, self.wait.correlation).await;
        self.is_noted = false;
    }

    async fn note(&self) -> Result<(), RequestError> {
        let now = self.shared.parts.clock.now();
        let leased = Wait { until: self.wait.until.min(now + LEASE_MS), ..self.wait };
        let noted = self.shared.parts.waits.begin_wait(leased, now).await?;
        noted.map_err(|ring| RequestError::Deadlock { ring })
    }
}

impl Drop for OpenWait {
    fn drop(&mut self) {
        let (waiter, correlation) = (self.wait.waiter, self.wait.correlation);
        self.shared.open_waits.lock().remove(&(waiter, correlation));
        if self.is_noted {
            let shared = Arc::clone(&self.shared);
            self.shared.runtime.spawn(async move { shared.end_wait(waiter, correlation).await });
        }
    }
}

impl Shared {
    /// Ends the wait for an answer with the answer. Otherwise whoever answers and then asks back would close a ring with
    /// somebody who only has not read the answer yet.
    pub(super) async fn end_answered_wait(&self, message: &Message) {
        let (Address::Agent(asker), Some(correlation)) = (&message.address, message.correlation) else {
            return;
        };
        let is_answer = match message.kind {
            // The store takes them only from who was asked.
            MessageKind::Response => true,
            // Anybody may send one. If who asked is in another process, it ends its wait itself when it has the answer.
            MessageKind::Error => self.open_waits.is_awaited(*asker, correlation, message.sender),
            MessageKind::Event | MessageKind::Request | MessageKind::Broadcast => false,
        };
        if is_answer {
            self.end_wait(*asker, correlation).await;
        }
    }

    /// Ends a wait. One that cannot be ended is forgotten a little later.
    async fn end_wait(&self, waiter: AgentId, correlation: CorrelationId) {
        if let Err(error) = self.parts.waits.end_wait(waiter, correlation).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, agent = %waiter, "a wait is not ended before its time");
        }
    }
}
