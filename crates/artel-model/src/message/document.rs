//! A message as it is shown to the outside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::envelope::{Address, Message, MessageKind};
use crate::id::{CorrelationId, MessageId};
use crate::time::Timestamp;
use crate::trace::TraceParent;

/// A message, and whether its reader had read it before.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct MessageDocument {
    /// Its id; a second one with the same id is the same message.
    #[schemars(with = "uuid::Uuid")]
    pub message_id: MessageId,
    /// What it is about; nothing when it goes to somebody.
    pub topic: Option<String>,
    /// From whom: the id of an agent, or `system`.
    pub sender_id: String,
    /// To whom: the id of an agent, or `broadcast`; nothing when it is about a topic.
    pub recipient_id: Option<String>,
    /// What kind.
    pub message_type: MessageKind,
    /// What it says.
    pub payload: Map<String, Value>,
    /// When it was sent.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub timestamp: Timestamp,
    /// Seconds it may wait.
    #[schemars(range(min = 1, max = 3600))]
    pub ttl: u32,
    /// How urgent it is: 1 first, 10 last.
    #[schemars(range(min = 1, max = 10))]
    pub priority: u8,
    /// Which request it is, or answers.
    #[schemars(with = "Option<uuid::Uuid>")]
    pub correlation_id: Option<CorrelationId>,
    /// The place in a trace that it was sent at, as W3C writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub traceparent: Option<TraceParent>,
    /// Whether its recipient had read it before; nothing where nobody reads it from a mailbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<bool>,
}

impl MessageDocument {
    /// Shows a message.
    pub fn of(message: &Message, read: Option<bool>) -> Self {
        let (topic, recipient_id) = match &message.address {
            Address::Topic(topic) => (Some(topic.to_string()), None),
            Address::Agent(agent) => (None, Some(agent.to_string())),
            Address::Broadcast => (None, Some(MessageKind::Broadcast.as_str().to_owned())),
        };
        Self {
            message_id: message.id,
            topic,
            sender_id: message.sender.to_string(),
            recipient_id,
            message_type: message.kind,
            payload: message.payload.object().clone(),
            timestamp: message.timestamp,
            ttl: message.ttl.seconds(),
            priority: message.priority.get(),
            correlation_id: message.correlation,
            traceparent: message.trace_parent,
            read,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{MessageDraft, Payload, Sender};
    use super::*;

    #[test]
    fn what_is_shown_is_what_is_kept_and_the_read_flag() {
        for address in [Address::Broadcast, Address::Topic("a.b".parse().unwrap())] {
            let payload = Payload::new(Map::from_iter([("x".to_owned(), json!(1))])).unwrap();
            let draft = MessageDraft::new(Sender::System, address, MessageKind::Event, payload);
            let message = draft.send(MessageId(uuid::Uuid::nil()), Timestamp::from_millis(5));
            let mut expected = serde_json::to_value(&message).unwrap();
            expected["read"] = json!(true);
            let shown = MessageDocument::of(&message, Some(true));
            assert_eq!(serde_json::to_value(&shown).unwrap(), expected);
            assert_eq!(serde_json::from_value::<MessageDocument>(expected).unwrap(), shown);
        }
    }
}
