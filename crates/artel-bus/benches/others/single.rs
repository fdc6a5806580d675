//! How long one message takes to one of those who listen, while all of them wait.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Somebody who listens.
pub(crate) trait Listen: Send + 'static {
    /// Waits for the next message.
    fn next(&mut self) -> impl Future<Output = ()> + Send;
}

/// Returns how long messages take one by one. `publish` says when it began, so that making a message does not count.
pub(crate) async fn single_times<L: Listen>(
    mut listeners: Vec<L>,
    pings: usize,
    mut publish: impl AsyncFnMut() -> Instant,
) -> Vec<Duration> {
    let mut last = listeners.pop().unwrap();
    let mut others = JoinSet::new();
    for mut listener in listeners {
        others.spawn(async move {
            loop {
                listener.next().await;
            }
        });
    }
    let (told, mut arrived) = mpsc::channel(1);
    let listener = tokio::spawn(async move {
        for _ in 0..pings {
            last.next().await;
            told.send(Instant::now()).await.unwrap();
        }
    });
    let mut took = Vec::new();
    for _ in 0..pings {
        let start = publish().await;
        took.push(arrived.recv().await.unwrap() - start);
    }
    listener.await.unwrap();
    others.abort_all();
    took
}
