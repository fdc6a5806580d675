//! What time it is, and waiting for a time. The one place of the engine that reads a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use artel_model::time::Timestamp;

/// A clock.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The machine's.
    System,
    /// One that starts at a given time and follows tokio's, which tests can move.
    Tokio {
        /// The time when it started.
        base: Timestamp,
        /// When that was.
        start: tokio::time::Instant,
    },
}

impl Clock {
    /// Makes a clock that follows tokio's time.
    pub fn tokio(base: Timestamp) -> Self {
        Self::Tokio { base, start: tokio::time::Instant::now() }
    }

    /// Returns the time.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
                Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
            Self::Tokio { base, start } => {
                let passed = start.elapsed().as_millis();
                *base + u64::try_from(passed).unwrap_or(u64::MAX)
            }
        }
    }

    /// Waits until a time; forever when there is none.
    pub async fn wait_until(&self, at: Option<Timestamp>) {
        match at {
            Some(at) => tokio::time::sleep(Duration::from_millis(at.millis_since(self.now()))).await,
            None => std::future::pending().await,
        }
    }
}
