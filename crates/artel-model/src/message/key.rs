//! What a message is kept and recognised under. A sender chooses the ids of its messages, so an id means something only
//! together with its sender: otherwise a caller who guesses an id would make the message of another sender a repetition.

use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

use super::envelope::{Message, Sender};
use crate::id::MessageId;

/// What keys are hashed with, so that none is ever equal to the hash of something else.
const DOMAIN: &[u8] = b"artel message";

/// What a message is kept under: its sender and its id in one.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct MessageKey(pub Uuid);

impl MessageKey {
    /// Returns the key of a message with that id of that sender.
    pub fn of(sender: Sender, id: MessageId) -> Self {
        let sender = match sender {
            Sender::System => Uuid::nil(),
            Sender::Agent(agent) => agent.0,
        };
        let digest = Sha256::new().chain_update(DOMAIN).chain_update(sender).chain_update(id.0).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

impl Message {
    /// Returns what the message is kept under: a second one with the same key is the same message.
    pub fn key(&self) -> MessageKey {
        MessageKey::of(self.sender, self.id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::id::AgentId;

    #[test]
    fn a_key_tells_senders_and_ids_apart() {
        let ids = [1, 2].map(|number| MessageId(Uuid::from_u128(number)));
        let senders = [Sender::System, Sender::Agent(AgentId(ids[0].0)), Sender::Agent(AgentId(ids[1].0))];
        let keys: BTreeSet<MessageKey> =
            senders.iter().flat_map(|sender| ids.map(|id| MessageKey::of(*sender, id))).collect();
        assert_eq!(keys.len(), 6);
        let again = MessageKey::of(Sender::System, ids[0]);
        assert!(keys.contains(&again));
        // Kept in databases, so it never changes.
        assert_eq!(again.0.get_version_num(), 8);
    }
}
