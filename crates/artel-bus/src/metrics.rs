//! What the bus measures about messages: every name in one place, and the handles that count. The numbers are those of
//! [`Counts`], summed up over all buses of the process.
//!
//! Handles belong to the recorder that is there when a bus is made; without one they cost a comparison.

use artel_model::metric::{ByLabel, Metric};
use metrics::{Counter, Gauge, counter, gauge};

use crate::counts::Counts;

const PUBLISHED: Metric = Metric::counter(
    "artel_bus_published_total",
    "Messages that came, from here or through Redis from elsewhere, without repetitions.",
);
const REPEATED: Metric =
    Metric::counter("artel_bus_repeated_total", "Messages that came a second time and were left out.");
const MATCHED: Metric =
    Metric::counter("artel_bus_matched_total", "Messages times the subscriptions they matched.");
const REPLAYED: Metric = Metric::counter(
    "artel_bus_replayed_total",
    "Kept messages that were given to subscribers who came late.",
);
const DELIVERED: Metric = Metric::counter("artel_bus_delivered_total", "Messages that subscribers took.");
const MISSED: Metric = Metric::counter("artel_bus_missed_total", "Messages that a subscriber did not get.")
    .by("reason", &["expired", "refused", "abandoned"]);
const WAITING: Metric = Metric::gauge("artel_bus_waiting", "Messages that wait for a subscriber.");
const SUBSCRIPTIONS: Metric = Metric::gauge("artel_bus_subscriptions", "Subscriptions there are.");
const UNCLAIMED: Metric = Metric::counter(
    "artel_bus_unclaimed_total",
    "Answers through Redis that came when nobody waited for them any longer.",
);
const LOST: Metric =
    Metric::counter("artel_bus_lost_total", "Messages that Redis let go of before they were read here.");
const UNREADABLE: Metric =
    Metric::counter("artel_bus_unreadable_total", "Entries in Redis that are no messages.");

/// Everything the bus measures.
pub const METRICS: &[Metric] = &[
    PUBLISHED,
    REPEATED,
    MATCHED,
    REPLAYED,
    DELIVERED,
    MISSED,
    WAITING,
    SUBSCRIPTIONS,
    UNCLAIMED,
    LOST,
    UNREADABLE,
];

/// Counts messages.
pub(crate) struct BusMeters {
    published: Counter,
    repeated: Counter,
    matched: Counter,
    replayed: Counter,
    delivered: Counter,
    missed: ByLabel<Counter>,
    waiting: Gauge,
    subscriptions: Gauge,
    unclaimed: Counter,
    lost: Counter,
    unreadable: Counter,
}

impl BusMeters {
    pub(crate) fn new() -> Self {
        Self {
            published: counter!(PUBLISHED.name),
            repeated: counter!(REPEATED.name),
            matched: counter!(MATCHED.name),
            replayed: counter!(REPLAYED.name),
            delivered: counter!(DELIVERED.name),
            missed: MISSED.by_label(|label, value| counter!(MISSED.name, label => value)),
            waiting: gauge!(WAITING.name),
            subscriptions: gauge!(SUBSCRIPTIONS.name),
            unclaimed: counter!(UNCLAIMED.name),
            lost: counter!(LOST.name),
            unreadable: counter!(UNREADABLE.name),
        }
    }

    /// Counts what became of messages that were published, came late or were left behind. What waits follows from it.
    pub(crate) fn add(&self, counted: &Counts) {
        let Counts { published, repeated, matched, replayed, delivered, expired, .. } = *counted;
        let Counts { refused, abandoned, unclaimed, lost, unreadable, .. } = *counted;
        for (counter, count) in [
            (&self.published, published),
            (&self.repeated, repeated),
            (&self.matched, matched),
            (&self.replayed, replayed),
            (&self.delivered, delivered),
            (&self.unclaimed, unclaimed),
            (&self.lost, lost),
            (&self.unreadable, unreadable),
        ] {
            if count > 0 {
                counter.increment(count);
            }
        }
        for (reason, count) in [("expired", expired), ("refused", refused), ("abandoned", abandoned)] {
            if count > 0
                && let Some(counter) = self.missed.get(reason)
            {
                counter.increment(count);
            }
        }
        let (came, gone) = (matched + replayed, delivered + expired + refused + abandoned);
        if came > gone {
            self.waiting.increment(small(came - gone));
        } else if gone > came {
            self.waiting.decrement(small(gone - came));
        }
    }

    /// Counts one message that a subscriber took.
    pub(crate) fn delivered(&self) {
        self.delivered.increment(1);
        self.waiting.decrement(1);
    }

    /// Counts a subscription that begins.
    pub(crate) fn subscribed(&self) {
        self.subscriptions.increment(1);
    }

    /// Counts a subscription that ends.
    pub(crate) fn unsubscribed(&self) {
        self.subscriptions.decrement(1);
    }
}

/// A gauge takes what fits a number with a fraction; no bus has more messages waiting.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
