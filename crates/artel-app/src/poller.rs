//! Notices that somebody, in another process perhaps, wrote something. One task looks for every live stream, and there is
//! none while nobody watches.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artel_store::RunStore;
use tokio::sync::watch;

/// How often the store is asked whether something was written.
const PAUSE: Duration = Duration::from_millis(50);

/// Beats when something was written.
pub struct Poller {
    shared: Arc<Shared>,
}

struct Shared {
    runs: Arc<dyn RunStore>,
    beats: watch::Sender<u64>,
    /// Whether the task goes on.
    is_beating: Mutex<bool>,
}

impl Poller {
    /// Makes a poller of a store; the store is not asked until there is a subscriber.
    pub fn new(runs: Arc<dyn RunStore>) -> Self {
        let shared = Shared { runs, beats: watch::Sender::new(0), is_beating: Mutex::new(false) };
        Self { shared: Arc::new(shared) }
    }

    /// Returns what changes after every write from this moment on; a change may also be about an earlier write.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        let mut is_beating = self.shared.is_beating.lock().unwrap_or_else(PoisonError::into_inner);
        let beats = self.shared.beats.subscribe();
        if !*is_beating {
            *is_beating = true;
            tokio::spawn(beat(self.shared.clone()));
        }
        beats
    }
}

async fn beat(shared: Arc<Shared>) {
    let mut seen = None;
    while shared.is_felt() {
        // A store that does not answer may have been written to: whoever looks learns what is wrong.
        let version = shared.runs.version().await.ok();
        if version.is_none() || version != seen {
            seen = version;
            shared.beats.send_modify(|count| *count += 1);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl Shared {
    /// Says whether somebody feels it; if not, the task is over from this moment on.
    fn is_felt(&self) -> bool {
        let mut is_beating = self.is_beating.lock().unwrap_or_else(PoisonError::into_inner);
        *is_beating = self.beats.receiver_count() > 0;
        *is_beating
    }
}
