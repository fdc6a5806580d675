//! What can be asked of a running attempt: to end, to stand still, to go on. A wish is a state and not a queue, so asking
//! twice is asking once.

use artel_model::protocol::StopReason;
use tokio::sync::watch;

/// Asks things of a running attempt. Dropping it kills the script: nobody could do so any more.
#[derive(Debug)]
pub struct AttemptHandle {
    wish: watch::Sender<AttemptRequest>,
}

/// The other side of an [`AttemptHandle`], for the attempt.
#[derive(Debug)]
pub struct AttemptControl {
    wish: watch::Receiver<AttemptRequest>,
    /// The handle was dropped.
    is_abandoned: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct AttemptRequest {
    stop: Option<Stop>,
    is_paused: bool,
}

/// The wish that an attempt ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Stop {
    pub(super) reason: StopReason,
    /// Milliseconds between SIGTERM and SIGKILL.
    pub(super) grace_ms: u64,
}

impl AttemptHandle {
    /// Returns the two sides.
    pub fn new() -> (Self, AttemptControl) {
        let (sender, receiver) = watch::channel(AttemptRequest::default());
        (Self { wish: sender }, AttemptControl { wish: receiver, is_abandoned: false })
    }

    /// Asks the script to end, and kills it after `grace_ms`. Asked again, the first reason and the shorter grace count.
    pub fn terminate(&self, reason: StopReason, grace_ms: u64) {
        self.wish.send_modify(|wish| {
            let reason = wish.stop.map_or(reason, |known| known.reason);
            wish.stop = Some(Stop { reason, grace_ms });
        });
    }

    /// Lets the script and its descendants stand still.
    pub fn pause(&self) {
        self.wish.send_modify(|wish| wish.is_paused = true);
    }

    /// Lets the script go on.
    pub fn resume(&self) {
        self.wish.send_modify(|wish| wish.is_paused = false);
    }
}

impl AttemptControl {
    /// Waits until something is asked that was not asked before, or nobody can ask any more.
    pub(super) async fn changed(&mut self) {
        if self.is_abandoned {
            return std::future::pending().await;
        }
        self.is_abandoned = self.wish.changed().await.is_err();
    }

    pub(super) fn stop(&self) -> Option<Stop> {
        let stop = self.wish.borrow().stop;
        if !self.is_abandoned {
            return stop;
        }
        let reason = stop.map_or(StopReason::Cancelled, |stop| stop.reason);
        Some(Stop { reason, grace_ms: 0 })
    }

    pub(super) fn is_paused(&self) -> bool {
        self.wish.borrow().is_paused
    }
}
