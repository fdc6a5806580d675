//! How long to wait: a matter of this process alone. The only place of the crate that reads a clock, and it is tokio's, which
//! tests can move.

use std::time::Duration;

use tokio::time::Instant;

/// Returns this moment.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the moment that lies so many milliseconds ahead.
pub(crate) fn from_now(millis: u64) -> Instant {
    now() + Duration::from_millis(millis)
}
