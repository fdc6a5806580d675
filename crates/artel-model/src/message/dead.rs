//! What became of a message that somebody did not get.

use serde::{Deserialize, Serialize};

use super::envelope::Message;
use crate::id::AgentId;
use crate::time::Timestamp;

/// A message that somebody did not get, and why.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct DeadLetter {
    /// The message.
    pub message: Message,
    /// Who did not get it; nothing when nobody was there.
    pub recipient_id: Option<AgentId>,
    /// Why.
    pub reason: DeadReason,
    /// Since when it is known.
    pub at: Timestamp,
}

/// Why somebody did not get a message.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadReason {
    /// Its time was up before it was read.
    Expired,
    /// The mailbox of one of many recipients was full.
    MailboxFull,
    /// The recipient ended before it read it.
    RecipientEnded,
    /// The queue of a subscriber was full.
    SubscriberBehind,
}

impl DeadReason {
    /// Every reason.
    pub const ALL: &[Self] =
        &[Self::Expired, Self::MailboxFull, Self::RecipientEnded, Self::SubscriberBehind];

    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::MailboxFull => "mailbox_full",
            Self::RecipientEnded => "recipient_ended",
            Self::SubscriberBehind => "subscriber_behind",
        }
    }
}
