//! Messages: what is sent, and what is read.

use std::collections::BTreeMap;

use artel_model::limit::{API_PAGE_ITEMS_MAX, API_WAIT_MS_MAX, MAILBOX_MAX, MESSAGE_TTL_S_MAX};
use artel_model::message::{DeadReason, MessageDocument, MessageKind, PRIORITY_LOWEST, Topic};
use artel_model::time::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::number::whole;
use crate::shapes;

/// A message to be sent: to an agent, to everybody, or about a topic.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(transform = shapes::message)]
#[schemars(example = json!({
    "sender_id": "5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11", "recipient_id": "0d9f0f5e-8a34-4e0b-8b0e-2f7c9f5f4c22",
    "message_type": "event", "payload": {"text": "the kitchen is free"},
}))]
pub struct MessageRequest {
    /// Its id, so that sending it twice does no harm.
    #[serde(default)]
    pub message_id: Option<Uuid>,
    /// What it is about; either this or `recipient_id`.
    #[serde(default)]
    #[schemars(with = "Option<Topic>")]
    pub topic: Option<String>,
    /// From whom: the id of an agent; an administrator may say `system`.
    #[serde(default)]
    #[schemars(schema_with = "shapes::sender")]
    pub sender_id: Option<String>,
    /// The word of team messages for `sender_id`.
    #[serde(default)]
    #[schemars(schema_with = "shapes::sender")]
    pub from_agent_id: Option<String>,
    /// To whom: the id of an agent; an administrator may say `broadcast`.
    #[serde(default)]
    #[schemars(schema_with = "shapes::recipient")]
    pub recipient_id: Option<String>,
    /// The word of team messages for `recipient_id`.
    #[serde(default)]
    #[schemars(schema_with = "shapes::recipient")]
    pub to_agent_id: Option<String>,
    /// What kind.
    #[serde(default)]
    #[schemars(with = "MessageKind")]
    pub message_type: Option<MessageKind>,
    /// What it says.
    #[serde(default)]
    pub payload: Option<Map<String, Value>>,
    /// The word of team messages for `payload`.
    #[serde(default)]
    pub content: Option<Map<String, Value>>,
    /// Seconds it may wait.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 1, max = MESSAGE_TTL_S_MAX))]
    pub ttl: Option<u32>,
    /// How urgent it is: 1 first, 10 last.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 1, max = PRIORITY_LOWEST))]
    pub priority: Option<u8>,
    /// Which request it is, or answers.
    #[serde(default)]
    pub correlation_id: Option<Uuid>,
    /// The place in a trace that it is sent at, as W3C writes it; that of the request when absent.
    #[serde(default)]
    #[schemars(schema_with = "shapes::traceparent")]
    pub traceparent: Option<String>,
}

/// Makes the schema of an event that is published: a message about a topic, of type `event` when nothing is said.
pub fn published_event(generator: &mut SchemaGenerator) -> Schema {
    shapes::derived::<MessageRequest>(generator, "PublishedEvent", shapes::published_event)
}

/// Makes the schema of a request that an answer is waited for: a message of type `request`.
pub fn waiting_request(generator: &mut SchemaGenerator) -> Schema {
    shapes::derived::<MessageRequest>(generator, "WaitingRequest", shapes::waiting_request)
}

/// A message that was sent.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SentMessage {
    /// The message.
    pub message: MessageDocument,
    /// In whose mailboxes it lies; nobody's for a topic or a duplicate.
    pub recipients: Vec<Uuid>,
    /// Whether a message with its id was sent before, so that nothing was sent.
    pub duplicate: bool,
}

/// How long an answer is waited for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WaitQuery {
    /// Milliseconds to wait.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_WAIT_MS_MAX))]
    pub timeout_ms: Option<u64>,
}

/// What is to be read of a mailbox.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"agent_id": "5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11", "wait_ms": 1000}))]
pub struct MailRequest {
    /// Whose mailbox.
    pub agent_id: Uuid,
    /// Whether what is returned counts as read from then on; so it does when absent.
    #[serde(default)]
    pub mark_read: Option<bool>,
    /// Whether messages that were read before are wanted too.
    #[serde(default)]
    pub with_read: bool,
    /// How many at most.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 1, max = MAILBOX_MAX))]
    pub limit: Option<u32>,
    /// Milliseconds to wait while there is no unread mail.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 0, max = API_WAIT_MS_MAX))]
    pub wait_ms: Option<u64>,
}

/// How a mailbox is looked at; nothing counts as read because of it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MailboxQuery {
    /// Whether messages that were read before are wanted too.
    #[serde(default)]
    pub with_read: bool,
    /// How many at most.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}

/// Messages of a mailbox: the most urgent first, of those the earliest.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Mailbox {
    /// The messages.
    pub items: Vec<MessageDocument>,
}

/// Messages that somebody has read.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "agent_id": "5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11", "message_ids": ["0d9f0f5e-8a34-4e0b-8b0e-2f7c9f5f4c22"],
}))]
pub struct ReadMark {
    /// Whose mailbox.
    pub agent_id: Uuid,
    /// The messages.
    #[schemars(length(max = API_PAGE_ITEMS_MAX))]
    pub message_ids: Vec<Uuid>,
}

/// How many messages were marked.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Marked {
    /// Those that were not read before.
    pub marked: u64,
}

/// Which dead letters a list holds.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DeadQuery {
    /// Who did not get them; only an administrator may leave it out.
    #[serde(default)]
    pub agent_id: Option<Uuid>,
    /// The `next` of the page before.
    #[serde(default)]
    #[schemars(schema_with = "shapes::cursor")]
    pub after: Option<String>,
    /// Items on one page.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}

/// A message that somebody did not get.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct DeadMessage {
    /// The message.
    pub message: MessageDocument,
    /// Who did not get it; nothing when nobody was there.
    pub recipient_id: Option<Uuid>,
    /// Why.
    #[schemars(extend("enum" = DeadReason::ALL.iter().map(|reason| reason.as_str()).collect::<Vec<_>>()))]
    pub reason: String,
    /// Since when it is known.
    pub at: Timestamp,
}

/// How many messages there are.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct MessageCounts {
    /// In mailboxes, unread.
    pub unread: u64,
    /// In mailboxes, read.
    pub read: u64,
    /// Dead letters ever, by reason.
    pub dead: BTreeMap<String, u64>,
    /// Dead letters of this process that could not be kept.
    pub unkept: u64,
}
