//! What is measured about trails, hubs and scans: every name in one place, and the handles that count. Decides nothing.

use artel_model::catalog::VerdictRecord;
use artel_model::metric::{ByLabel, Metric};
use metrics::{Counter, counter, histogram};
use tokio::time::Instant;

const TRAIL: Metric = Metric::counter(
    "artel_trail_entries_total",
    "Entries of the trails of skills, by what became of them; one is lost when the queue is full or the store fails.",
)
.by("outcome", &["kept", "lost"]);

const HUB_FETCHES: Metric = Metric::counter("artel_hub_fetches_total", "How often hubs were asked.")
    .by("outcome", &["fetched", "unchanged", "failed"]);
const HUB_FETCH_DURATION: Metric = Metric::seconds(
    "artel_hub_fetch_duration_seconds",
    "How long it took to ask a hub and to take what it has.",
);
const SCANS: Metric =
    Metric::counter("artel_scans_total", "Skills that a scanner looked at, by the worst that it found.")
        .by("worst", &["none", "info", "low", "medium", "high", "critical", "incomplete"]);

/// Everything that is measured here.
pub const METRICS: &[Metric] = &[TRAIL, HUB_FETCHES, HUB_FETCH_DURATION, SCANS];

/// Counts that a hub was asked, which happens seldom.
pub(crate) fn hub_asked(since: Instant, outcome: &'static str) {
    counter!(HUB_FETCHES.name, "outcome" => outcome).increment(1);
    histogram!(HUB_FETCH_DURATION.name).record(since.elapsed());
}

/// Counts what a scanner said, which happens seldom. One that has not seen everything has not said that all is well.
pub(crate) fn scanned(verdict: &VerdictRecord) {
    let worst = match verdict.worst {
        None if !verdict.is_complete => "incomplete",
        None => "none",
        Some(worst) => worst.as_str(),
    };
    counter!(SCANS.name, "worst" => worst).increment(1);
}

/// Counts what becomes of the trails of skills.
pub(crate) struct TrailMeters(ByLabel<Counter>);

impl TrailMeters {
    pub(crate) fn new() -> Self {
        Self(TRAIL.by_label(|label, value| counter!(TRAIL.name, label => value)))
    }

    /// Counts entries that were kept.
    pub(crate) fn kept(&self, entries: usize) {
        self.add("kept", entries);
    }

    /// Counts entries, or what would have become some, that were not kept.
    pub(crate) fn lost(&self, entries: usize) {
        self.add("lost", entries);
    }

    fn add(&self, outcome: &str, entries: usize) {
        if let Some(counter) = self.0.get(outcome) {
            counter.increment(entries as u64);
        }
    }
}
