//! Listening to topics: live over the bus, and from the store what the bus did not carry, each event once.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use artel_bus::{SubscribeOptions, Subscription};
use artel_model::limit::TOPIC_REPLAY_MAX;
use artel_model::message::{DeadLetter, DeadReason, Message, MessageKey, MessageKind, TopicPattern};
use artel_store::{StoreError, TopicEvent};
use tokio::sync::watch;

use super::error::ListenError;
use super::post_office::{Office, Shared};
use super::seen::Seen;

/// How many events are read from the store in one go.
const BATCH: usize = 256;

/// Somebody who listens to topics.
pub struct Listener {
    shared: Arc<Shared>,
    pattern: TopicPattern,
    /// Nothing while the bus is away.
    subscription: Option<Subscription>,
    changes: watch::Receiver<u64>,
    /// The place of the last event that was read from the store.
    after: u64,
    look: Look,
    /// What comes next, some of it perhaps not for the first time.
    ready: VecDeque<Arc<Message>>,
    seen: Seen,
}

/// Whether the store is to be looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Look {
    /// Everything in it has been read.
    Done,
    /// There may be something.
    Due,
    /// It could not be read.
    Failed,
}

impl Office {
    /// Listens to the topics that a pattern means, from this moment on, and first to the last `replay` events before it.
    /// Requests are not repeated, and what is expired is not told. Only so many events are kept: of what other processes
    /// publish between two looks, the last ones are heard. If the bus brings an event so late that twice as many others were
    /// told in the meantime, it is told twice.
    pub async fn listen(&self, pattern: TopicPattern, replay: usize) -> Result<Listener, ListenError> {
        if replay > TOPIC_REPLAY_MAX {
            return Err(ListenError::Replay(replay));
        }
        // Both begin before the store is read, so that nothing falls between what was and what comes.
        let changes = self.shared.poller.subscribe();
        let subscription = subscribe(&self.shared, &pattern);
        let mail = &self.shared.parts.mail;
        let kept =
            mail.topic_events(&pattern, 0, true, TOPIC_REPLAY_MAX).await.map_err(ListenError::Store)?;
        Ok(Listener {
            shared: Arc::clone(&self.shared),
            pattern,
            subscription,
            changes,
            after: kept.last().map_or(0, |event| event.place),
            look: Look::Due,
            ready: self.shared.last(kept, replay),
            seen: Seen::default(),
        })
    }
}

impl Shared {
    /// Returns how many events a listener remembers: what the bus told, the store keeps not much longer.
    fn remembered_max(&self) -> usize {
        2 * self.config.topic_events_max.max(TOPIC_REPLAY_MAX)
    }

    /// Returns the last events that may be told to somebody who comes late, in order.
    fn last(&self, kept: Vec<TopicEvent>, count: usize) -> VecDeque<Arc<Message>> {
        let now = self.parts.clock.now();
        let may_be_told =
            |message: &Message| message.kind != MessageKind::Request && !message.is_expired(now);
        let kept = kept.into_iter().map(|event| event.message);
        let mut told: VecDeque<Arc<Message>> = kept.filter(may_be_told).map(Arc::new).collect();
        told.drain(..told.len().saturating_sub(count));
        told
    }
}

impl Listener {
    /// Waits for the next event. Events come in the order in which they were published here, or kept in the store by other
    /// processes, as far as one can tell: those of others are noticed a little later. Giving up the wait loses nothing.
    pub async fn next(&mut self) -> Arc<Message> {
        loop {
            if let Some(event) = self.next_ready() {
                return event;
            }
            if self.look == Look::Due || self.changes.has_changed().unwrap_or(false) {
                self.look_at_store().await;
            } else if !self.subscribe_again() {
                self.wait().await;
            }
        }
    }

    /// Returns which topics are meant.
    pub fn pattern(&self) -> &TopicPattern {
        &self.pattern
    }

    /// Returns the next event that is ready, is told for the first time, and whose time is not up.
    fn next_ready(&mut self) -> Option<Arc<Message>> {
        while let Some(event) = self.ready.pop_front() {
            if !self.seen.is_first(event.key(), self.shared.remembered_max()) {
                continue;
            }
            let at = self.shared.parts.clock.now();
            if !event.is_expired(at) {
                return Some(event);
            }
            let (message, reason) = (Arc::unwrap_or_clone(event), DeadReason::Expired);
            self.shared.dead.put(DeadLetter { message, recipient_id: None, reason, at });
        }
        None
    }

    /// Reads what the store has kept since the last look, and then what waits on the bus: most of that is the same.
    async fn look_at_store(&mut self) {
        self.changes.borrow_and_update();
        self.look = Look::Due;
        match self.read_batch().await {
            Ok(events) => {
                self.look = if events.len() < BATCH { Look::Done } else { Look::Due };
                self.after = events.last().map_or(self.after, |event| event.place);
                self.ready.extend(events.into_iter().map(|event| Arc::new(event.message)));
            }
            Err(error) => {
                self.look = Look::Failed;
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, pattern = %self.pattern, "cannot read the events that are kept");
            }
        }
        // What waits on the bus is later than what else there is to read in the store.
        if self.look != Look::Due {
            self.take_what_waits();
        }
    }

    /// Takes what waits on the bus. What is known is left out at once: it would be forgotten if there is much before it.
    fn take_what_waits(&mut self) {
        let Some(subscription) = &mut self.subscription else { return };
        let ready: HashSet<MessageKey> = self.ready.iter().map(|event| event.key()).collect();
        while let Some(delivery) = subscription.try_next() {
            let key = delivery.message.key();
            if !ready.contains(&key) && !self.seen.has(key) {
                self.ready.push_back(delivery.message);
            }
        }
    }

    async fn read_batch(&self) -> Result<Vec<TopicEvent>, StoreError> {
        self.shared.parts.mail.topic_events(&self.pattern, self.after, false, BATCH).await
    }

    /// Listens to the bus again after it was away; says whether that began just then.
    fn subscribe_again(&mut self) -> bool {
        if self.subscription.is_some() {
            return false;
        }
        self.subscription = subscribe(&self.shared, &self.pattern);
        if self.subscription.is_some() {
            self.look = Look::Due;
        }
        self.subscription.is_some()
    }

    async fn wait(&mut self) {
        let delivery = async {
            match &mut self.subscription {
                Some(subscription) => subscription.next().await,
                None => std::future::pending().await,
            }
        };
        let pause = Duration::from_millis(self.shared.config.poll_ms);
        tokio::select! {
            delivery = delivery => match delivery {
                Some(delivery) => self.ready.push_back(delivery.message),
                None => self.subscription = None,
            },
            // The sender lives as long as what is shared.
            _ = self.changes.changed() => self.look = Look::Due,
            () = tokio::time::sleep(pause), if self.look == Look::Failed => self.look = Look::Due,
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("pattern", &self.pattern).finish_non_exhaustive()
    }
}

fn subscribe(shared: &Shared, pattern: &TopicPattern) -> Option<Subscription> {
    shared.line.subscribe(pattern, SubscribeOptions::default())
}
