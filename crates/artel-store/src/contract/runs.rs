//! Cases about keeping runs.

use artel_model::id::{AgentId, PlanId};
use artel_model::run::{RunState, RunSummary, SubmissionKind};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::sample::{
    Shared, WORKS, append, at, create, ended, execution_id, log, new_run, note, row, run_id, skill, summary,
};
use crate::execution::ExecutionFilter;
use crate::page::PageRequest;
use crate::run::{Created, Fence, LoggedEvent, NewRun, OwnerId, Revision, RunRow};

/// A run is kept with its first events.
pub async fn a_run_is_kept_with_its_first_events(store: Shared) {
    let events = vec![note(10, "submitted"), note(11, "and more")];
    let run = NewRun { events: events.clone(), ..new_run(run_id(1), 10) };
    assert_eq!(store.create(run).await.expect(WORKS), Created::New);
    let expected = RunRow {
        summary: summary(run_id(1), 10),
        revision: Revision(2),
        owner: Some(OwnerId("one".to_owned())),
        fence: Fence(1),
    };
    assert_eq!(row(&store, run_id(1)).await, expected);
    let logged = (1..).map(Revision).zip(events).map(|(revision, event)| LoggedEvent { revision, event });
    assert_eq!(log(&store, run_id(1)).await, logged.collect::<Vec<_>>());
}

/// A run that nobody drives has had no owner.
pub async fn a_run_without_an_owner_has_fence_zero(store: Shared) {
    let run = NewRun { owner: None, events: Vec::new(), ..new_run(run_id(1), 10) };
    store.create(run).await.expect(WORKS);
    let kept = row(&store, run_id(1)).await;
    assert_eq!((kept.owner, kept.fence, kept.revision), (None, Fence(0), Revision(0)));
}

/// An idempotency key makes a second submission return the first run, and write nothing.
pub async fn a_second_run_with_the_same_key_is_the_first(store: Shared) {
    let with_key =
        |number, key: &str| NewRun { idempotency_key: Some(key.to_owned()), ..new_run(run_id(number), 10) };
    assert_eq!(store.create(with_key(1, "a")).await.expect(WORKS), Created::New);
    assert_eq!(store.create(with_key(2, "a")).await.expect(WORKS), Created::Existing(run_id(1)));
    assert_eq!(store.run(run_id(2)).await.expect(WORKS), None);
    assert_eq!(log(&store, run_id(2)).await, []);
    assert_eq!(store.create(with_key(3, "A")).await.expect(WORKS), Created::New, "keys differ by case");
    assert_eq!(store.create(with_key(4, "")).await.expect(WORKS), Created::New, "the empty key is a key");
    assert_eq!(store.create(with_key(5, "")).await.expect(WORKS), Created::Existing(run_id(4)));
}

/// A submission that is sent again with its id, because its answer was lost, is found.
pub async fn a_second_run_with_the_same_id_is_the_first(store: Shared) {
    create(&store, run_id(1), 10).await;
    let again = NewRun { events: vec![note(99, "again")], ..new_run(run_id(1), 99) };
    assert_eq!(store.create(again).await.expect(WORKS), Created::Existing(run_id(1)));
    assert_eq!(row(&store, run_id(1)).await.summary, summary(run_id(1), 10));
    assert_eq!(log(&store, run_id(1)).await.len(), 1);
}

/// Of many submissions at once with one key, one becomes a run and the others find it.
pub async fn an_idempotency_key_wins_a_race_once(store: Shared) {
    let mut tasks = JoinSet::new();
    for number in 1..=20 {
        let store = store.clone();
        let run = NewRun { idempotency_key: Some("same".to_owned()), ..new_run(run_id(number), 10) };
        tasks.spawn(async move { (run_id(number), store.create(run).await.expect(WORKS)) });
    }
    let answers = tasks.join_all().await;
    let winners: Vec<_> = answers.iter().filter(|(_, created)| *created == Created::New).collect();
    assert_eq!(winners.len(), 1, "{answers:?}");
    let winner = winners[0].0;
    let finds_winner = |created: Created| created == Created::New || created == Created::Existing(winner);
    assert!(answers.iter().all(|(_, created)| finds_winner(*created)), "{answers:?}");
}

/// What is not there is nothing, not an error.
pub async fn unknown_ids_are_none(store: Shared) {
    assert_eq!(store.run(run_id(9)).await.expect(WORKS), None);
    assert_eq!(store.execution(execution_id(9)).await.expect(WORKS), None);
    assert_eq!(log(&store, run_id(9)).await, []);
    assert_eq!(store.health_counts().await.expect(WORKS), []);
    let first = PageRequest { after: None, limit: 10 };
    let filter = ExecutionFilter { run: Some(run_id(9)), ..ExecutionFilter::default() };
    let page = store.executions(&filter, &first).await.expect(WORKS);
    assert_eq!((page.items, page.next), (Vec::new(), None));
    store.reset_health(&skill("nobody"), None).await.expect(WORKS);
    assert_eq!(store.prune(at(i64::MAX)).await.expect(WORKS), 0);
}

/// Every state, kind and field of a summary comes back as it was.
pub async fn every_kind_of_summary_is_kept(store: Shared) {
    for (number, state) in (1..).zip(RunState::ALL) {
        let rich = RunSummary {
            kind: SubmissionKind::Skill { skill: skill("fetch-object") },
            plan_id: PlanId(Uuid::max()),
            agent_id: Some(AgentId(Uuid::from_u128(u128::MAX - 1))),
            state: *state,
            steps: 10_000,
            ..ended(run_id(number), 5, 6)
        };
        let run = NewRun { summary: rich.clone(), ..new_run(run_id(number), 5) };
        store.create(run).await.expect(WORKS);
        assert_eq!(row(&store, run_id(number)).await.summary, rich);
    }
}

/// Time does not begin in 1970 and does not end soon.
pub async fn moments_before_1970_and_far_ahead_are_kept(store: Shared) {
    // The years -9999 and 9999: what documents can write.
    let moments = [-377_705_023_201_000, -1, 0, 253_402_207_200_999];
    for (number, millis) in (1..).zip(moments) {
        let run =
            NewRun { summary: ended(run_id(number), millis, millis), ..new_run(run_id(number), millis) };
        store.create(run).await.expect(WORKS);
        store.append(append(run_id(number), 1, vec![note(millis, "later")])).await.expect(WORKS);
        let kept = row(&store, run_id(number)).await.summary;
        assert_eq!((kept.created_at, kept.completed_at), (at(millis), Some(at(millis))));
        assert!(log(&store, run_id(number)).await.iter().all(|logged| logged.event.at == at(millis)));
    }
}
