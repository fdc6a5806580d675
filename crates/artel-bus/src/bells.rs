//! Bells: they tell those who wait that it is worth looking for what came. A ring is no message: it says nothing but whom
//! it is for, and rings that nobody heard yet are one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_model::id::AgentId;
use tokio::sync::Notify;

use crate::error::SubscribeError;
use crate::limit::BELLS_MAX;

/// All bells of one bus.
#[derive(Default)]
pub(crate) struct Bells(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Many may hang for one agent.
    hung: BTreeMap<(AgentId, u64), Arc<Clapper>>,
    next_number: u64,
    is_closed: bool,
}

#[derive(Default)]
struct Clapper {
    strike: Notify,
    is_closed: AtomicBool,
}

/// Rings for one agent as long as it is kept.
pub struct Bell {
    bells: Arc<Bells>,
    key: (AgentId, u64),
    clapper: Arc<Clapper>,
}

/// What came of waiting for a bell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Heard {
    /// It rang, once or many times.
    Ring,
    /// The bus was closed: it never rings again.
    Closed,
}

impl Bells {
    /// Hangs up a bell that rings from this moment on.
    pub(crate) fn hang(self: &Arc<Self>, agent: AgentId) -> Result<Bell, SubscribeError> {
        let mut inner = self.lock();
        if inner.is_closed {
            return Err(SubscribeError::Closed);
        }
        if inner.hung.len() >= BELLS_MAX {
            return Err(SubscribeError::TooMany);
        }
        let key = (agent, inner.next_number);
        inner.next_number += 1;
        let clapper = Arc::<Clapper>::default();
        inner.hung.insert(key, Arc::clone(&clapper));
        Ok(Bell { bells: Arc::clone(self), key, clapper })
    }

    /// Rings the bells of some agents.
    pub(crate) fn ring(&self, agents: &[AgentId]) {
        for agent in agents {
            let range = (*agent, 0)..=(*agent, u64::MAX);
            // Nobody is woken while the lock is held.
            let rung: Vec<Arc<Clapper>> =
                self.lock().hung.range(range).map(|(_, clapper)| Arc::clone(clapper)).collect();
            rung.iter().for_each(|clapper| clapper.strike.notify_one());
        }
    }

    /// Rings all bells, when rings may have been lost.
    pub(crate) fn ring_all(&self) {
        let all: Vec<Arc<Clapper>> = self.lock().hung.values().map(Arc::clone).collect();
        all.iter().for_each(|clapper| clapper.strike.notify_one());
    }

    /// Ends all bells.
    pub(crate) fn close(&self) {
        let all = {
            let mut inner = self.lock();
            inner.is_closed = true;
            std::mem::take(&mut inner.hung)
        };
        for clapper in all.values() {
            clapper.is_closed.store(true, Ordering::Release);
            clapper.strike.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bell {
    /// Waits until it rings; at once if it has rung since the last time. Giving up the wait loses nothing.
    pub async fn rings(&mut self) -> Heard {
        if !self.is_closed() {
            self.clapper.strike.notified().await;
        }
        if self.is_closed() { Heard::Closed } else { Heard::Ring }
    }

    fn is_closed(&self) -> bool {
        self.clapper.is_closed.load(Ordering::Acquire)
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        self.bells.lock().hung.remove(&self.key);
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bell").field("agent", &self.key.0).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use uuid::Uuid;

    use super::*;

    fn agent(number: u128) -> AgentId {
        AgentId(Uuid::from_u128(number))
    }

    /// Returns what is heard without waiting.
    fn heard(bell: &mut Bell) -> Option<Heard> {
        match pin!(bell.rings()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(heard) => Some(heard),
            Poll::Pending => None,
        }
    }

    #[test]
    fn every_bell_of_an_agent_rings_once_for_many_rings() {
        let bells = Arc::new(Bells::default());
        let [mut one, mut same, mut other] = [1, 1, 2].map(|number| bells.hang(agent(number)).unwrap());
        bells.ring(&[agent(1), agent(3), agent(1)]);
        assert_eq!(
            [&mut one, &mut same, &mut other].map(heard),
            [Some(Heard::Ring), Some(Heard::Ring), None]
        );
        assert_eq!(heard(&mut one), None);
        bells.ring_all();
        assert_eq!([&mut one, &mut same, &mut other].map(heard), [Some(Heard::Ring); 3]);
    }

    #[test]
    fn a_ring_that_came_while_somebody_gave_up_is_not_lost() {
        let bells = Arc::new(Bells::default());
        let mut bell = bells.hang(agent(1)).unwrap();
        {
            let mut waiting = pin!(bell.rings());
            assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            bells.ring(&[agent(1)]);
        }
        assert_eq!(heard(&mut bell), Some(Heard::Ring));
    }

    #[test]
    fn bells_that_are_taken_down_are_forgotten_and_closed_ones_say_so() {
        let bells = Arc::new(Bells::default());
        let mut bell = bells.hang(agent(1)).unwrap();
        drop(bells.hang(agent(1)).unwrap());
        assert_eq!(bells.lock().hung.len(), 1);
        bells.close();
        assert_eq!([heard(&mut bell), heard(&mut bell)], [Some(Heard::Closed); 2]);
        assert_eq!(bells.hang(agent(1)).unwrap_err(), SubscribeError::Closed);
    }
}
