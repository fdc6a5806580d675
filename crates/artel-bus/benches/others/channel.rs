//! Bare channels of tokio: what it costs to hand a message over, and nothing else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::figures::Figures;
use super::single::{Listen, single_times};
use crate::{AHEAD_MAX, SUBSCRIBERS, Size};

type Sender<M> = mpsc::Sender<Arc<M>>;
type Receiver<M> = mpsc::Receiver<Arc<M>>;
type Asked<M> = (Arc<M>, oneshot::Sender<Arc<M>>);

impl<M: Send + Sync + 'static> Listen for Receiver<M> {
    async fn next(&mut self) {
        self.recv().await.unwrap();
    }
}

/// Measures them with messages that `message` makes.
pub(crate) async fn measure_channels<M: Send + Sync + 'static>(
    size: Size,
    message: fn() -> Arc<M>,
) -> Figures {
    let (senders, receivers) = channels(1);
    let single = single_times(receivers, size.pings, async || {
        let message = message();
        let start = Instant::now();
        send_to_all(&senders, message).await;
        start
    });
    Figures {
        deliveries_per_second: deliveries(size, message).await,
        single: single.await,
        requests_per_second: requests(size.askers, size.requests, message).await.0,
        waits: requests(1, size.pings, message).await.1,
    }
}

fn channels<M>(capacity: usize) -> (Vec<Sender<M>>, Vec<Receiver<M>>) {
    (0..SUBSCRIBERS).map(|_| mpsc::channel(capacity)).unzip()
}

async fn send_to_all<M>(senders: &[Sender<M>], message: Arc<M>) {
    for sender in senders {
        // Nobody is left when a receiver has heard all it wanted.
        let _ = sender.send(Arc::clone(&message)).await;
    }
}

async fn deliveries<M: Send + Sync + 'static>(size: Size, message: fn() -> Arc<M>) -> f64 {
    let (senders, receivers) = channels(usize::try_from(AHEAD_MAX).unwrap());
    let mut subscribers = JoinSet::new();
    for mut receiver in receivers {
        subscribers.spawn(async move { while receiver.recv().await.is_some() {} });
    }
    let messages: Vec<Arc<M>> = (0..size.messages).map(|_| message()).collect();
    let start = Instant::now();
    let publisher = tokio::spawn(async move {
        for message in messages {
            send_to_all(&senders, message).await;
        }
    });
    publisher.await.unwrap();
    subscribers.join_all().await;
    (size.messages * SUBSCRIBERS) as f64 / start.elapsed().as_secs_f64()
}

/// Returns how many requests a second are answered, and how long each took.
async fn requests<M: Send + Sync + 'static>(
    askers: usize,
    requests: usize,
    message: fn() -> Arc<M>,
) -> (f64, Vec<Duration>) {
    let (ask, mut asked) = mpsc::channel::<Asked<M>>(1024);
    let responder = tokio::spawn(async move {
        while let Some((request, answer)) = asked.recv().await {
            // The request itself is the answer: making one is no part of handing it over.
            let _ = answer.send(request);
        }
    });
    let each = requests / askers;
    let shares: Vec<Vec<Arc<M>>> = (0..askers).map(|_| (0..each).map(|_| message()).collect()).collect();
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for share in shares {
        let ask = ask.clone();
        tasks.spawn(async move {
            let mut took = Vec::new();
            for request in share {
                let start = Instant::now();
                let (answer, answered) = oneshot::channel();
                assert!(ask.send((request, answer)).await.is_ok());
                answered.await.unwrap();
                took.push(start.elapsed());
            }
            took
        });
    }
    let took: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
    let rate = took.len() as f64 / start.elapsed().as_secs_f64();
    responder.abort();
    (rate, took)
}
