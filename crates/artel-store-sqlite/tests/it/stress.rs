//! Many who write at once, while callers give up, queues are full and another program holds the file: every write that
//! was promised is there, in order, and nobody waits for ever.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::thread;

use artel_model::id::RunId;
use artel_model::time::Timestamp;
use artel_store::contract::{new_run, note, run_id};
use artel_store::{AppendError, Revision, RunAppend, RunStore};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::support::{Folder, append};

const WRITERS: u128 = 40;
const EACH: u64 = 25;

fn next(run: RunId, expected: u64, text: &str) -> RunAppend {
    RunAppend { run, events: vec![note(11, text)], ..append(expected, "") }
}

fn other_program(folder: &Folder) -> Connection {
    let other = Connection::open(folder.database()).unwrap();
    other.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    other
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_writers_wait_for_another_program_and_go_on() {
    let folder = Folder::new();
    let store = Arc::new(folder.open());
    for run in 1..=WRITERS {
        store.create(new_run(run_id(run), 10)).await.unwrap();
    }
    let other = other_program(&folder);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (begun, mut beginnings) = mpsc::channel(1);
    let mut writers = JoinSet::new();
    for run in 1..=WRITERS {
        let (store, begun) = (store.clone(), begun.clone());
        writers.spawn(async move {
            begun.send(()).await.unwrap();
            for end in 1..=EACH {
                assert_eq!(store.append(next(run_id(run), end, "next")).await.unwrap(), Revision(end + 1));
            }
        });
    }
    // All of them run while the file is held: none of them blocks a thread of the runtime.
    for _ in 1..=WRITERS {
        beginnings.recv().await.unwrap();
    }
    assert!(writers.try_join_next().is_none());
    other.execute_batch("ROLLBACK").unwrap();
    let holder = thread::spawn(move || {
        for _ in 0..50 {
            other.execute_batch("BEGIN IMMEDIATE; UPDATE runs SET steps = steps; COMMIT").unwrap();
        }
    });
    writers.join_all().await;
    holder.join().unwrap();
    let report = store.check().await.unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!(u128::from(report.events), WRITERS * u128::from(EACH + 1));
}

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Polls a write so often, and gives it up if it has no answer by then.
fn give_up_after<T>(polls: u64, mut write: Pin<Box<dyn Future<Output = T> + Send + '_>>) {
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if write.as_mut().poll(&mut context).is_ready() {
            return;
        }
    }
}

/// Writes to one run, sometimes much, sometimes without waiting for the answer; returns what its log must hold.
async fn restless_writer(store: Arc<SqliteStore>, run: RunId, mut dice: Dice) -> Vec<(u64, String)> {
    let mut end = 1;
    let mut promised = Vec::new();
    for number in 0..40 {
        let text = match dice.below(20) {
            0 => format!("{number} {}", "x".repeat(100_000)),
            _ => number.to_string(),
        };
        match dice.below(6) {
            0 => give_up_after(1 + dice.below(3), store.append(next(run, end, &text))),
            1 => assert_eq!(store.prune(Timestamp::from_millis(0)).await.unwrap(), 0),
            _ => {
                let before = end;
                end = loop {
                    match store.append(next(run, end, &text)).await {
                        Ok(Revision(end)) => break end,
                        // Writes that were given up may have been made.
                        Err(AppendError::Conflict { actual: Revision(actual) }) if actual > end => {
                            end = actual
                        }
                        Err(error) => panic!("{run:?} {before} {end}: {error:?}"),
                    }
                };
                promised.push((end, text));
            }
        }
        if dice.below(8) == 0 {
            tokio::task::yield_now().await;
        }
    }
    promised
}

/// Takes the file again and again, for a moment or for a few; with an odd seed never, because the thread of the writer
/// does almost everything then.
fn disturb(other: &Connection, enough: &AtomicBool, mut dice: Dice) {
    let disturbs = dice.0.is_multiple_of(2);
    while disturbs && !enough.load(Ordering::Relaxed) {
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        (0..dice.below(50)).for_each(|_| thread::yield_now());
        other.execute_batch("ROLLBACK").unwrap();
        (0..dice.below(200)).for_each(|_| thread::yield_now());
    }
}

async fn storm(seed: u64) {
    let folder = Folder::new();
    let options =
        SqliteOptions { queue_max: 1 + usize::try_from(seed % 7).unwrap(), ..SqliteOptions::default() };
    let store = Arc::new(SqliteStore::open(&folder.database(), options).unwrap());
    let runs = 2 + u128::from(seed % 11);
    for run in 1..=runs {
        store.create(new_run(run_id(run), 10)).await.unwrap();
    }
    let enough = Arc::new(AtomicBool::new(false));
    let (other, told) = (other_program(&folder), enough.clone());
    let disturber = thread::spawn(move || disturb(&other, &told, Dice(seed)));
    let writers = (1..=runs).map(|run| {
        let dice = Dice(seed.wrapping_mul(1000).wrapping_add(run as u64));
        tokio::spawn(restless_writer(store.clone(), run_id(run), dice))
    });
    let writers: Vec<_> = writers.collect();
    let mut promised = Vec::new();
    for writer in writers {
        promised.push(writer.await.unwrap());
    }
    enough.store(true, Ordering::Relaxed);
    disturber.join().unwrap();
    drop(store);
    let store = folder.open();
    let report = store.check().await.unwrap();
    assert!(report.is_sound(), "{report:?}");
    for (run, promised) in (1..).zip(promised) {
        let log = store.events(run_id(run), Revision(0), usize::MAX).await.unwrap();
        for (revision, text) in promised {
            let kept = &log[usize::try_from(revision - 1).unwrap()].event;
            assert_eq!(*kept, note(11, &text), "seed {seed}, run {run}, revision {revision}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_write_is_lost_or_left_behind_on_several_threads() {
    for seed in 0..22 {
        storm(seed).await;
    }
}

#[tokio::test]
async fn no_write_is_lost_or_left_behind_on_one_thread() {
    for seed in 100..108 {
        storm(seed).await;
    }
}

/// The caller is gone before it wrote; others, and the end of the store, do not depend on it.
#[tokio::test]
async fn a_write_that_is_given_up_is_written_without_its_caller() {
    for polls in 1..=2 {
        let folder = Folder::new();
        let store = folder.open();
        for run in 1..=2 {
            store.create(new_run(run_id(run), 10)).await.unwrap();
        }
        // The first of them waits for company, because another task wrote before.
        let text = "given up";
        let writes = tokio::spawn({
            let store = Arc::new(store);
            async move {
                for run in 1..=2 {
                    give_up_after(polls, store.append(next(run_id(run), 1, text)));
                }
                store
            }
        });
        drop(writes.await.unwrap());
        let report = folder.open().check().await.unwrap();
        assert_eq!(report.events, 4, "after {polls} polls");
    }
}
