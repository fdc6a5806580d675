//! What waits for one subscriber: a lane per priority, in the order of arrival. It knows neither topics nor other
//! subscribers, and calls nobody while it is locked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use artel_model::id::AgentId;
use artel_model::message::{Message, Priority};
use artel_model::time::Timestamp;

use crate::clock::Clock;
use crate::counts::Tally;
use crate::subscription::{Delivery, Origin};

/// The queue of one subscription.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Which subscription; a later one has a higher number.
    pub(crate) number: u64,
    /// Which agent listens.
    pub(crate) subscriber: Option<AgentId>,
    waiting_max: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Only for the priorities that were used, the most urgent first.
    lanes: Vec<Lane>,
    tally: Tally,
    refused: u64,
    is_closed: bool,
    /// Who is to be woken by the next message.
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Lane {
    priority: Priority,
    waiting: VecDeque<Delivery>,
}

/// What became of an offered message.
#[derive(Debug)]
pub(crate) enum Offer {
    /// It waits; whoever sleeps is to be woken.
    Taken(Option<Waker>),
    /// There is no room.
    Refused,
}

impl Queue {
    pub(crate) fn new(number: u64, subscriber: Option<AgentId>, waiting_max: usize) -> Self {
        Self { number, subscriber, waiting_max, inner: Mutex::default() }
    }

    /// Lets a message wait if there is room. Only when there is none, room is looked for among those whose time is up, which
    /// go to `expired`.
    pub(crate) fn offer(&self, delivery: Delivery, now: Timestamp, expired: &mut Vec<Arc<Message>>) -> Offer {
        let mut inner = self.lock();
        if inner.waiting() >= self.waiting_max {
            inner.drop_expired(now, expired);
        }
        if inner.waiting() >= self.waiting_max {
            inner.refused += 1;
            return Offer::Refused;
        }
        inner.tally.waiting += 1;
        inner.lane(delivery.message.priority).push_back(delivery);
        Offer::Taken(inner.waker.take())
    }

    /// Takes the most urgent message whose time is not up; those passed over go to `expired`. Ready with nothing when the
    /// queue is closed and empty.
    pub(crate) fn poll_take(
        &self,
        context: &mut Context<'_>,
        clock: &Clock,
        expired: &mut Vec<Arc<Message>>,
    ) -> Poll<Option<Delivery>> {
        let mut inner = self.lock();
        if let Some(delivery) = inner.take(clock, expired) {
            return Poll::Ready(Some(delivery));
        }
        if inner.is_closed {
            return Poll::Ready(None);
        }
        match &mut inner.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Takes the most urgent message if one waits.
    pub(crate) fn take(&self, clock: &Clock, expired: &mut Vec<Arc<Message>>) -> Option<Delivery> {
        self.lock().take(clock, expired)
    }

    /// Takes no further interest in who waits: nothing more will come.
    pub(crate) fn close(&self) -> Option<Waker> {
        let mut inner = self.lock();
        inner.is_closed = true;
        inner.waker.take()
    }

    /// Takes everything that waits, and returns what became of the rest.
    pub(crate) fn drain(&self) -> (Vec<Arc<Message>>, Tally) {
        let mut inner = self.lock();
        let tally = Tally { waiting: 0, ..inner.tally };
        inner.tally = Tally::default();
        let lanes = std::mem::take(&mut inner.lanes);
        let left = lanes.into_iter().flat_map(|lane| lane.waiting).map(|delivery| delivery.message);
        (left.collect(), tally)
    }

    pub(crate) fn tally(&self) -> Tally {
        self.lock().tally
    }

    pub(crate) fn refused(&self) -> u64 {
        self.lock().refused
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn waiting(&self) -> usize {
        usize::try_from(self.tally.waiting).unwrap_or(usize::MAX)
    }

    fn lane(&mut self, priority: Priority) -> &mut VecDeque<Delivery> {
        let at = match self.lanes.binary_search_by_key(&priority, |lane| lane.priority) {
            Ok(at) => at,
            Err(at) => {
                self.lanes.insert(at, Lane { priority, waiting: VecDeque::new() });
                at
            }
        };
        &mut self.lanes[at].waiting
    }

    fn take(&mut self, clock: &Clock, expired: &mut Vec<Arc<Message>>) -> Option<Delivery> {
        if self.tally.waiting == 0 {
            return None;
        }
        let now = clock.now();
        for lane in &mut self.lanes {
            while let Some(delivery) = lane.waiting.pop_front() {
                self.tally.waiting -= 1;
                if !delivery.message.is_expired(now) {
                    self.tally.delivered += 1;
                    return Some(delivery);
                }
                self.tally.expired += 1;
                expired.push(delivery.message);
            }
        }
        None
    }

    fn drop_expired(&mut self, now: Timestamp, expired: &mut Vec<Arc<Message>>) {
        for lane in &mut self.lanes {
            while lane.waiting.front().is_some_and(|delivery| delivery.message.is_expired(now))
                && let Some(delivery) = lane.waiting.pop_front()
            {
                self.tally.waiting -= 1;
                self.tally.expired += 1;
                expired.push(delivery.message);
            }
        }
    }
}

impl Delivery {
    pub(crate) fn live(message: &Arc<Message>) -> Self {
        Self { message: Arc::clone(message), origin: Origin::Live }
    }
}

#[cfg(test)]
mod tests {
    use artel_model::message::MessageKind;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{event, id, message, now};

    fn take_all(queue: &Queue, at: Timestamp) -> (Vec<u128>, Vec<u128>) {
        let (mut taken, mut expired) = (Vec::new(), Vec::new());
        let clock = Clock::new(move || at);
        while let Some(delivery) = queue.take(&clock, &mut expired) {
            taken.push(id(&delivery.message));
        }
        (taken, expired.iter().map(|message| id(message)).collect())
    }

    fn offer(queue: &Queue, message: &Arc<Message>, at: Timestamp) -> bool {
        matches!(queue.offer(Delivery::live(message), at, &mut Vec::new()), Offer::Taken(_))
    }

    #[test]
    fn a_full_queue_refuses_and_counts() {
        let queue = Queue::new(0, None, 2);
        let taken = [1, 2, 3].map(|number| offer(&queue, &event(number, "a"), now()));
        assert_eq!((taken, queue.refused()), ([true, true, false], 1));
        assert_eq!(take_all(&queue, now()), (vec![1, 2], vec![]));
    }

    #[test]
    fn what_is_expired_is_passed_over_and_makes_room() {
        let queue = Queue::new(0, None, 1);
        let late = now() + 60_000;
        assert!(offer(&queue, &event(1, "a"), now()));
        assert!(offer(&queue, &event(2, "a"), late));
        assert_eq!(take_all(&queue, late), (vec![], vec![2]));
        assert_eq!(queue.tally(), Tally { delivered: 0, expired: 2, waiting: 0 });
    }

    proptest! {
        /// What waits is taken by priority, then in the order in which it came.
        #[test]
        fn order_is_priority_then_arrival(priorities in prop::collection::vec(1_u8..=10, 0..60)) {
            let queue = Queue::new(0, None, 100);
            let mut expected: Vec<(u8, u128)> = Vec::new();
            for (number, &priority) in (0_u128..).zip(&priorities) {
                offer(&queue, &message(number, "a", MessageKind::Event, priority), now());
                expected.push((priority, number));
            }
            expected.sort_unstable();
            let (taken, _) = take_all(&queue, now());
            prop_assert_eq!(taken, expected.into_iter().map(|(_, number)| number).collect::<Vec<_>>());
        }
    }
}
