//! Cases about lists of runs and their pages.

use artel_model::run::{RunState, RunSummary};

use super::sample::{Shared, WORKS, append, at, create, new_run, run_id, summary, user};
use crate::error::StoreError;
use crate::execution::ExecutionFilter;
use crate::page::{Cursor, PageRequest};
use crate::run::{NewRun, RunAppend, RunFilter};

/// Returns the numbers of all runs that fit, read in pages of `limit`.
async fn numbers(store: &Shared, filter: &RunFilter, limit: usize) -> Vec<u128> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.runs(filter, &PageRequest { after, limit }).await.expect(WORKS);
        assert!(page.items.len() <= limit, "a page has {} items of {limit}", page.items.len());
        assert!(page.next.is_none() || page.items.len() == limit, "a page in the middle is not full");
        found.extend(page.items.iter().map(|row| row.summary.run_id.0.as_u128()));
        match page.next {
            Some(next) => after = Some(next),
            None => return found,
        }
    }
}

/// The latest run comes first; of those at the same time, the one with the greatest id. Pages of any size agree.
pub async fn runs_are_listed_latest_first(store: Shared) {
    let all = RunFilter::default();
    assert_eq!(numbers(&store, &all, 3).await, []);
    for (number, millis) in [(1, 30), (2, 10), (u128::MAX, 20), (4, 20), (5, 20), (6, -5)] {
        create(&store, run_id(number), millis).await;
    }
    for limit in 1..=7 {
        assert_eq!(numbers(&store, &all, limit).await, [1, u128::MAX, 5, 4, 2, 6], "pages of {limit}");
    }
    assert_eq!(numbers(&store, &all, usize::MAX).await.len(), 6);
}

/// Runs are found by what they do and by when they were asked for.
pub async fn runs_are_listed_by_state_and_time(store: Shared) {
    for (number, state) in (0..).zip(RunState::ALL) {
        let at_state = RunSummary { state: *state, ..summary(run_id(number), 10) };
        let run = NewRun { summary: at_state, ..new_run(run_id(number), 10) };
        store.create(run).await.expect(WORKS);
        let later = RunSummary { state: *state, ..summary(run_id(number + 100), 20) };
        let run = NewRun { summary: later, ..new_run(run_id(number + 100), 20) };
        store.create(run).await.expect(WORKS);
    }
    let only = |states: &[RunState]| RunFilter { states: states.to_vec(), ..RunFilter::default() };
    for (number, state) in (0..).zip(RunState::ALL) {
        assert_eq!(numbers(&store, &only(&[*state]), 1).await, [number + 100, number]);
    }
    let several = only(&[RunState::Failed, RunState::Running]);
    assert_eq!(numbers(&store, &several, 3).await, [105, 100, 5, 0]);
    let early = RunFilter { created_before: Some(at(20)), ..several.clone() };
    assert_eq!(numbers(&store, &early, 3).await, [5, 0]);
    let late = RunFilter { created_from: Some(at(20)), ..several };
    assert_eq!(numbers(&store, &late, 1).await, [105, 100]);
    let none = RunFilter { created_from: Some(at(11)), created_before: Some(at(20)), ..RunFilter::default() };
    assert_eq!(numbers(&store, &none, 1).await, []);
    let stopped = RunSummary { state: RunState::Stopping, ..summary(run_id(0), 10) };
    store
        .append(RunAppend { summary: Some(stopped), ..append(run_id(0), 1, Vec::new()) })
        .await
        .expect(WORKS);
    assert_eq!(numbers(&store, &only(&[RunState::Running]), 9).await, [100]);
    assert_eq!(numbers(&store, &only(&[RunState::Stopping]), 9).await, [103, 3, 0]);
}

/// Runs are found by whose they are, page by page; those of nobody are nobody's.
pub async fn runs_are_listed_by_owner(store: Shared) {
    for number in 1..=9 {
        create(&store, run_id(number), 10).await;
    }
    let of = |name: &str| RunFilter { owner: Some(user(name)), ..RunFilter::default() };
    for limit in [1, 2, 9] {
        assert_eq!(numbers(&store, &of("ann"), limit).await, [7, 4, 1], "pages of {limit}");
    }
    assert_eq!(numbers(&store, &of("Böb <bob@example.org>"), 2).await, [8, 5, 2]);
    assert_eq!(numbers(&store, &of("ANN"), 2).await, []);
    let states = vec![RunState::Failed];
    assert_eq!(numbers(&store, &RunFilter { states, ..of("ann") }, 2).await, []);
    let kept = store.run(run_id(4)).await.expect(WORKS).expect("it is kept");
    assert_eq!(kept.summary.owner, Some(user("ann")));
    let kept = store.run(run_id(3)).await.expect(WORKS).expect("it is kept");
    assert_eq!(kept.summary.owner, None);
}

/// Who turns pages sees every run once, whatever arrives meanwhile.
pub async fn pages_are_stable_while_runs_arrive(store: Shared) {
    for number in 1..=10 {
        create(&store, run_id(number), 10 + i64::try_from(number / 3).expect("small")).await;
    }
    let mut seen = Vec::new();
    let mut after = None;
    for arriving in 100.. {
        let request = PageRequest { after, limit: 3 };
        let page = store.runs(&RunFilter::default(), &request).await.expect(WORKS);
        seen.extend(page.items.iter().map(|row| row.summary.run_id.0.as_u128()));
        create(&store, run_id(arriving), 1000).await;
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
}

/// A cursor that no list gave out is the caller's mistake, and said to be.
pub async fn a_foreign_cursor_is_refused(store: Shared) {
    create(&store, run_id(1), 10).await;
    for text in ["", "zzz", "1.2.3", "' OR 1=1 --", "\u{0}"] {
        let request = PageRequest { after: Some(Cursor(text.to_owned())), limit: 3 };
        let answer = store.runs(&RunFilter::default(), &request).await;
        assert!(matches!(answer, Err(StoreError::UnknownCursor { .. })), "{answer:?}");
        let answer = store.executions(&ExecutionFilter::default(), &request).await;
        assert!(matches!(answer, Err(StoreError::UnknownCursor { .. })), "{answer:?}");
    }
}
