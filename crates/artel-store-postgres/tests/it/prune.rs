//! Runs are removed while others still write to them: what belongs to a run goes with it.

use artel_model::id::ExecutionId;
use artel_model::run::{RunState, RunSummary};
use artel_model::time::Timestamp;
use artel_store::contract::{execution, new_run, note, run_id, summary};
use artel_store::{AppendError, NewRun, Revision, RunAppend, RunStore as _};
use artel_store_postgres::PostgresStore;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::server::Place;

const ROUNDS: u128 = 25;
const RUNS: u128 = 40;
const WRITERS: u128 = 4;

/// Keeps a run that has ended.
async fn keep_ended(store: &PostgresStore, number: u128) {
    let run = run_id(number);
    let completed_at = Some(Timestamp::from_millis(20));
    let ended = RunSummary { state: RunState::Succeeded, completed_at, ..summary(run, 10) };
    store.create(NewRun { summary: ended, ..new_run(run, 10) }).await.expect("the store works");
}

/// Writes to runs in turn until each of them is gone.
async fn write_until_gone(store: PostgresStore, mut numbers: Vec<u128>) {
    let mut end = 1;
    while !numbers.is_empty() {
        let mut left = Vec::new();
        for number in numbers {
            let run = run_id(number);
            let id = ExecutionId(Uuid::from_u128(number << 64 | u128::from(end)));
            let append = RunAppend {
                run,
                expected: Revision(end),
                fence: None,
                events: vec![note(11, "late")],
                summary: None,
                executions: vec![execution(id, run, "late", 11)],
                health: Vec::new(),
            };
            match store.append(append).await {
                Ok(_) => left.push(number),
                Err(AppendError::Unknown) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        (numbers, end) = (left, end + 1);
    }
}

async fn prune_until_gone(store: PostgresStore) -> u64 {
    let mut removed = 0;
    while u128::from(removed) < RUNS {
        removed += store.prune(Timestamp::from_millis(30)).await.expect("the store works");
    }
    removed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_while_a_run_is_removed_goes_with_it() {
    let mut place = Place::any();
    place.options.connections_max = 8;
    let store = place.store().await;
    for round in 0..ROUNDS {
        let numbers: Vec<u128> = (0..RUNS).map(|place| 1 + round * RUNS + place).collect();
        for number in &numbers {
            keep_ended(&store, *number).await;
        }
        let mut tasks = JoinSet::new();
        for writer in 0..WRITERS {
            let own = numbers.iter().copied().filter(|number| number % WRITERS == writer).collect();
            tasks.spawn(write_until_gone(store.clone(), own));
        }
        tasks.spawn({
            let store = store.clone();
            async move { assert_eq!(u128::from(prune_until_gone(store).await), RUNS) }
        });
        tasks.join_all().await;
        let left =
            sqlx::query_as("SELECT (SELECT count(*) FROM run_events), (SELECT count(*) FROM executions)");
        let left: (i64, i64) = left.fetch_one(&mut place.connection().await).await.unwrap();
        assert_eq!(left, (0, 0), "round {round}");
    }
}
