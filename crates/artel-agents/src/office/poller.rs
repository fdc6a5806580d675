//! Notices that somebody, in another process perhaps, wrote something. One task looks for everybody who waits, and rests
//! while nobody does.

use std::sync::Arc;
use std::time::Duration;

use artel_store::RunStore;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

/// How much of the time one reader of the store may take: they are mostly woken otherwise, and look in vain.
const READING: Duration = Duration::from_millis(1);
/// The longest time between two announcements, however many subscribers there are.
const REST_MAX: Duration = Duration::from_secs(5);

/// Announces that something was written; the more subscribers, the more seldom.
pub(super) struct Poller {
    changes: watch::Sender<u64>,
    is_felt: Arc<Notify>,
    task: AbortHandle,
}

impl Poller {
    /// Starts to look, as often as `pause` says, while somebody wants to know.
    pub(super) fn start(runs: Arc<dyn RunStore>, pause: Duration) -> Self {
        let changes = watch::Sender::new(0);
        let is_felt = Arc::new(Notify::new());
        let task = tokio::spawn(beat(runs, changes.clone(), is_felt.clone(), pause)).abort_handle();
        Self { changes, is_felt, task }
    }

    /// Returns what changes after every write from this moment on. A change may also be about an earlier write.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        let changes = self.changes.subscribe();
        self.is_felt.notify_one();
        changes
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn beat(runs: Arc<dyn RunStore>, changes: watch::Sender<u64>, is_felt: Arc<Notify>, pause: Duration) {
    // What was last seen is older than whoever asks since then, so a difference is always told.
    let mut seen = None;
    let (mut is_due, mut is_failing) = (false, false);
    let mut rested = Duration::MAX;
    loop {
        while changes.receiver_count() == 0 {
            is_felt.notified().await;
        }
        match runs.version().await {
            Ok(version) => {
                is_failing = false;
                is_due |= seen.replace(version) != Some(version);
            }
            Err(error) if !is_failing => {
                is_failing = true;
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "cannot see whether something was written");
            }
            Err(_) => {}
        }
        if is_due && rested >= rest(changes.receiver_count()) {
            changes.send_modify(|count| *count += 1);
            (is_due, rested) = (false, Duration::ZERO);
        }
        tokio::time::sleep(pause).await;
        rested = rested.saturating_add(pause);
    }
}

/// Returns how long lies between two announcements: each subscriber reads the store after one.
fn rest(readers: usize) -> Duration {
    let readers = u32::try_from(readers).unwrap_or(u32::MAX);
    READING.saturating_mul(readers).min(REST_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_readers_have_longer_rests() {
        let rests = [1, 50, 500, 100_000, usize::MAX].map(|readers| rest(readers).as_millis());
        assert_eq!(rests, [1, 50, 500, 5000, 5000]);
    }
}
