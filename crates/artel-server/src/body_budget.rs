//! How many bytes of request bodies are in memory at once, of all requests together. Knows nothing of what is sent.
//!
//! A body is counted as it is read, and until its request is answered. Its first bytes are free, so that small requests
//! are answered while large ones fill the budget; how many small ones there are is limited by the connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use artel_model::limit::BODY_FREE_BYTES;

/// What all bodies share.
#[derive(Debug)]
pub(crate) struct BodyBudget {
    left: AtomicUsize,
}

/// What one request has of it; given back when the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct BodyShare(Arc<Share>);

#[derive(Debug)]
struct Share {
    budget: Arc<BodyBudget>,
    read: AtomicUsize,
    taken: AtomicUsize,
    is_refused: AtomicBool,
}

/// There is no room for the body.
#[derive(Debug, thiserror::Error)]
#[error("there is no room for the body")]
pub(crate) struct NoRoom;

impl BodyBudget {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { left: AtomicUsize::new(bytes) })
    }

    /// Makes the share of a request, which has nothing yet.
    pub(crate) fn share(self: &Arc<Self>) -> BodyShare {
        BodyShare(Arc::new(Share {
            budget: self.clone(),
            read: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            is_refused: AtomicBool::new(false),
        }))
    }
}

impl BodyShare {
    /// Takes room for the next piece of a body.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), NoRoom> {
        let Self(share) = self;
        let read = share.read.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let counted = read.saturating_sub(BODY_FREE_BYTES).min(bytes);
        let taken = share
            .budget
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(counted));
        if taken.is_err() {
            share.is_refused.store(true, Ordering::Relaxed);
            return Err(NoRoom);
        }
        share.taken.fetch_add(counted, Ordering::Relaxed);
        Ok(())
    }

    /// Says whether there was no room.
    pub(crate) fn is_refused(&self) -> bool {
        self.0.is_refused.load(Ordering::Relaxed)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.left.fetch_add(*self.taken.get_mut(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_share_the_budget_and_give_it_back() {
        let budget = BodyBudget::new(100);
        let (one, two, small) = (budget.share(), budget.share(), budget.share());
        assert!(one.take(BODY_FREE_BYTES + 60).is_ok());
        assert!(two.take(BODY_FREE_BYTES).is_ok() && two.take(40).is_ok());
        assert!(two.take(1).is_err() && two.is_refused() && !one.is_refused());
        assert!(small.take(BODY_FREE_BYTES).is_ok(), "what is small is always taken");
        let clone = one.clone();
        drop(one);
        assert!(small.take(1).is_err(), "the request is not answered yet");
        drop(clone);
        assert!(small.take(60).is_ok());
        drop((two, small));
        assert_eq!(budget.left.load(Ordering::Relaxed), 100);
    }
}
