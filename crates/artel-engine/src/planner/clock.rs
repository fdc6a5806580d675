//! Deadlines of planning: the only place of the planners that reads a clock, and it is tokio's, which tests can move.

use tokio::time::{Duration, Instant};

/// Returns the moment that lies so many milliseconds ahead.
pub(super) fn from_now(millis: u64) -> Instant {
    Instant::now() + Duration::from_millis(millis)
}

/// Returns how much time is left until a moment; none when it has passed.
pub(super) fn left_until(moment: Instant) -> Duration {
    moment.saturating_duration_since(Instant::now())
}
