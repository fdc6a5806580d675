//! What time it is, and waiting for a time. The one place of the engine that reads a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use artel_model::time::Timestamp;

/// Returns this moment, to measure how long something takes.
pub(crate) fn moment() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// Returns the machine's time, as exactly as it is known: collectors compare the spans of many machines by it.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn time_of_day() -> SystemTime {
    SystemTime::now()
}

/// A clock that starts at a given time and never goes backwards, whatever happens to the machine's.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The time when it started.
    base: Timestamp,
    /// When that was. Tests can move tokio's time.
    start: tokio::time::Instant,
}

impl Clock {
    /// Makes a clock that starts at the machine's time.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn system() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self::starting_at(Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Makes a clock that starts at a given time.
    pub fn starting_at(base: Timestamp) -> Self {
        Self { base, start: tokio::time::Instant::now() }
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        self.base + u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Waits until a time; forever when there is none.
    pub async fn wait_until(&self, at: Option<Timestamp>) {
        match at {
            Some(at) => tokio::time::sleep(Duration::from_millis(at.millis_since(self.now()))).await,
            None => std::future::pending().await,
        }
    }
}
