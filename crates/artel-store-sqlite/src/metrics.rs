//! What the store measures about writing, syncing and reading: every name in one place, and the handles that count.
//!
//! Handles belong to the recorder that is there when a store is opened; without one they cost a comparison.

use std::time::Instant;

use artel_model::metric::Metric;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use crate::clock::moment;

const APPENDS: Metric =
    Metric::counter("artel_sqlite_appends_total", "Appends to the log of a run that were written.");
const CHANGES: Metric = Metric::counter("artel_sqlite_changes_total", "Changes that were asked for.")
    .by("outcome", &["written", "failed"]);
const QUEUE: Metric = Metric::gauge("artel_sqlite_queue_changes", "Changes that wait to be written.");
const BATCH: Metric = Metric::sizes("artel_sqlite_batch_changes", "Changes in one transaction.");
const TRANSACTION: Metric = Metric::seconds(
    "artel_sqlite_transaction_duration_seconds",
    "How long transactions took that were written, from the begin to the commit.",
);
const SYNCS_WANTED: Metric = Metric::counter(
    "artel_sqlite_sync_requests_total",
    "How often somebody waited for an fsync; many share one.",
);
const SYNC: Metric =
    Metric::seconds("artel_sqlite_sync_duration_seconds", "How long fsyncs of the log took.");
const CHECKPOINTS: Metric = Metric::counter(
    "artel_sqlite_checkpoints_total",
    "How often the log was copied into the database: as a whole, in part, or not at all.",
)
.by("outcome", &["whole", "part", "failed"]);
const WAL_PAGES: Metric =
    Metric::gauge("artel_sqlite_wal_pages", "Pages in the log of SQLite after the last write.");
const READ: Metric = Metric::seconds(
    "artel_sqlite_read_duration_seconds",
    "How long queries took, the wait for a connection included.",
);
const READERS: Metric = Metric::gauge("artel_sqlite_reads", "Queries that run, or wait for a connection.");

/// Everything the store measures.
pub const METRICS: &[Metric] =
    &[APPENDS, CHANGES, QUEUE, BATCH, TRANSACTION, SYNCS_WANTED, SYNC, CHECKPOINTS, WAL_PAGES, READ, READERS];

/// Counts what is written.
#[derive(Clone)]
pub(crate) struct WriteMeters {
    pub(crate) queue: Gauge,
    pub(crate) failed: Counter,
    pub(crate) wal_pages: Gauge,
    written: Counter,
    batch: Histogram,
    transaction: Histogram,
}

impl WriteMeters {
    pub(crate) fn new() -> Self {
        Self {
            queue: gauge!(QUEUE.name),
            failed: counter!(CHANGES.name, "outcome" => "failed"),
            wal_pages: gauge!(WAL_PAGES.name),
            written: counter!(CHANGES.name, "outcome" => "written"),
            batch: histogram!(BATCH.name),
            transaction: histogram!(TRANSACTION.name),
        }
    }

    /// Counts a transaction that was committed.
    pub(crate) fn committed(&self, changes: usize, since: Instant) {
        self.written.increment(changes as u64);
        self.batch.record(u32::try_from(changes).unwrap_or(u32::MAX));
        self.transaction.record(since.elapsed());
    }
}

/// Counts appends to the logs of runs.
pub(crate) fn appends() -> Counter {
    counter!(APPENDS.name)
}

/// Counts fsyncs.
pub(crate) struct SyncMeters {
    pub(crate) wanted: Counter,
    pub(crate) took: Histogram,
}

impl SyncMeters {
    pub(crate) fn new() -> Self {
        Self { wanted: counter!(SYNCS_WANTED.name), took: histogram!(SYNC.name) }
    }
}

/// Counts copies of the log.
#[derive(Clone)]
pub(crate) struct CheckpointMeters {
    whole: Counter,
    part: Counter,
    failed: Counter,
}

impl CheckpointMeters {
    pub(crate) fn new() -> Self {
        let one = |outcome: &'static str| counter!(CHECKPOINTS.name, "outcome" => outcome);
        Self { whole: one("whole"), part: one("part"), failed: one("failed") }
    }

    /// Counts a copy of which so many pages were there and so many copied.
    pub(crate) fn copied<N: PartialEq, E>(&self, pages: &Result<(N, N), E>) {
        match pages {
            Ok((all, copied)) if all == copied => self.whole.increment(1),
            Ok(_) => self.part.increment(1),
            Err(_) => self.failed.increment(1),
        }
    }
}

/// Counts queries.
#[derive(Debug)]
pub(crate) struct ReadMeters {
    took: Histogram,
    going: Gauge,
}

impl ReadMeters {
    pub(crate) fn new() -> Self {
        Self { took: histogram!(READ.name), going: gauge!(READERS.name) }
    }

    /// Counts a query until what is returned is dropped.
    pub(crate) fn reading(&self) -> Reading<'_> {
        self.going.increment(1);
        Reading { meters: self, since: moment() }
    }
}

/// A query that goes on.
pub(crate) struct Reading<'a> {
    meters: &'a ReadMeters,
    since: Instant,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.meters.going.decrement(1);
        self.meters.took.record(self.since.elapsed());
    }
}
