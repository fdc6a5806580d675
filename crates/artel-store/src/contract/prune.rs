//! Cases about removing what ended long ago.

use super::sample::{
    Shared, WORKS, append, at, create, ended, execution, execution_id, log, new_run, row, run_id, succeeded,
};
use crate::run::{AppendError, Created, NewRun, Revision, RunAppend};

/// Keeps a run with an execution that ended at `completed`.
async fn keep_ended(store: &Shared, number: u128, completed: i64) {
    create(store, run_id(number), 10).await;
    let end = RunAppend {
        summary: Some(ended(run_id(number), 10, completed)),
        executions: vec![succeeded(number, run_id(number), "grasp", 10, 5)],
        ..append(run_id(number), 1, Vec::new())
    };
    store.append(end).await.expect(WORKS);
}

/// Runs that ended before the moment go with their logs and executions; all others stay as they were.
pub async fn prune_removes_what_ended_before_and_nothing_else(store: Shared) {
    for (number, completed) in [(1, 99), (2, 100), (3, 101), (4, -7)] {
        keep_ended(&store, number, completed).await;
    }
    create(&store, run_id(5), 10).await;
    let running = vec![execution(execution_id(5), run_id(5), "grasp", 10)];
    store.append(RunAppend { executions: running, ..append(run_id(5), 1, Vec::new()) }).await.expect(WORKS);
    let before = row(&store, run_id(2)).await;
    assert_eq!(store.prune(at(100)).await.expect(WORKS), 2);
    for (number, stays) in [(1, false), (2, true), (3, true), (4, false), (5, true)] {
        assert_eq!(store.run(run_id(number)).await.expect(WORKS).is_some(), stays, "run {number}");
        let record = store.execution(execution_id(number)).await.expect(WORKS);
        assert_eq!(record.is_some(), stays, "execution {number}");
        assert_eq!(log(&store, run_id(number)).await.len(), usize::from(stays), "log {number}");
    }
    assert_eq!(row(&store, run_id(2)).await, before);
    assert_eq!(store.prune(at(100)).await.expect(WORKS), 0);
    let answer = store.append(append(run_id(1), 1, Vec::new())).await;
    assert!(matches!(answer, Err(AppendError::Unknown)), "{answer:?}");
    store.append(append(run_id(5), 1, Vec::new())).await.expect(WORKS);
}

/// The key of a run that is gone is free again, and so is its id.
pub async fn prune_frees_the_idempotency_key(store: Shared) {
    let with_key = |number| NewRun {
        summary: ended(run_id(number), 10, 20),
        idempotency_key: Some("key".to_owned()),
        ..new_run(run_id(number), 10)
    };
    assert_eq!(store.create(with_key(1)).await.expect(WORKS), Created::New);
    assert_eq!(store.prune(at(21)).await.expect(WORKS), 1);
    assert_eq!(store.create(with_key(2)).await.expect(WORKS), Created::New);
    assert_eq!(store.create(with_key(1)).await.expect(WORKS), Created::Existing(run_id(2)));
    create(&store, run_id(1), 10).await;
    assert_eq!(row(&store, run_id(1)).await.revision, Revision(1));
    assert_eq!(log(&store, run_id(1)).await.len(), 1);
}

/// However many there are.
pub async fn prune_of_many_runs_counts_them(store: Shared) {
    for number in 1..=300 {
        let run = NewRun { summary: ended(run_id(number), 10, 20), ..new_run(run_id(number), 10) };
        store.create(run).await.expect(WORKS);
    }
    create(&store, run_id(999), 10).await;
    assert_eq!(store.prune(at(21)).await.expect(WORKS), 300);
    assert_eq!(row(&store, run_id(999)).await.revision, Revision(1));
}
