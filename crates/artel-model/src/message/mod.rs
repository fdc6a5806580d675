//! Messages between agents: the envelope and its rules, topics, who waits for whom, and what became of a message that
//! nobody got.

mod content;
mod dead;
mod document;
mod draft;
mod envelope;
mod key;
mod payload;
mod ring;
#[cfg(test)]
mod tests;
mod topic;

pub use content::content_problems;
pub use dead::{DeadLetter, DeadReason};
pub use document::MessageDocument;
pub use draft::{DraftProblem, MessageDraft};
pub use envelope::{
    Address, BROADCAST, Message, MessageKind, PRIORITY_DEFAULT, PRIORITY_LOWEST, Priority, SYSTEM, Sender,
    TTL_S_DEFAULT, Ttl,
};
pub use key::MessageKey;
pub use payload::{Payload, PayloadError};
pub use ring::{Wait, find_ring, find_ring_with};
pub use topic::{Topic, TopicError, TopicPattern};
