//! The only clock of the crate. Nothing is decided by it: it measures how long things take.

use std::time::Instant;

/// Returns this moment.
#[expect(clippy::disallowed_methods, reason = "this is the clock, and only measures use it")]
pub(crate) fn moment() -> Instant {
    Instant::now()
}
