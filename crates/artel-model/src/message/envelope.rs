//! The envelope: from whom, to whom, what kind, how urgent, until when. What is in it was checked when it was made.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::payload::Payload;
use super::topic::Topic;
use crate::id::{AgentId, CorrelationId, MessageId};
use crate::limit::MESSAGE_TTL_S_MAX;
use crate::time::Timestamp;
use crate::trace::TraceParent;

/// Seconds a message may wait when nothing is said.
pub const TTL_S_DEFAULT: u32 = 60;
/// How urgent a message is when nothing is said.
pub const PRIORITY_DEFAULT: u8 = 5;
/// How urgent the least urgent message is.
pub const PRIORITY_LOWEST: u8 = 10;
/// The word for artel itself as a sender.
pub const SYSTEM: &str = "system";
/// The word for all agents as recipients.
pub const BROADCAST: &str = "broadcast";

/// A message.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(into = "Wire", try_from = "Wire")]
pub struct Message {
    /// Its id; a second one of the same sender with the same id is the same message.
    pub id: MessageId,
    /// From whom.
    pub sender: Sender,
    /// To whom, or about what.
    pub address: Address,
    /// What kind.
    pub kind: MessageKind,
    /// What it says.
    pub payload: Payload,
    /// When it was sent.
    pub timestamp: Timestamp,
    /// How long it may wait.
    pub ttl: Ttl,
    /// How urgent it is.
    pub priority: Priority,
    /// Which request it is, or answers.
    pub correlation: Option<CorrelationId>,
    /// The place in a trace that it was sent at.
    pub trace_parent: Option<TraceParent>,
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
pub enum Sender {
    /// artel itself, or a person who uses it.
    System,
    /// An agent.
    Agent(AgentId),
}

/// Where a message goes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Address {
    /// To whoever listens to a topic.
    Topic(Topic),
    /// To one agent.
    Agent(AgentId),
    /// To every living agent but the sender.
    Broadcast,
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// Something happened.
    Event,
    /// Somebody wants an answer.
    Request,
    /// The answer.
    Response,
    /// Something went wrong.
    Error,
    /// Everybody should know.
    Broadcast,
}

impl MessageKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::Event, Self::Request, Self::Response, Self::Error, Self::Broadcast];

    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Request => "request",
            Self::Response => "response",
            Self::Error => "error",
            Self::Broadcast => BROADCAST,
        }
    }
}

/// How long a message may wait, in seconds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "u32", try_from = "u32")]
pub struct Ttl(u32);

/// How urgent a message is: 1 is delivered first, 10 last.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "u8", try_from = "u8")]
pub struct Priority(u8);

/// A number out of its range.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{what} is from 1 to {max}")]
pub struct OutOfRange {
    what: &'static str,
    max: u32,
}

impl Ttl {
    /// Returns the seconds.
    pub fn seconds(self) -> u32 {
        self.0
    }
}

impl Priority {
    /// Returns the number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for Ttl {
    fn default() -> Self {
        Self(TTL_S_DEFAULT)
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self(PRIORITY_DEFAULT)
    }
}

impl TryFrom<u32> for Ttl {
    type Error = OutOfRange;

    fn try_from(seconds: u32) -> Result<Self, OutOfRange> {
        let fits = (1..=MESSAGE_TTL_S_MAX).contains(&seconds);
        fits.then_some(Self(seconds)).ok_or(OutOfRange { what: "`ttl`", max: MESSAGE_TTL_S_MAX })
    }
}

impl TryFrom<u8> for Priority {
    type Error = OutOfRange;

    fn try_from(number: u8) -> Result<Self, OutOfRange> {
        let fits = (1..=PRIORITY_LOWEST).contains(&number);
        fits.then_some(Self(number)).ok_or(OutOfRange { what: "`priority`", max: PRIORITY_LOWEST.into() })
    }
}

impl From<Ttl> for u32 {
    fn from(ttl: Ttl) -> Self {
        ttl.0
    }
}

impl From<Priority> for u8 {
    fn from(priority: Priority) -> Self {
        priority.0
    }
}

impl Message {
    /// Returns the moment from which on it is not delivered any more.
    pub fn expires_at(&self) -> Timestamp {
        self.timestamp + u64::from(self.ttl.0) * 1000
    }

    /// Says whether its time is up.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.expires_at()
    }
}

/// An id that is neither an agent's nor one of the words that stand for somebody.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{}` is not the id of an agent", .0.escape_default())]
pub struct NoAgentId(pub(super) String);

impl FromStr for Sender {
    type Err = NoAgentId;

    fn from_str(text: &str) -> Result<Self, NoAgentId> {
        match text {
            SYSTEM => Ok(Self::System),
            other => other.parse().map(Self::Agent).map_err(|_| NoAgentId(other.to_owned())),
        }
    }
}

impl TryFrom<String> for Sender {
    type Error = NoAgentId;

    fn try_from(text: String) -> Result<Self, NoAgentId> {
        text.parse()
    }
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str(SYSTEM),
            Self::Agent(agent) => agent.fmt(f),
        }
    }
}

impl From<Sender> for String {
    fn from(sender: Sender) -> Self {
        sender.to_string()
    }
}

impl Address {
    /// Reads the id of a recipient.
    pub(super) fn recipient(text: &str) -> Result<Self, NoAgentId> {
        match text {
            BROADCAST => Ok(Self::Broadcast),
            other => other.parse().map(Self::Agent).map_err(|_| NoAgentId(other.to_owned())),
        }
    }
}

/// A message as documents and stores write it.
#[derive(Deserialize, Serialize)]
struct Wire {
    message_id: MessageId,
    topic: Option<Topic>,
    sender_id: Sender,
    recipient_id: Option<String>,
    message_type: MessageKind,
    payload: Payload,
    timestamp: Timestamp,
    ttl: Ttl,
    priority: Priority,
    correlation_id: Option<CorrelationId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    traceparent: Option<TraceParent>,
}

impl From<Message> for Wire {
    fn from(message: Message) -> Self {
        let (topic, recipient_id) = match message.address {
            Address::Topic(topic) => (Some(topic), None),
            Address::Agent(agent) => (None, Some(agent.to_string())),
            Address::Broadcast => (None, Some(BROADCAST.to_owned())),
        };
        Self {
            message_id: message.id,
            topic,
            sender_id: message.sender,
            recipient_id,
            message_type: message.kind,
            payload: message.payload,
            timestamp: message.timestamp,
            ttl: message.ttl,
            priority: message.priority,
            correlation_id: message.correlation,
            traceparent: message.trace_parent,
        }
    }
}

impl TryFrom<Wire> for Message {
    type Error = String;

    fn try_from(wire: Wire) -> Result<Self, String> {
        let address = match (wire.topic, wire.recipient_id) {
            (Some(topic), None) => Address::Topic(topic),
            (None, Some(recipient)) => Address::recipient(&recipient).map_err(|error| error.to_string())?,
            (Some(_), Some(_)) | (None, None) => {
                return Err("a message has either `topic` or `recipient_id`".to_owned());
            }
        };
        Ok(Self {
            id: wire.message_id,
            sender: wire.sender_id,
            address,
            kind: wire.message_type,
            payload: wire.payload,
            timestamp: wire.timestamp,
            ttl: wire.ttl,
            priority: wire.priority,
            correlation: wire.correlation_id,
            trace_parent: wire.traceparent,
        })
    }
}
