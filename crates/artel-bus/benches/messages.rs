//! What the bus costs: deliveries from one publisher to ten subscribers, requests and their answers, and how long a message
//! takes, within the process and through a Redis of its own; beside them bare channels, Redis and NATS with the same work.
//!
//! `cargo bench -p artel-bus --bench messages` prints a table. The servers are started from scripts; what is not installed is
//! said.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures and prints"
)]

#[path = "others/mod.rs"]
mod others;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use artel_bus::{
    Bus, BusConfig, Clock, InProcessBus, RedisBus, RedisBusConfig, SubscribeOptions, Subscription,
};
use artel_model::id::{CorrelationId, MessageId};
use artel_model::message::{Address, Message, MessageKind, Payload, Priority, Sender, Ttl};
use artel_model::time::Timestamp;
use serde_json::Map;
use tokio::task::JoinSet;
use uuid::Uuid;

use others::{Broker, Figures, Listen, Server, measure_broker, measure_channels, print_head, single_times};

const SUBSCRIBERS: usize = 10;
const PAYLOAD_BYTES: usize = 256;
/// Messages that a publisher may be ahead of its slowest subscriber.
const AHEAD_MAX: u64 = 4096;

/// How much is measured.
#[derive(Clone, Copy)]
struct Size {
    publishers: usize,
    messages: usize,
    askers: usize,
    requests: usize,
    pings: usize,
}

const IN_PROCESS: Size =
    Size { publishers: 1, messages: 300_000, askers: 64, requests: 200_000, pings: 20_000 };
const THROUGH_REDIS: Size =
    Size { publishers: 64, messages: 50_000, askers: 64, requests: 20_000, pings: 3000 };

/// For servers that every message goes through.
const BROKER: Size = Size { publishers: 1, messages: 100_000, askers: 64, requests: 50_000, pings: 5000 };

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    print_head();
    runtime.block_on(async {
        let floor = measure_channels(IN_PROCESS, || message("bench.events", MessageKind::Event)).await;
        floor.print("bare tokio");
        measure(Arc::new(InProcessBus::new(config())), IN_PROCESS).await.print("in process");
        match Server::redis() {
            Ok(server) => through_redis(&server).await,
            Err(why) => println!("Redis could not be run: {why}"),
        }
        match Server::nats() {
            Ok(server) => {
                let address = server.url.trim_start_matches("nats://").to_owned();
                measure_broker(&Broker::Nats { address }, BROKER).await.print("NATS");
            }
            Err(why) => println!("NATS could not be run: {why}"),
        }
    });
}

async fn through_redis(server: &Server) {
    keep_nothing(server).await;
    let config = RedisBusConfig::new(&server.url, Uuid::new_v4(), config());
    let bus = Arc::new(RedisBus::connect(config).await.unwrap());
    measure(bus, THROUGH_REDIS).await.print("through Redis");
    let socket = server.url.trim_start_matches("redis+unix://").to_owned();
    measure_broker(&Broker::Redis { socket }, BROKER).await.print("Redis pub/sub");
}

/// Lets Redis answer without waiting for the disk, as one for live messages would.
async fn keep_nothing(server: &Server) {
    let client = redis::Client::open(server.url.as_str()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut command = redis::cmd("CONFIG");
    command.arg("SET").arg("appendonly").arg("no");
    command.query_async::<()>(&mut connection).await.unwrap();
}

fn config() -> BusConfig {
    let (base, start) = (SystemTime::now().duration_since(UNIX_EPOCH).unwrap(), Instant::now());
    BusConfig::new(Clock::new(move || {
        Timestamp::from_millis(i64::try_from((base + start.elapsed()).as_millis()).unwrap())
    }))
}

async fn measure(bus: Arc<dyn Bus>, size: Size) -> Figures {
    Figures {
        deliveries_per_second: deliveries(&bus, size).await,
        single: latencies(&bus, size.pings).await,
        requests_per_second: requests(&bus, size).await.0,
        // How long one takes is told by one that is not in a crowd.
        waits: requests(&bus, Size { askers: 1, requests: size.pings, ..size }).await.1,
    }
}

/// Returns how many messages a second reach all subscribers together.
async fn deliveries(bus: &Arc<dyn Bus>, size: Size) -> f64 {
    let mut subscribers = JoinSet::new();
    for _ in 0..SUBSCRIBERS {
        let mut subscription =
            bus.subscribe("bench.events".parse().unwrap(), SubscribeOptions::default()).unwrap();
        subscribers.spawn(async move {
            for _ in 0..size.messages {
                subscription.next().await.unwrap();
            }
        });
    }
    let messages: Vec<_> = (0..size.messages).map(|_| message("bench.events", MessageKind::Event)).collect();
    let start = Instant::now();
    let mut publishers = JoinSet::new();
    for first in 0..size.publishers {
        let (bus, own) = (bus.clone(), messages.iter().skip(first).step_by(size.publishers));
        let own: Vec<Arc<Message>> = own.cloned().collect();
        publishers.spawn(async move {
            for (sent, message) in own.into_iter().enumerate() {
                bus.publish(message).await.unwrap();
                if sent % 256 == 0 {
                    // Nobody is refused in what is measured here.
                    while bus.counts().waiting > AHEAD_MAX * SUBSCRIBERS as u64 / 2 {
                        tokio::task::yield_now().await;
                    }
                }
            }
        });
    }
    publishers.join_all().await;
    subscribers.join_all().await;
    (size.messages * SUBSCRIBERS) as f64 / start.elapsed().as_secs_f64()
}

impl Listen for Subscription {
    async fn next(&mut self) {
        Subscription::next(self).await.unwrap();
    }
}

/// Returns how long single messages take from the publisher to one of the subscribers, who all wait.
async fn latencies(bus: &Arc<dyn Bus>, pings: usize) -> Vec<Duration> {
    let subscriptions = (0..SUBSCRIBERS)
        .map(|_| bus.subscribe("bench.ping".parse().unwrap(), SubscribeOptions::default()).unwrap());
    single_times(subscriptions.collect(), pings, async || {
        let message = message("bench.ping", MessageKind::Event);
        let start = Instant::now();
        bus.publish(message).await.unwrap();
        start
    })
    .await
}

/// Returns how many requests a second are answered, and how long each took.
async fn requests(bus: &Arc<dyn Bus>, size: Size) -> (f64, Vec<Duration>) {
    let mut requests = bus.subscribe("bench.ask".parse().unwrap(), SubscribeOptions::default()).unwrap();
    let responder = tokio::spawn({
        let bus = bus.clone();
        async move {
            let mut answers = JoinSet::new();
            let is_quick = size.publishers == 1;
            for _ in 0..size.requests {
                let asked = requests.next().await.unwrap().message;
                let answer = answer_to(&asked);
                if is_quick {
                    bus.respond(answer).await.unwrap();
                } else {
                    let bus = bus.clone();
                    answers.spawn(async move { bus.respond(answer).await.unwrap() });
                }
            }
            answers.join_all().await;
        }
    });
    let each = size.requests / size.askers;
    let shares: Vec<Vec<Arc<Message>>> = (0..size.askers)
        .map(|_| (0..each).map(|_| message("bench.ask", MessageKind::Request)).collect())
        .collect();
    let start = Instant::now();
    let mut askers = JoinSet::new();
    for share in shares {
        let bus = bus.clone();
        askers.spawn(async move {
            let mut took = Vec::new();
            for asked in share {
                let start = Instant::now();
                bus.request(asked, Duration::from_secs(10)).await.unwrap();
                took.push(start.elapsed());
            }
            took
        });
    }
    let took: Vec<Duration> = askers.join_all().await.into_iter().flatten().collect();
    let rate = took.len() as f64 / start.elapsed().as_secs_f64();
    responder.abort();
    (rate, took)
}

fn message(topic: &str, kind: MessageKind) -> Arc<Message> {
    let id = Uuid::new_v4();
    let mut payload = Map::new();
    payload.insert("text".to_owned(), "x".repeat(PAYLOAD_BYTES).into());
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Arc::new(Message {
        id: MessageId(id),
        sender: Sender::System,
        address: Address::Topic(topic.parse().unwrap()),
        kind,
        payload: Payload::new(payload).unwrap(),
        timestamp: Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap()),
        ttl: Ttl::default(),
        priority: Priority::default(),
        correlation: Some(CorrelationId(id)),
        trace_parent: None,
    })
}

fn answer_to(request: &Message) -> Arc<Message> {
    Arc::new(Message {
        id: MessageId(Uuid::from_u128(!request.id.0.as_u128())),
        sender: Sender::System,
        address: request.address.clone(),
        kind: MessageKind::Response,
        payload: Payload::default(),
        timestamp: request.timestamp,
        ttl: request.ttl,
        priority: request.priority,
        correlation: request.correlation,
        trace_parent: None,
    })
}
