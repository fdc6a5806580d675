//! How long something takes. The one place of the server that reads a clock for that; what time it is, is the app's to say.

use tokio::time::Instant;

/// Returns this moment, to measure how long something takes.
pub fn moment() -> Instant {
    Instant::now()
}
