//! What is printed about each of them: one line of numbers, which `cargo xtask bench` reads.

use std::time::Duration;

/// What was measured.
pub(crate) struct Figures {
    /// Messages that reached a subscriber, in a second.
    pub(crate) deliveries_per_second: f64,
    /// How long single messages took.
    pub(crate) single: Vec<Duration>,
    /// Requests that were answered, in a second.
    pub(crate) requests_per_second: f64,
    /// How long single requests took, with their answers.
    pub(crate) waits: Vec<Duration>,
}

/// Prints what the columns are.
pub(crate) fn print_head() {
    println!(
        "{:<14} {:>13} {:>9} {:>9} {:>11} {:>9} {:>9}",
        "", "deliveries/s", "p50 us", "p99 us", "requests/s", "p50 us", "p99 us"
    );
}

impl Figures {
    /// Prints them as one line.
    pub(crate) fn print(mut self, name: &str) {
        println!(
            "{name:<14} {:>13.0} {:>9.1} {:>9.1} {:>11.0} {:>9.1} {:>9.1}",
            self.deliveries_per_second,
            percentile(&mut self.single, 50),
            percentile(&mut self.single, 99),
            self.requests_per_second,
            percentile(&mut self.waits, 50),
            percentile(&mut self.waits, 99),
        );
    }
}

fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6
}
