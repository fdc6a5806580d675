//! Cases about many that write and read at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinSet;

use super::sample::{
    Shared, WORKS, append, create, execution, execution_id, full_append, log, note, row, run_id,
};
use crate::run::{AppendError, Revision, RunAppend};

/// Of many that append to one place of a log, one wins; the others learn where it ends.
pub async fn one_of_many_appends_wins_each_revision(store: Shared) {
    create(&store, run_id(1), 10).await;
    for revision in 1..=10 {
        let mut tasks = JoinSet::new();
        for writer in 0..16 {
            let store = store.clone();
            let event = note(writer, &format!("writer {writer}"));
            tasks.spawn(async move {
                let answer = store.append(append(run_id(1), revision, vec![event.clone()])).await;
                (answer, event)
            });
        }
        let answers = tasks.join_all().await;
        let won: Vec<_> = answers.iter().filter(|(answer, _)| answer.is_ok()).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        for (answer, _) in answers.iter().filter(|(answer, _)| answer.is_err()) {
            let Err(AppendError::Conflict { actual }) = answer else { panic!("{answer:?}") };
            assert_eq!(*actual, Revision(revision + 1));
        }
        let last = log(&store, run_id(1)).await.pop().expect("the log is not empty");
        assert_eq!((last.revision, &last.event), (Revision(revision + 1), &won[0].1));
    }
}

/// Runs do not stand in each other's way.
pub async fn appends_to_many_runs_all_succeed(store: Shared) {
    let mut tasks = JoinSet::new();
    for number in 1..=50 {
        let store = store.clone();
        tasks.spawn(async move {
            create(&store, run_id(number), 10).await;
            for revision in 1..=10 {
                let executions = vec![execution(execution_id(number), run_id(number), "grasp", 10)];
                let next =
                    RunAppend { executions, ..append(run_id(number), revision, vec![note(11, "next")]) };
                assert_eq!(store.append(next).await.expect(WORKS), Revision(revision + 1));
            }
        });
    }
    tasks.join_all().await;
    for number in 1..=50 {
        let revisions: Vec<u64> =
            log(&store, run_id(number)).await.iter().map(|logged| logged.revision.0).collect();
        assert_eq!(revisions, (1..=11).collect::<Vec<_>>());
        assert_eq!(row(&store, run_id(number)).await.revision, Revision(11));
    }
}

/// Whoever sees the end of an append in one place sees all of it in the others.
pub async fn readers_never_see_half_an_append(store: Shared) {
    let finished = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn(watch_runs(store.clone(), finished.clone()));
    for number in 1..=100 {
        create(&store, run_id(number), 10).await;
        let end = RunAppend {
            executions: vec![execution(execution_id(number), run_id(number), "grasp", 20)],
            ..full_append(run_id(number), 1)
        };
        store.append(end).await.expect(WORKS);
    }
    finished.store(true, Ordering::Release);
    reader.await.expect("the reader found nothing halved");
}

async fn watch_runs(store: Shared, finished: Arc<AtomicBool>) {
    let mut number = 1;
    while !finished.load(Ordering::Acquire) {
        if let Some(row) = store.run(run_id(number)).await.expect(WORKS) {
            let ended = row.summary.state.is_final();
            assert_eq!(row.revision, Revision(1 + u64::from(ended)));
            if ended {
                assert_eq!(log(&store, run_id(number)).await.len(), 2);
                assert!(store.execution(execution_id(number)).await.expect(WORKS).is_some());
                assert_eq!(store.health_counts().await.expect(WORKS).len(), 1);
                number += 1;
            }
        }
        tokio::task::yield_now().await;
    }
}
