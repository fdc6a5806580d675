//! The clock of the launcher: how long its children have been running. The only place of the module that reads one.

use std::time::Instant;

/// Returns the time that passes while the machine is awake.
#[expect(
    clippy::disallowed_methods,
    reason = "the launcher is a program of its own, and this is its only clock"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}
