//! What the store measures about writing, syncing and reading: every name in one place, and the handles that count.
//!
//! The names are those of the store in a file where they mean the same. Every change is a transaction of its own here, so
//! nothing is told about batches but how many share a sync. Handles belong to the recorder that is there when a store is
//! opened; without one they cost a comparison.

use std::time::Instant;

use artel_model::metric::Metric;
use artel_store::StoreError;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use crate::clock::moment;

const APPENDS: Metric =
    Metric::counter("artel_postgres_appends_total", "Appends to the log of a run that were written.");
const CHANGES: Metric = Metric::counter("artel_postgres_changes_total", "Changes that were asked for.")
    .by("outcome", &["written", "failed"]);
const WAITING: Metric =
    Metric::gauge("artel_postgres_waiting_statements", "Statements that wait for a connection.");
const WAIT: Metric =
    Metric::seconds("artel_postgres_wait_duration_seconds", "How long statements waited for a connection.");
const TRANSACTION: Metric = Metric::seconds(
    "artel_postgres_transaction_duration_seconds",
    "How long changes took, from the sending to the answer, the wait for a connection included.",
);
const SYNCS_WANTED: Metric = Metric::counter(
    "artel_postgres_sync_requests_total",
    "How often somebody waited for the server's disk; many share one sync.",
);
const SYNC: Metric =
    Metric::seconds("artel_postgres_sync_duration_seconds", "How long syncs took, as they are shared.");
const READ: Metric = Metric::seconds(
    "artel_postgres_read_duration_seconds",
    "How long queries took, the wait for a connection included.",
);
const READS: Metric = Metric::gauge("artel_postgres_reads", "Queries that run, or wait for a connection.");
const RESENT: Metric = Metric::counter(
    "artel_postgres_resent_total",
    "Statements that were sent again because their connection was lost.",
);
const ERRORS: Metric =
    Metric::counter("artel_postgres_errors_total", "Statements that failed, by what was wrong.")
        .by("kind", &["unavailable", "full", "corrupt"]);

/// Everything the store measures.
pub const METRICS: &[Metric] =
    &[APPENDS, CHANGES, WAITING, WAIT, TRANSACTION, SYNCS_WANTED, SYNC, READ, READS, RESENT, ERRORS];

/// Counts what the store does.
#[derive(Clone, Debug)]
pub(crate) struct Meters {
    pub(crate) appends: Counter,
    pub(crate) syncs_wanted: Counter,
    pub(crate) sync: Histogram,
    pub(crate) resent: Counter,
    written: Counter,
    failed: Counter,
    waiting: Gauge,
    wait: Histogram,
    transaction: Histogram,
    read: Histogram,
    reads: Gauge,
    unavailable: Counter,
    full: Counter,
    corrupt: Counter,
}

impl Meters {
    pub(crate) fn new() -> Self {
        let changes = |outcome: &'static str| counter!(CHANGES.name, "outcome" => outcome);
        let errors = |kind: &'static str| counter!(ERRORS.name, "kind" => kind);
        Self {
            appends: counter!(APPENDS.name),
            syncs_wanted: counter!(SYNCS_WANTED.name),
            sync: histogram!(SYNC.name),
            resent: counter!(RESENT.name),
            written: changes("written"),
            failed: changes("failed"),
            waiting: gauge!(WAITING.name),
            wait: histogram!(WAIT.name),
            transaction: histogram!(TRANSACTION.name),
            read: histogram!(READ.name),
            reads: gauge!(READS.name),
            unavailable: errors("unavailable"),
            full: errors("full"),
            corrupt: errors("corrupt"),
        }
    }

    /// Counts a query until what is returned is dropped.
    pub(crate) fn reading(&self) -> Going<'_> {
        Going::new(&self.reads, &self.read)
    }

    /// Counts the wait for a connection until what is returned is dropped.
    pub(crate) fn waiting(&self) -> Going<'_> {
        Going::new(&self.waiting, &self.wait)
    }

    /// Counts a change that was asked for at that moment.
    pub(crate) fn changed<T>(&self, came: &Result<T, StoreError>, since: Instant) {
        match came {
            Ok(_) => {
                self.written.increment(1);
                self.transaction.record(since.elapsed());
            }
            Err(_) => self.failed.increment(1),
        }
    }

    /// Counts what went wrong with a statement.
    pub(crate) fn told<T>(&self, came: &Result<T, StoreError>) {
        match came {
            // What a caller gave wrong, and a store of the future, are no failures of a statement.
            Ok(_) | Err(StoreError::TooNew { .. } | StoreError::UnknownCursor { .. }) => {}
            Err(StoreError::Unavailable { .. } | StoreError::Lost { .. }) => self.unavailable.increment(1),
            Err(StoreError::Full { .. }) => self.full.increment(1),
            Err(StoreError::Corrupt { .. }) => self.corrupt.increment(1),
        }
    }
}

/// Something that goes on.
pub(crate) struct Going<'a> {
    going: &'a Gauge,
    took: &'a Histogram,
    since: Instant,
}

impl<'a> Going<'a> {
    fn new(going: &'a Gauge, took: &'a Histogram) -> Self {
        going.increment(1);
        Self { going, took, since: moment() }
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.going.decrement(1);
        self.took.record(self.since.elapsed());
    }
}
