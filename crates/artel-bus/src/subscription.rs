//! Somebody who listens. Dropping it ends the subscription; what still waited is told as dead letters.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use artel_model::message::{Message, TopicPattern};

use crate::hub::Hub;
use crate::queue::Queue;

/// A message for a subscriber.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The message.
    pub message: Arc<Message>,
    /// Whether it was kept or just came.
    pub origin: Origin,
}

/// Where a delivered message comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// It was published before the subscription began.
    Replay,
    /// It was published since.
    Live,
}

/// Somebody who listens to topics.
pub struct Subscription {
    hub: Arc<Hub>,
    queue: Arc<Queue>,
    pattern: TopicPattern,
}

impl Subscription {
    pub(crate) fn new(hub: Arc<Hub>, queue: Arc<Queue>, pattern: TopicPattern) -> Self {
        Self { hub, queue, pattern }
    }

    /// Waits for the next message: of those that wait the most urgent, and of these the one that came first. Nothing when
    /// the bus is closed. Giving up the wait loses nothing.
    pub async fn next(&mut self) -> Option<Delivery> {
        let mut expired = Vec::new();
        poll_fn(|context| {
            let taken = self.queue.poll_take(context, self.hub.clock(), &mut expired);
            let delivery = match &taken {
                Poll::Ready(delivery) => delivery.as_ref(),
                Poll::Pending => None,
            };
            self.hub.took(&self.queue, delivery, std::mem::take(&mut expired));
            taken
        })
        .await
    }

    /// Returns the next message if one waits.
    pub fn try_next(&mut self) -> Option<Delivery> {
        let mut expired = Vec::new();
        let taken = self.queue.take(self.hub.clock(), &mut expired);
        self.hub.took(&self.queue, taken.as_ref(), expired);
        taken
    }

    /// Returns how many messages were refused because too many waited.
    pub fn missed(&self) -> u64 {
        self.queue.refused()
    }

    /// Returns which topics are meant.
    pub fn pattern(&self) -> &TopicPattern {
        &self.pattern
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.unsubscribe(&self.pattern, &self.queue);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("pattern", &self.pattern).finish_non_exhaustive()
    }
}
