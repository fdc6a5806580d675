//! Cases about adding events: all of an append is written, or nothing of it.

use artel_model::data_scope::OwnerKey;
use artel_model::health::{Counted, RunOutcome, Tally};
use artel_model::run::{AttemptOutcome, AttemptReport, RunEvent, StampedEvent};
use serde_json::{Value, json};

use super::sample::{
    Shared, WORKS, append, at, create, ended, execution, execution_id, full_append, log, note, row, run_id,
    skill, summary,
};
use crate::health::HealthCount;
use crate::run::{AppendError, Claim, Fence, HealthChange, OwnerId, Revision, RunAppend};

/// Events are read from anywhere in the log, as many as wanted.
pub async fn events_are_read_in_pages(store: Shared) {
    create(&store, run_id(1), 10).await;
    create(&store, run_id(2), 10).await;
    for number in 1..=9 {
        let events = vec![note(number, &format!("event {}", number + 1))];
        let expected = u64::try_from(number).expect("positive");
        store.append(append(run_id(1), expected, events)).await.expect(WORKS);
    }
    let page = async |after, limit| {
        let events = store.events(run_id(1), Revision(after), limit).await.expect(WORKS);
        events.iter().map(|logged| logged.revision.0).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 4).await, [1, 2, 3, 4]);
    assert_eq!(page(4, 4).await, [5, 6, 7, 8]);
    assert_eq!(page(8, 4).await, [9, 10]);
    assert!(page(10, 4).await.is_empty());
    assert!(page(u64::MAX, 4).await.is_empty());
    assert!(page(0, 0).await.is_empty());
    assert_eq!(log(&store, run_id(1)).await[4].event, note(4, "event 5"));
    assert_eq!(log(&store, run_id(2)).await.len(), 1);
}

/// What scripts say may hold any character and any number, also those that databases dislike.
pub async fn any_text_and_number_is_kept(store: Shared) {
    create(&store, run_id(1), 10).await;
    let text = "Gr\u{fc}\u{df}e \u{1f469}\u{200d}\u{1f680} \u{0} \u{1}\r\n\t\"'\\ \u{fffd} \u{202e}\u{10ffff} $1 ? :a";
    let output = json!({ text: [text, 0.1, 1e300, -0.0, 5e-324, u64::MAX, i64::MIN, null, {"": {}}] });
    let Value::Object(output) = output else { unreachable!("an object was written") };
    let outcome = AttemptOutcome::Completed { output, patches: Vec::new(), summary: Some(text.to_owned()) };
    let report = AttemptReport { outcome, assets: Vec::new(), stderr: text.to_owned(), dropped_events: 0 };
    let event = RunEvent::Ended { step: 7, attempt: 1, report: Box::new(report) };
    let event = StampedEvent { at: at(11), event };
    store.append(append(run_id(1), 1, vec![event.clone()])).await.expect(WORKS);
    assert_eq!(log(&store, run_id(1)).await[1].event, event);
}

/// The longest line a script may write fits into one event.
pub async fn a_mebibyte_in_one_event_is_kept(store: Shared) {
    create(&store, run_id(1), 10).await;
    let big = note(11, &"\u{e4}bc".repeat(1 << 18));
    store.append(append(run_id(1), 1, vec![big.clone(), note(12, "small")])).await.expect(WORKS);
    let log = log(&store, run_id(1)).await;
    assert_eq!(log.len(), 3);
    assert!(log[1].event == big, "the big event came back changed");
}

/// Many events can be written at once.
pub async fn a_thousand_events_in_one_append_are_kept(store: Shared) {
    create(&store, run_id(1), 10).await;
    let events: Vec<_> = (0..1000).map(|number| note(number, &format!("event {number}"))).collect();
    let revision = store.append(append(run_id(1), 1, events.clone())).await.expect(WORKS);
    assert_eq!(revision, Revision(1001));
    let logged = log(&store, run_id(1)).await;
    assert!(logged.into_iter().skip(1).map(|logged| logged.event).eq(events));
}

/// Events, summary, executions and health change in one write.
pub async fn an_append_changes_everything_at_once(store: Shared) {
    create(&store, run_id(1), 10).await;
    assert_eq!(store.append(full_append(run_id(1), 1)).await.expect(WORKS), Revision(2));
    assert_eq!(log(&store, run_id(1)).await[1].event, note(30, "full"));
    let kept = row(&store, run_id(1)).await;
    assert_eq!((kept.summary, kept.revision), (ended(run_id(1), 10, 90), Revision(2)));
    let record = store.execution(execution_id(77)).await.expect(WORKS);
    assert_eq!(record, Some(execution(execution_id(77), run_id(1), "grasp", 20)));
    let health = store.health_counts().await.expect(WORKS);
    let expected = HealthCount {
        skill: skill("grasp"),
        content_hash: "sha256:1".to_owned(),
        principal: OwnerKey::of(None),
        counted: Counted { tally: Tally::CLEAR.after(RunOutcome::Failure), at: at(30) },
    };
    assert_eq!(health, [expected]);
}

/// An append may change only what lists show; the log stays as it is.
pub async fn an_append_without_events_changes_the_rest(store: Shared) {
    create(&store, run_id(1), 10).await;
    let silent = RunAppend { events: Vec::new(), ..full_append(run_id(1), 1) };
    assert_eq!(store.append(silent).await.expect(WORKS), Revision(1));
    assert_eq!(row(&store, run_id(1)).await.summary, ended(run_id(1), 10, 90));
    assert_eq!(log(&store, run_id(1)).await.len(), 1);
    let late = RunAppend { events: Vec::new(), ..full_append(run_id(1), 0) };
    let answer = store.append(late).await;
    assert!(matches!(answer, Err(AppendError::Conflict { actual: Revision(1) })), "{answer:?}");
}

/// An append whose log has moved on, or is not there yet, is refused whole.
pub async fn a_conflict_writes_nothing(store: Shared) {
    create(&store, run_id(1), 10).await;
    for expected in [0, 2, u64::MAX] {
        let answer = store.append(full_append(run_id(1), expected)).await;
        assert!(matches!(answer, Err(AppendError::Conflict { actual: Revision(1) })), "{answer:?}");
        is_untouched(&store).await;
    }
}

/// The late write of an earlier owner is refused whole, even if its revision fits, and also if it does not.
pub async fn a_fenced_append_writes_nothing(store: Shared) {
    create(&store, run_id(1), 10).await;
    let claim = Claim { run: run_id(1), seen: Fence(1), owner: OwnerId("two".to_owned()) };
    store.claim(claim).await.expect(WORKS);
    for (fence, expected) in [(1, 1), (1, 7), (0, 1), (3, 1), (u64::MAX, 1)] {
        let late = RunAppend { fence: Some(Fence(fence)), ..full_append(run_id(1), expected) };
        let answer = store.append(late).await;
        assert!(matches!(answer, Err(AppendError::Fenced)), "{answer:?}");
        is_untouched(&store).await;
    }
    let owned = RunAppend { fence: Some(Fence(2)), ..full_append(run_id(1), 1) };
    assert_eq!(store.append(owned).await.expect(WORKS), Revision(2));
}

/// There is nothing to append to.
pub async fn an_append_to_an_unknown_run_writes_nothing(store: Shared) {
    create(&store, run_id(1), 10).await;
    for expected in [0, 1] {
        let answer = store.append(full_append(run_id(2), expected)).await;
        assert!(matches!(answer, Err(AppendError::Unknown)), "{answer:?}");
        assert_eq!(store.run(run_id(2)).await.expect(WORKS), None);
        is_untouched(&store).await;
    }
}

/// Checks that the only run is as it was created.
async fn is_untouched(store: &Shared) {
    let kept = row(store, run_id(1)).await;
    assert_eq!((kept.summary, kept.revision), (summary(run_id(1), 10), Revision(1)));
    assert_eq!(log(store, run_id(1)).await.len(), 1);
    assert_eq!(store.execution(execution_id(77)).await.expect(WORKS), None);
    assert_eq!(store.health_counts().await.expect(WORKS), []);
}

/// Anybody may cancel a run: the command goes into the log whoever drives it.
pub async fn a_command_needs_no_fence(store: Shared) {
    create(&store, run_id(1), 10).await;
    let command = RunAppend { fence: None, ..append(run_id(1), 1, vec![note(11, "cancel")]) };
    assert_eq!(store.append(command).await.expect(WORKS), Revision(2));
    let late = RunAppend { fence: None, ..append(run_id(1), 1, vec![note(12, "cancel")]) };
    let answer = store.append(late).await;
    assert!(matches!(answer, Err(AppendError::Conflict { actual: Revision(2) })), "{answer:?}");
}

/// Whoever watches the version misses no write.
pub async fn every_write_changes_the_version(store: Shared) {
    let mut last = store.version().await.expect(WORKS);
    let mut changes = async |what: &str| {
        let version = store.version().await.expect(WORKS);
        assert_ne!(version, last, "{what}");
        last = version;
    };
    create(&store, run_id(1), 10).await;
    changes("create").await;
    store.append(append(run_id(1), 1, vec![note(11, "next")])).await.expect(WORKS);
    changes("append").await;
    store.append(full_append(run_id(1), 2)).await.expect(WORKS);
    changes("append of everything").await;
    let change = HealthChange {
        skill: skill("grasp"),
        content_hash: "sha256:1".to_owned(),
        principal: OwnerKey::of(Some(&"ann".parse().expect("a name"))),
        outcome: RunOutcome::Success,
        at: at(31),
    };
    let healed = RunAppend { health: vec![change], ..append(run_id(1), 3, Vec::new()) };
    store.append(healed).await.expect(WORKS);
    changes("append of health").await;
    let claim = Claim { run: run_id(1), seen: Fence(1), owner: OwnerId("two".to_owned()) };
    store.claim(claim).await.expect(WORKS);
    changes("claim").await;
    store.reset_health(&skill("grasp"), None).await.expect(WORKS);
    changes("reset of health").await;
    assert_eq!(store.prune(at(91)).await.expect(WORKS), 1);
    changes("prune").await;
}

/// A sync may be asked for at any time, by many at once.
pub async fn what_is_synced_is_still_there(store: Shared) {
    store.sync().await.expect(WORKS);
    create(&store, run_id(1), 10).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let store = store.clone();
        tasks.spawn(async move { store.sync().await.expect(WORKS) });
    }
    tasks.join_all().await;
    assert_eq!(log(&store, run_id(1)).await.len(), 1);
}
