//! What somebody wants to send, before it is a message: read from JSON with every problem told at once.

use serde_json::{Map, Value};

use super::envelope::{Address, Message, MessageKind, Priority, Sender, Ttl};
use super::payload::Payload;
use super::topic::Topic;
use crate::id::{CorrelationId, MessageId};
use crate::number::whole;
use crate::time::Timestamp;
use crate::trace::TraceParent;

/// What somebody wants to send.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageDraft {
    /// Its id, when the sender chose one so that sending it twice does no harm.
    pub id: Option<MessageId>,
    /// From whom.
    pub sender: Sender,
    /// To whom, or about what.
    pub address: Address,
    /// What kind.
    pub kind: MessageKind,
    /// What it says.
    pub payload: Payload,
    /// How long it may wait.
    pub ttl: Ttl,
    /// How urgent it is.
    pub priority: Priority,
    /// Which request it is, or answers.
    pub correlation: Option<CorrelationId>,
    /// The place in a trace that it is sent at.
    pub trace_parent: Option<TraceParent>,
}

/// Something that is wrong with what somebody wants to send.
#[derive(Clone, Debug, Eq, PartialEq, serde::Serialize)]
pub struct DraftProblem {
    /// Where, as a JSON path.
    pub path: String,
    /// What is wrong, and how to mend it.
    pub message: String,
}

/// The names of the fields, and the names that team messages have for them.
const FIELDS: &[(&str, &str)] = &[
    ("message_id", ""),
    ("topic", ""),
    ("sender_id", "from_agent_id"),
    ("recipient_id", "to_agent_id"),
    ("message_type", ""),
    ("payload", "content"),
    ("ttl", ""),
    ("priority", ""),
    ("correlation_id", ""),
    ("traceparent", ""),
    ("timestamp", ""),
    ("read", ""),
];

impl MessageDraft {
    /// Makes a draft with the usual time to live and priority.
    pub fn new(sender: Sender, address: Address, kind: MessageKind, payload: Payload) -> Self {
        Self {
            id: None,
            sender,
            address,
            kind,
            payload,
            ttl: Ttl::default(),
            priority: Priority::default(),
            correlation: None,
            trace_parent: None,
        }
    }

    /// Reads what somebody wants to send. The time and the read flag of a message are artel's to say, so what is given
    /// for them does not count.
    pub fn read(document: &Map<String, Value>) -> Result<Self, Vec<DraftProblem>> {
        let mut reader = Reader { document, problems: Vec::new() };
        reader.refuse_unknown();
        let id = reader.text("message_id", |text| text.parse().map_err(|_| "it is not a UUID".to_owned()));
        let sender = reader.text("sender_id", |text| text.parse().map_err(|error| format!("{error}")));
        let topic = reader.text("topic", |text| text.parse::<Topic>().map_err(|error| error.to_string()));
        let recipient = reader.text("recipient_id", |text| {
            Address::recipient(text).map_err(|error| format!("{error}, nor `broadcast`"))
        });
        let kind = reader.text("message_type", read_kind);
        let correlation =
            reader.text("correlation_id", |text| text.parse().map_err(|_| "it is not a UUID".to_owned()));
        let trace_parent = reader
            .text("traceparent", |text| text.parse().map_err(|_| "it is not a W3C traceparent".to_owned()));
        let ttl = reader
            .number("ttl", |number| u32::try_from(number).ok().and_then(|number| Ttl::try_from(number).ok()));
        let priority = reader.number("priority", |number| {
            u8::try_from(number).ok().and_then(|number| Priority::try_from(number).ok())
        });
        let payload = reader.payload();
        let address = reader.address(topic, recipient);
        reader.require("sender_id", sender.is_some());
        reader.require("message_type", kind.is_some());
        if let Some(kind) = kind {
            reader.untold(misfits(kind, address.as_ref(), correlation));
        }
        let draft = match (sender, address, kind, payload) {
            (Some(sender), Some(address), Some(kind), Some(payload)) => Some(Self {
                id,
                sender,
                address,
                kind,
                payload,
                ttl: ttl.unwrap_or_default(),
                priority: priority.unwrap_or_default(),
                correlation,
                trace_parent,
            }),
            _ => None,
        };
        draft.filter(|_| reader.problems.is_empty()).ok_or(reader.problems)
    }

    /// Says what does not fit together.
    pub fn problems(&self) -> Vec<DraftProblem> {
        misfits(self.kind, Some(&self.address), self.correlation)
    }

    /// Makes it a message. A request gets a correlation if it has none.
    pub fn send(self, fresh: MessageId, at: Timestamp) -> Message {
        let id = self.id.unwrap_or(fresh);
        let correlation = match self.kind {
            MessageKind::Request => self.correlation.or(Some(CorrelationId(id.0))),
            MessageKind::Event | MessageKind::Response | MessageKind::Error | MessageKind::Broadcast => {
                self.correlation
            }
        };
        Message {
            id,
            sender: self.sender,
            address: self.address,
            kind: self.kind,
            payload: self.payload,
            timestamp: at,
            ttl: self.ttl,
            priority: self.priority,
            correlation,
            trace_parent: self.trace_parent,
        }
    }
}

/// Says what does not fit the kind of a message; an address that is not known fits.
fn misfits(
    kind: MessageKind,
    address: Option<&Address>,
    correlation: Option<CorrelationId>,
) -> Vec<DraftProblem> {
    let problem =
        |path: &str, message: &str| DraftProblem { path: path.to_owned(), message: message.to_owned() };
    let mut problems = Vec::new();
    match (kind, address) {
        (MessageKind::Broadcast, Some(Address::Agent(_) | Address::Topic(_))) => {
            problems.push(problem("/recipient_id", "a message of type `broadcast` goes to `broadcast`"));
        }
        (MessageKind::Response, Some(Address::Topic(_) | Address::Broadcast)) => {
            problems.push(problem("/recipient_id", "a response goes to the agent that asked"));
        }
        (MessageKind::Event | MessageKind::Request | MessageKind::Error, _)
        | (MessageKind::Broadcast, Some(Address::Broadcast) | None)
        | (MessageKind::Response, Some(Address::Agent(_)) | None) => {}
    }
    if kind == MessageKind::Response && correlation.is_none() {
        problems.push(problem("/correlation_id", "a response carries the `correlation_id` of its request"));
    }
    problems
}

fn read_kind(text: &str) -> Result<MessageKind, String> {
    let found = MessageKind::ALL.iter().find(|kind| kind.as_str() == text).copied();
    found.ok_or_else(|| {
        let words: Vec<&str> = MessageKind::ALL.iter().map(|kind| kind.as_str()).collect();
        format!("it is one of {}", words.join(", "))
    })
}

struct Reader<'a> {
    document: &'a Map<String, Value>,
    problems: Vec<DraftProblem>,
}

impl Reader<'_> {
    fn problem(&mut self, field: &str, message: impl Into<String>) {
        self.problems.push(DraftProblem { path: format!("/{field}"), message: message.into() });
    }

    /// Adds problems, but for those of fields about which something is said already.
    fn untold(&mut self, problems: Vec<DraftProblem>) {
        for problem in problems {
            if !self.problems.iter().any(|told| told.path == problem.path) {
                self.problems.push(problem);
            }
        }
    }

    fn refuse_unknown(&mut self) {
        let is_known = |name: &String| FIELDS.iter().any(|(field, other)| name == field || name == other);
        let unknown: Vec<String> = self.document.keys().filter(|name| !is_known(name)).cloned().collect();
        for name in unknown {
            self.problem(&name, "a message has no such field");
        }
    }

    /// Returns a field under either of its names, and the name it was found under; `null` is as good as nothing.
    fn field(&mut self, name: &'static str) -> Option<(&'static str, Value)> {
        let other = FIELDS.iter().find(|(field, _)| *field == name).map_or("", |(_, other)| *other);
        let get = |name: &str| self.document.get(name).filter(|value| !value.is_null()).cloned();
        match (get(name), get(other)) {
            (Some(_), Some(_)) => {
                self.problem(other, format!("it is another name of `{name}`: give one of them"));
                None
            }
            (Some(value), None) => Some((name, value)),
            (None, Some(value)) => Some((other, value)),
            (None, None) => None,
        }
    }

    fn text<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let (name, value) = self.field(name)?;
        let read = match value.as_str() {
            Some(text) => read(text),
            None => Err("it is a text".to_owned()),
        };
        read.map_err(|message| self.problem(name, message)).ok()
    }

    fn number<T>(&mut self, name: &'static str, read: impl Fn(u64) -> Option<T>) -> Option<T> {
        let (name, value) = self.field(name)?;
        let found = value.as_number().and_then(whole).and_then(read);
        if found.is_none() {
            let range =
                if name == "ttl" { "a number of seconds from 1 to 3600" } else { "a number from 1 to 10" };
            self.problem(name, format!("it is {range}"));
        }
        found
    }

    fn payload(&mut self) -> Option<Payload> {
        match self.field("payload") {
            None => {
                self.require("payload", false);
                None
            }
            Some((name, Value::Object(object))) => {
                Payload::new(object).map_err(|error| self.problem(name, error.to_string())).ok()
            }
            Some((name, _)) => {
                self.problem(name, "it is a JSON object");
                None
            }
        }
    }

    fn address(&mut self, topic: Option<Topic>, recipient: Option<Address>) -> Option<Address> {
        let has = |name: &str| self.document.get(name).is_some_and(|value| !value.is_null());
        let is_given = (has("topic"), has("recipient_id") || has("to_agent_id"));
        match is_given {
            (true, true) => self.problem("topic", "a message has either `topic` or `recipient_id`, not both"),
            (false, false) => self.problem("recipient_id", "say `topic`, or `recipient_id`"),
            (true, false) | (false, true) => return topic.map(Address::Topic).or(recipient),
        }
        None
    }

    fn require(&mut self, name: &'static str, is_there: bool) {
        let path = format!("/{name}");
        let other = FIELDS.iter().find(|(field, _)| *field == name).map_or("", |(_, other)| *other);
        let is_told = self.problems.iter().any(|problem| {
            problem.path == path || (!other.is_empty() && problem.path == format!("/{other}"))
        });
        if !is_there && !is_told {
            self.problem(name, "it is missing");
        }
    }
}
