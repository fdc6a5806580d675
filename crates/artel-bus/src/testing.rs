//! Messages for the tests beside the code.

use std::sync::Arc;

use artel_model::id::{CorrelationId, MessageId};
use artel_model::message::{Address, Message, MessageKind, Payload, Priority, Sender, Ttl};
use artel_model::time::Timestamp;
use uuid::Uuid;

pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(1_000_000)
}

pub(crate) fn message(number: u128, topic: &str, kind: MessageKind, priority: u8) -> Arc<Message> {
    Arc::new(Message {
        id: MessageId(Uuid::from_u128(number)),
        sender: Sender::System,
        address: Address::Topic(topic.parse().expect("a topic")),
        kind,
        payload: Payload::default(),
        timestamp: now(),
        ttl: Ttl::default(),
        priority: Priority::try_from(priority).expect("a priority"),
        correlation: Some(CorrelationId(Uuid::from_u128(number))),
        trace_parent: None,
    })
}

pub(crate) fn event(number: u128, topic: &str) -> Arc<Message> {
    message(number, topic, MessageKind::Event, 5)
}

pub(crate) fn request(number: u128, topic: &str) -> Arc<Message> {
    message(number, topic, MessageKind::Request, 5)
}

pub(crate) fn id(message: &Message) -> u128 {
    message.id.0.as_u128()
}
