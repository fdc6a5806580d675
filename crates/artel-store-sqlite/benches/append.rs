//! How many events a second the store takes, beside what SQLite itself gives for the same rows on the same disk.
//!
//! Each append is an event of 300 bytes and the record of an execution: first a new one, then its end. The floors use
//! SQLite directly, with the same tables. It prints numbers and judges nothing.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop there")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::sync::Arc;
use std::time::Instant;

use artel_model::id::{ExecutionId, RunId};
use artel_model::run::ExecutionStatus;
use artel_store::contract::{execution, new_run, note, run_id};
use artel_store::{Fence, Revision, RunAppend, RunStore};
use artel_store_sqlite::{MIGRATIONS, SqliteOptions, SqliteStore};
use camino::Utf8Path;
use rusqlite::{Connection, params};
use tempfile::TempDir;
use tokio::task::JoinSet;
use uuid::Uuid;

const CHAIN: u64 = 20_000;
const CHAIN_SYNCED: u64 = 200;
const TASKS: u128 = 1_000;
const EACH: u64 = 40;
const MANY: u64 = TASKS as u64 * EACH;
const EACH_SYNCED: u64 = 10;
/// The rest of an event that says `approved` is 72 bytes long.
const NOTE_BYTES: usize = 228;

fn main() {
    let folder = tempfile::tempdir_in(
        std::env::args().skip(1).find(|arg| !arg.starts_with("--")).unwrap_or(".".into()),
    );
    let folder = folder.unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    println!("{:<52} {:>10} {:>12}", "", "appends/s", "us per append");
    Floor { runs: 1, count: CHAIN, group: 1, synced: false }
        .measure(&folder, "SQLite, one transaction each, written");
    runtime.block_on(chain(&folder, CHAIN));
    Floor { runs: 1, count: CHAIN_SYNCED, group: 1, synced: true }
        .measure(&folder, "SQLite, one transaction each, synced");
    runtime.block_on(synced_chain(&folder));
    let grouped = Floor { runs: TASKS as u64, count: MANY, group: 100, synced: false };
    grouped.measure(&folder, "SQLite, groups of 100, written");
    Floor { group: 1000, ..grouped }.measure(&folder, "SQLite, groups of 1,000, written");
    runtime.block_on(many(&folder));
    Floor { synced: true, ..grouped }.measure(&folder, "SQLite, groups of 100, synced");
    runtime.block_on(synced_many(&folder));
}

fn report(what: &str, count: u64, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    let rate = count as f64 / seconds;
    println!("{what:<52} {rate:>10.0} {:>12.1}", 1e6 / rate);
}

fn database(folder: &TempDir, name: &str) -> camino::Utf8PathBuf {
    Utf8Path::from_path(folder.path()).unwrap().join(name.replace([' ', ','], "-"))
}

fn open(folder: &TempDir, name: &str) -> SqliteStore {
    SqliteStore::open(&database(folder, name), SqliteOptions::default()).unwrap()
}

/// The append that brings a run from `end` to the next revision: every second one ends the execution of the one before.
fn append(run: RunId, end: u64) -> RunAppend {
    let id = ExecutionId(Uuid::from_u128((u128::from(end / 2) << 64) | run.0.as_u128()));
    let mut record = execution(id, run, "fetch-object", i64::try_from(end / 2).unwrap());
    if end % 2 == 1 {
        record.status = ExecutionStatus::Success;
        record.duration_ms = Some(5);
    }
    RunAppend {
        run,
        expected: Revision(end),
        fence: Some(Fence(1)),
        events: vec![note(5, &"x".repeat(NOTE_BYTES))],
        summary: None,
        executions: vec![record],
        health: Vec::new(),
    }
}

async fn chain(folder: &TempDir, count: u64) {
    let store = open(folder, "chain");
    store.create(new_run(run_id(1), 10)).await.unwrap();
    let task = tokio::spawn(async move {
        let started = Instant::now();
        for end in 1..=count {
            store.append(append(run_id(1), end)).await.unwrap();
        }
        report("artel, one chain, written", count, started);
    });
    task.await.unwrap();
}

async fn synced_chain(folder: &TempDir) {
    let store = open(folder, "synced chain");
    store.create(new_run(run_id(1), 10)).await.unwrap();
    let started = Instant::now();
    for end in 1..=CHAIN_SYNCED {
        store.append(append(run_id(1), end)).await.unwrap();
        store.sync().await.unwrap();
    }
    report("artel, one chain, each synced before the next", CHAIN_SYNCED, started);
}

async fn many(folder: &TempDir) {
    let store = Arc::new(open(folder, "many"));
    create_all(&store).await;
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for run in 1..=TASKS {
        let store = store.clone();
        tasks.spawn(async move {
            for end in 1..=EACH {
                store.append(append(run_id(run), end)).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    report("artel, 1,000 chains at once, written", MANY, started);
}

async fn synced_many(folder: &TempDir) {
    let store = Arc::new(open(folder, "synced many"));
    create_all(&store).await;
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for run in 1..=TASKS {
        let store = store.clone();
        tasks.spawn(async move {
            for end in 1..=EACH_SYNCED {
                store.append(append(run_id(run), end)).await.unwrap();
                store.sync().await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    report("artel, 1,000 chains at once, each synced", TASKS as u64 * EACH_SYNCED, started);
}

async fn create_all(store: &Arc<SqliteStore>) {
    for run in 1..=TASKS {
        store.create(new_run(run_id(run), 10)).await.unwrap();
    }
}

/// The same rows through SQLite alone, on one thread.
#[derive(Clone, Copy)]
struct Floor {
    runs: u64,
    count: u64,
    /// Appends to a transaction.
    group: u64,
    synced: bool,
}

impl Floor {
    fn measure(self, folder: &TempDir, what: &str) {
        let connection = Connection::open(database(folder, what)).unwrap();
        let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).unwrap();
        connection.pragma_update(None, "synchronous", if self.synced { "FULL" } else { "NORMAL" }).unwrap();
        connection.execute_batch(MIGRATIONS[0].sql).unwrap();
        for number in 1..=self.runs {
            let run = "INSERT INTO runs (id, kind, plan_id, state, steps, created_at, fence) \
                       VALUES (?1, '', ?1, '', 1, 1, 1)";
            connection.execute(run, [run_id(number.into()).0.into_bytes()]).unwrap();
        }
        let started = Instant::now();
        for first in (0..self.count).step_by(usize::try_from(self.group).unwrap()) {
            connection.prepare_cached("BEGIN IMMEDIATE").unwrap().execute([]).unwrap();
            for number in first..first + self.group {
                insert(&connection, number % self.runs + 1, number / self.runs + 1);
            }
            connection.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
        }
        report(what, self.count, started);
    }
}

/// Writes an event, and the record of an execution or its end.
fn insert(connection: &Connection, run: u64, revision: u64) {
    let append = append(run_id(run.into()), revision);
    let event = serde_json::to_string(&append.events[0].event).unwrap();
    let record = &append.executions[0];
    let mut events = connection
        .prepare_cached("INSERT INTO events (run, revision, at, event) VALUES (?1, ?2, 5, ?3)")
        .unwrap();
    events.execute(params![run as i64, revision as i64, event]).unwrap();
    let mut records = connection
        .prepare_cached(
            "INSERT INTO executions (id, run, skill, status, started_at, retry_count, record) \
             VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6) \
             ON CONFLICT (id) DO UPDATE SET status = excluded.status, record = excluded.record",
        )
        .unwrap();
    let text = serde_json::to_string(record).unwrap();
    let id = record.execution_id.0.into_bytes();
    let began = record.started_at.as_millis();
    records.execute(params![id, run as i64, "fetch-object", record.status.as_str(), began, text]).unwrap();
}
