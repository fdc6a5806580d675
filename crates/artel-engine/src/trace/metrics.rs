//! What is measured about traces. Decides nothing.

use artel_model::metric::Metric;
use metrics::counter;

const SENT: Metric = Metric::counter("artel_spans_sent_total", "Spans that the collector of traces took.");
const LOST: Metric =
    Metric::counter("artel_spans_lost_total", "Spans that the collector of traces did not get.")
        .by("reason", &["queue_full", "not_taken"]);

/// Everything that is measured about traces.
pub const METRICS: &[Metric] = &[SENT, LOST];

/// Counts spans that the collector took.
pub fn sent(count: usize) {
    counter!(SENT.name).increment(count as u64);
}

/// Counts spans that the collector did not take.
pub fn unsent(count: usize) {
    counter!(LOST.name, "reason" => "not_taken").increment(count as u64);
}

/// Counts a span for which there was no room.
pub(super) fn no_room() {
    counter!(LOST.name, "reason" => "queue_full").increment(1);
}
