//! What a subscriber did not get, and who is told of it.

use std::sync::Arc;

use artel_model::id::AgentId;
use artel_model::message::{DeadLetter, DeadReason, Message};
use artel_model::time::Timestamp;

/// A message that somebody did not get.
#[derive(Clone, Debug)]
pub struct Undelivered {
    /// The message.
    pub message: Arc<Message>,
    /// Who did not get it, when it is an agent and known.
    pub recipient: Option<AgentId>,
    /// Why.
    pub reason: DeadReason,
    /// When that was decided.
    pub at: Timestamp,
}

/// Is told of every message that somebody did not get.
pub trait DeadLetters: Send + Sync {
    /// Takes one. It is called where messages are published and read, so it is quick and never waits.
    fn take(&self, letter: Undelivered);
}

/// Takes no dead letters; the bus still counts them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotCollected;

impl DeadLetters for NotCollected {
    fn take(&self, _letter: Undelivered) {}
}

impl<F: Fn(Undelivered) + Send + Sync> DeadLetters for F {
    fn take(&self, letter: Undelivered) {
        self(letter);
    }
}

impl From<Undelivered> for DeadLetter {
    fn from(letter: Undelivered) -> Self {
        Self {
            message: Arc::unwrap_or_clone(letter.message),
            recipient_id: letter.recipient,
            reason: letter.reason,
            at: letter.at,
        }
    }
}
