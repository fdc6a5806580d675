//! Messages, a clock that tests move, and a place where dead letters are collected.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use artel_bus::{BusConfig, Clock, Delivery, Subscription, Undelivered};
use artel_model::id::{CorrelationId, MessageId};
use artel_model::message::{Address, DeadReason, Message, MessageKind, Payload, Priority, Sender, Ttl};
use artel_model::time::Timestamp;
use tokio::time::timeout;
use uuid::Uuid;

/// How long a test waits for what must come. Whoever waits that long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A clock that tests move.
#[derive(Clone, Default)]
pub(crate) struct Time(Arc<AtomicI64>);

impl Time {
    pub(crate) fn pass(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    fn clock(&self) -> Clock {
        let time = self.0.clone();
        Clock::new(move || Timestamp::from_millis(time.load(Ordering::SeqCst)))
    }
}

/// Everything that a bus under test is made of.
#[derive(Clone, Default)]
pub(crate) struct World {
    pub(crate) time: Time,
    dead: Arc<Mutex<Vec<(u128, DeadReason)>>>,
}

impl World {
    pub(crate) fn config(&self) -> BusConfig {
        let dead = self.dead.clone();
        let take = move |letter: Undelivered| {
            dead.lock().unwrap().push((number(&letter.message), letter.reason));
        };
        BusConfig { clock: self.time.clock(), dead_letters: Arc::new(take) }
    }

    /// Returns the dead letters so far, sorted.
    pub(crate) fn dead(&self) -> Vec<(u128, DeadReason)> {
        let mut dead = self.dead.lock().unwrap().clone();
        dead.sort_unstable();
        dead
    }
}

pub(crate) fn message(number: u128, topic: &str, kind: MessageKind) -> Message {
    Message {
        id: MessageId(Uuid::from_u128(number)),
        sender: Sender::System,
        address: Address::Topic(topic.parse().unwrap()),
        kind,
        payload: Payload::default(),
        timestamp: Timestamp::from_millis(0),
        ttl: Ttl::default(),
        priority: Priority::default(),
        correlation: None,
        trace_parent: None,
    }
}

pub(crate) fn event(number: u128, topic: &str) -> Arc<Message> {
    Arc::new(message(number, topic, MessageKind::Event))
}

pub(crate) fn urgent(number: u128, topic: &str, priority: u8) -> Arc<Message> {
    let priority = Priority::try_from(priority).unwrap();
    Arc::new(Message { priority, ..message(number, topic, MessageKind::Event) })
}

pub(crate) fn request(number: u128, topic: &str) -> Arc<Message> {
    let correlation = Some(CorrelationId(Uuid::from_u128(number)));
    Arc::new(Message { correlation, ..message(number, topic, MessageKind::Request) })
}

/// Answers a request; the answer has the number of the request and a half of the numbers for itself.
pub(crate) fn answer_to(request: &Message) -> Arc<Message> {
    let answer = message(number(request) + (1 << 100), "any", MessageKind::Response);
    Arc::new(Message { correlation: request.correlation, ..answer })
}

pub(crate) fn number(message: &Message) -> u128 {
    message.id.0.as_u128()
}

pub(crate) async fn next(subscription: &mut Subscription) -> Delivery {
    let next = timeout(PATIENCE, subscription.next()).await.expect("a message comes");
    next.expect("the bus is open")
}

pub(crate) async fn take(subscription: &mut Subscription, count: usize) -> Vec<u128> {
    let mut numbers = Vec::new();
    for _ in 0..count {
        numbers.push(number(&next(subscription).await.message));
    }
    numbers
}
