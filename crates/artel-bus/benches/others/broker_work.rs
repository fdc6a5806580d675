//! The same work for Redis and NATS: every subscriber, publisher and asker has a connection of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::broker::Broker;
use super::figures::Figures;
use super::single::{Listen as _, single_times};
use crate::{AHEAD_MAX, PAYLOAD_BYTES, SUBSCRIBERS, Size};

/// Messages that are written at once.
const BATCH: usize = 64;
const EVENTS: &str = "bench.events";
const PINGS: &str = "bench.pings";
const QUESTIONS: &str = "bench.questions";
const ANSWERS: &str = "bench.answers";

/// Measures one of them.
pub(crate) async fn measure_broker(broker: &Broker, size: Size) -> Figures {
    Figures {
        deliveries_per_second: deliveries(broker, size).await,
        single: single(broker, size.pings).await,
        requests_per_second: requests(broker, size.askers, size.requests).await.0,
        waits: requests(broker, 1, size.pings).await.1,
    }
}

async fn deliveries(broker: &Broker, size: Size) -> f64 {
    // Both servers throw out who is far behind: the publisher waits for those who listen.
    let room = Arc::new(Semaphore::new(usize::try_from(AHEAD_MAX).unwrap() * SUBSCRIBERS));
    let mut subscribers = JoinSet::new();
    for _ in 0..SUBSCRIBERS {
        let (mut listener, room) = (broker.listener(EVENTS).await, room.clone());
        subscribers.spawn(async move {
            for number in 1..=size.messages {
                listener.next().await;
                if number % BATCH == 0 {
                    room.add_permits(BATCH);
                }
            }
        });
    }
    let mut publisher = broker.publisher().await;
    let start = Instant::now();
    for number in 1..=size.messages {
        publisher.add(EVENTS, &[b'x'; PAYLOAD_BYTES]);
        if number % BATCH == 0 {
            room.acquire_many(u32::try_from(BATCH * SUBSCRIBERS).unwrap()).await.unwrap().forget();
            publisher.flush().await;
        }
    }
    publisher.flush().await;
    subscribers.join_all().await;
    (size.messages * SUBSCRIBERS) as f64 / start.elapsed().as_secs_f64()
}

async fn single(broker: &Broker, pings: usize) -> Vec<Duration> {
    let mut listeners = Vec::new();
    for _ in 0..SUBSCRIBERS {
        listeners.push(broker.listener(PINGS).await);
    }
    let mut publisher = broker.publisher().await;
    single_times(listeners, pings, async || {
        let start = Instant::now();
        publisher.add(PINGS, &[b'x'; PAYLOAD_BYTES]);
        publisher.flush().await;
        start
    })
    .await
}

/// Returns how many requests a second are answered with `open` of them under way, and how long each answer was waited for,
/// which is the time of a request when one is under way.
async fn requests(broker: &Broker, open: usize, requests: usize) -> (f64, Vec<Duration>) {
    let responder = tokio::spawn(respond(broker.clone(), broker.listener(QUESTIONS).await));
    let mut answers = broker.listener(ANSWERS).await;
    let mut questions = broker.publisher().await;
    let start = Instant::now();
    for _ in 0..open {
        questions.add(QUESTIONS, &[b'x'; PAYLOAD_BYTES]);
    }
    let mut took = Vec::new();
    for answered in 1..=requests {
        let start = Instant::now();
        if !answers.has_more() {
            questions.flush().await;
        }
        answers.next().await;
        took.push(start.elapsed());
        if answered + open <= requests {
            questions.add(QUESTIONS, &[b'x'; PAYLOAD_BYTES]);
        }
    }
    let rate = requests as f64 / start.elapsed().as_secs_f64();
    responder.abort();
    (rate, took)
}

async fn respond(broker: Broker, mut questions: super::broker::Listener) {
    let mut answers = broker.publisher().await;
    loop {
        questions.next().await;
        answers.add(ANSWERS, b"{}");
        if !questions.has_more() {
            answers.flush().await;
        }
    }
}
