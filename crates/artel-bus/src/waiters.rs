//! Who waits for the answer to which request.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use artel_model::id::CorrelationId;
use artel_model::message::{Message, MessageKind};
use tokio::sync::oneshot;

use crate::error::{BusError, RequestError, RespondError};
use crate::limit::REQUESTS_WAITING_MAX;

/// Everybody who waits for an answer.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    by_correlation: HashMap<CorrelationId, Waiter>,
    next_ticket: u64,
}

#[derive(Debug)]
struct Waiter {
    /// Tells two waits for the same correlation apart, one after the other.
    ticket: u64,
    answer: oneshot::Sender<Arc<Message>>,
    is_heard: bool,
}

/// The wait for one answer; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    waiters: &'a Waiters,
    correlation: CorrelationId,
    ticket: u64,
    answer: oneshot::Receiver<Arc<Message>>,
}

impl Waiters {
    /// Begins to wait for the answer to a request.
    pub(crate) fn wait(&self, request: &Message) -> Result<Waiting<'_>, RequestError> {
        let correlation = match (request.kind, request.correlation) {
            (MessageKind::Request, Some(correlation)) => correlation,
            (MessageKind::Request, None)
            | (MessageKind::Event | MessageKind::Response | MessageKind::Error | MessageKind::Broadcast, _) =>
            {
                return Err(RequestError::NoRequest);
            }
        };
        let (sender, answer) = oneshot::channel();
        let mut inner = self.lock();
        if inner.by_correlation.contains_key(&correlation) {
            return Err(RequestError::CorrelationInUse(correlation));
        }
        if inner.by_correlation.len() >= REQUESTS_WAITING_MAX {
            return Err(RequestError::TooMany);
        }
        let ticket = inner.next_ticket;
        inner.next_ticket += 1;
        inner.by_correlation.insert(correlation, Waiter { ticket, answer: sender, is_heard: false });
        Ok(Waiting { waiters: self, correlation, ticket, answer })
    }

    /// Gives an answer to whoever waits for it.
    pub(crate) fn answer(
        &self,
        correlation: CorrelationId,
        answer: Arc<Message>,
    ) -> Result<(), RespondError> {
        let waiter = self.lock().by_correlation.remove(&correlation);
        let given = waiter.is_some_and(|waiter| waiter.answer.send(answer).is_ok());
        if given { Ok(()) } else { Err(RespondError::NobodyWaits(correlation)) }
    }

    /// Notes that somebody took a request.
    pub(crate) fn hear(&self, correlation: CorrelationId) {
        if let Some(waiter) = self.lock().by_correlation.get_mut(&correlation) {
            waiter.is_heard = true;
        }
    }

    /// Ends every wait.
    pub(crate) fn close(&self) {
        self.lock().by_correlation.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting<'_> {
    pub(crate) fn correlation(&self) -> CorrelationId {
        self.correlation
    }

    /// Says whether somebody took the request.
    pub(crate) fn is_heard(&self) -> bool {
        self.waiters.lock().by_correlation.get(&self.correlation).is_none_or(|waiter| waiter.is_heard)
    }
}

impl Future for Waiting<'_> {
    type Output = Result<Arc<Message>, RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = Pin::new(&mut self.answer).poll(context);
        // The sender goes without an answer only when the bus is closed.
        answer.map(|answer| answer.map_err(|_| RequestError::Bus(BusError::Closed)))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // Whoever has an answer is not in the list any more.
        if self.answer.is_terminated() {
            return;
        }
        let mut inner = self.waiters.lock();
        if inner.by_correlation.get(&self.correlation).is_some_and(|waiter| waiter.ticket == self.ticket) {
            inner.by_correlation.remove(&self.correlation);
        }
    }
}

/// Returns which request a message answers.
pub(crate) fn answered(response: &Message) -> Result<CorrelationId, RespondError> {
    match response.kind {
        MessageKind::Response | MessageKind::Error => response.correlation.ok_or(RespondError::NoResponse),
        MessageKind::Event | MessageKind::Request | MessageKind::Broadcast => Err(RespondError::NoResponse),
    }
}
