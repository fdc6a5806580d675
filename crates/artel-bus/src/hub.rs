//! Where messages meet subscriptions within one process. Both buses end here: one gives it what is published, the other
//! what it reads from Redis.
//!
//! One lock orders everything: a message is remembered, kept for those who come late and put into all queues at once, so no
//! subscriber can fall between replay and live. Nobody is woken or told while it is held.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use artel_model::limit::{SUBSCRIPTION_QUEUE_MAX, TOPIC_REPLAY_MAX};
use artel_model::message::{Address, DeadReason, Message, Topic, TopicPattern};
use artel_model::time::Timestamp;

use crate::bus::{BusConfig, Published, SubscribeOptions};
use crate::clock::Clock;
use crate::counts::Counts;
use crate::dead::{DeadLetters, Undelivered};
use crate::error::{BusError, SubscribeError};
use crate::limit::{SEEN_MESSAGES_MAX, SUBSCRIPTIONS_MAX};
use crate::metrics::BusMeters;
use crate::queue::{Offer, Queue};
use crate::replay::Replay;
use crate::routes::Routes;
use crate::seen::{Arrival, Seen};
use crate::subscription::{Delivery, Origin, Subscription};

pub(crate) struct Hub {
    clock: Clock,
    dead_letters: Arc<dyn DeadLetters>,
    meters: BusMeters,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    routes: Routes,
    queues: BTreeMap<u64, Arc<Queue>>,
    next_number: u64,
    seen: Seen,
    replay: Replay,
    /// Of everything but what the queues count themselves.
    counts: Counts,
    is_closed: bool,
}

/// What is left to do when the lock is released.
#[derive(Default)]
struct Rest {
    wake: Vec<Waker>,
    dead: Vec<Undelivered>,
    /// What the hub has counted.
    counted: Counts,
    /// Messages that were taken out of queues because their time was up; the queues have counted them.
    passed_over: u64,
}

impl Hub {
    pub(crate) fn new(config: BusConfig) -> Self {
        let BusConfig { clock, dead_letters } = config;
        Self { clock, dead_letters, meters: BusMeters::new(), state: Mutex::default() }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Gives a message to every queue that its topic leads to.
    pub(crate) fn publish(&self, message: &Arc<Message>) -> Result<Published, BusError> {
        let topic = topic_of(message)?;
        let now = self.clock.now();
        let mut rest = Rest::default();
        let published = {
            let mut state = self.lock();
            let published = state.publish(message, topic, now, &mut rest);
            state.counts += rest.counted;
            published
        };
        self.finish(rest);
        published
    }

    /// Keeps a message for those who come late, as if it had been delivered before anybody listened.
    pub(crate) fn remember(&self, message: &Arc<Message>) {
        let mut state = self.lock();
        match state.seen.arrive(message.key(), SEEN_MESSAGES_MAX) {
            Arrival::First => state.replay.keep(message),
            Arrival::Repeated => {}
        }
    }

    /// Returns how many subscriptions a topic leads to.
    pub(crate) fn subscribers(&self, topic: &Topic) -> usize {
        let mut subscribers = 0;
        self.lock().routes.visit(topic, &mut |_| subscribers += 1);
        subscribers
    }

    pub(crate) fn subscribe(
        self: &Arc<Self>,
        pattern: TopicPattern,
        options: SubscribeOptions,
    ) -> Result<Subscription, SubscribeError> {
        if !(1..=SUBSCRIPTION_QUEUE_MAX).contains(&options.queue_max) {
            return Err(SubscribeError::Queue(options.queue_max));
        }
        if options.replay > TOPIC_REPLAY_MAX {
            return Err(SubscribeError::Replay(options.replay));
        }
        let (queue, replayed) = self.lock().subscribe(&pattern, options, self.clock.now())?;
        self.meters.subscribed();
        self.meters.add(&Counts { replayed, ..Counts::default() });
        Ok(Subscription::new(Arc::clone(self), queue, pattern))
    }

    /// Forgets a subscription; what still waited for it is dead.
    pub(crate) fn unsubscribe(&self, pattern: &TopicPattern, queue: &Queue) {
        let left = self.lock().unsubscribe(pattern, queue);
        self.meters.unsubscribed();
        self.meters.add(&Counts { abandoned: left.len() as u64, ..Counts::default() });
        let now = self.clock.now();
        for message in left {
            let (recipient, reason) = (queue.subscriber, DeadReason::RecipientEnded);
            self.bury(Undelivered { message, recipient, reason, at: now });
        }
    }

    /// Tells of a message that a subscriber took, if there was one, and of those it passed over because their time was up.
    pub(crate) fn took(&self, queue: &Queue, taken: Option<&Delivery>, expired: Vec<Arc<Message>>) {
        if taken.is_some() {
            self.meters.delivered();
        }
        if expired.is_empty() {
            return;
        }
        self.meters.add(&Counts { expired: expired.len() as u64, ..Counts::default() });
        for message in expired {
            let (recipient, at) = (queue.subscriber, self.clock.now());
            self.bury(Undelivered { message, recipient, reason: DeadReason::Expired, at });
        }
    }

    /// Tells of a message that somebody did not get.
    pub(crate) fn bury(&self, letter: Undelivered) {
        self.dead_letters.take(letter);
    }

    /// Changes what is counted outside of the hub.
    pub(crate) fn count(&self, change: impl FnOnce(&mut Counts)) {
        let mut counted = Counts::default();
        change(&mut counted);
        self.lock().counts += counted;
        self.meters.add(&counted);
    }

    pub(crate) fn counts(&self) -> Counts {
        let state = self.lock();
        let mut counts = state.counts;
        state.queues.values().for_each(|queue| counts += queue.tally());
        counts
    }

    /// Takes nothing more; subscribers get what waits and then the end.
    pub(crate) fn close(&self) {
        let wake: Vec<Waker> = {
            let mut state = self.lock();
            state.is_closed = true;
            state.replay.clear();
            state.queues.values().filter_map(|queue| queue.close()).collect()
        };
        wake.into_iter().for_each(Waker::wake);
    }

    fn finish(&self, rest: Rest) {
        let expired = rest.counted.expired + rest.passed_over;
        self.meters.add(&Counts { expired, ..rest.counted });
        rest.dead.into_iter().for_each(|letter| self.bury(letter));
        rest.wake.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn publish(
        &mut self,
        message: &Arc<Message>,
        topic: &Topic,
        now: Timestamp,
        rest: &mut Rest,
    ) -> Result<Published, BusError> {
        if self.is_closed {
            return Err(BusError::Closed);
        }
        if self.seen.arrive(message.key(), SEEN_MESSAGES_MAX) == Arrival::Repeated {
            rest.counted.repeated += 1;
            return Ok(Published { subscribers: 0 });
        }
        rest.counted.published += 1;
        if message.is_expired(now) {
            self.expire(message, topic, now, rest);
            return Err(BusError::Expired);
        }
        self.replay.keep(message);
        Ok(Published { subscribers: self.deliver(message, topic, now, rest) })
    }

    /// A message that came too late is one for each subscription, and one dead letter.
    fn expire(&mut self, message: &Arc<Message>, topic: &Topic, now: Timestamp, rest: &mut Rest) {
        let mut missed = 0;
        self.routes.visit(topic, &mut |_| missed += 1);
        rest.counted.matched += missed;
        rest.counted.expired += missed;
        let message = Arc::clone(message);
        rest.dead.push(Undelivered { message, recipient: None, reason: DeadReason::Expired, at: now });
    }

    fn deliver(&mut self, message: &Arc<Message>, topic: &Topic, now: Timestamp, rest: &mut Rest) -> usize {
        let (mut matched, mut refused) = (0_u64, 0_u64);
        let mut expired = Vec::new();
        self.routes.visit(topic, &mut |queue| {
            matched += 1;
            match queue.offer(Delivery::live(message), now, &mut expired) {
                Offer::Taken(waker) => rest.wake.extend(waker),
                Offer::Refused => {
                    refused += 1;
                    rest.dead.push(Undelivered {
                        message: Arc::clone(message),
                        recipient: queue.subscriber,
                        reason: DeadReason::SubscriberBehind,
                        at: now,
                    });
                }
            }
            rest.passed_over += expired.len() as u64;
            rest.dead.extend(expired.drain(..).map(|message| Undelivered {
                message,
                recipient: queue.subscriber,
                reason: DeadReason::Expired,
                at: now,
            }));
        });
        rest.counted.matched += matched;
        rest.counted.refused += refused;
        usize::try_from(matched - refused).unwrap_or(usize::MAX)
    }

    fn subscribe(
        &mut self,
        pattern: &TopicPattern,
        options: SubscribeOptions,
        now: Timestamp,
    ) -> Result<(Arc<Queue>, u64), SubscribeError> {
        if self.is_closed {
            return Err(SubscribeError::Closed);
        }
        if self.queues.len() >= SUBSCRIPTIONS_MAX {
            return Err(SubscribeError::TooMany);
        }
        let queue = Arc::new(Queue::new(self.next_number, options.subscriber, options.queue_max));
        self.next_number += 1;
        let mut replayed = 0;
        for message in self.replay.last(pattern, options.replay.min(options.queue_max), now) {
            replayed += 1;
            // There is room for all of them, and nobody waits yet.
            queue.offer(Delivery { message, origin: Origin::Replay }, now, &mut Vec::new());
        }
        self.counts.replayed += replayed;
        self.queues.insert(queue.number, Arc::clone(&queue));
        self.routes.add(pattern, Arc::clone(&queue));
        Ok((queue, replayed))
    }

    fn unsubscribe(&mut self, pattern: &TopicPattern, queue: &Queue) -> Vec<Arc<Message>> {
        self.routes.remove(pattern, queue.number);
        self.queues.remove(&queue.number);
        let (left, tally) = queue.drain();
        self.counts += tally;
        self.counts.abandoned += left.len() as u64;
        left
    }
}

/// Returns what a message is about.
pub(crate) fn topic_of(message: &Message) -> Result<&Topic, BusError> {
    match &message.address {
        Address::Topic(topic) => Ok(topic),
        Address::Agent(_) | Address::Broadcast => Err(BusError::NoTopic),
    }
}
