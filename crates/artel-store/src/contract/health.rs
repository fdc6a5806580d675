//! Cases about how skills have been doing.

use artel_model::data_scope::OwnerKey;
use artel_model::health::RunOutcome;
use artel_model::time::Timestamp;

use super::sample::{Shared, WORKS, append, create, run_id, skill};
use crate::run::{HealthChange, RunAppend};

/// Appends outcomes of a principal with some files of a skill: `.` is a success, `x` a failure, `t` a time-out.
async fn outcomes(store: &Shared, who: &str, of: &str, content_hash: &str, outcomes: &str) {
    let principal = match who {
        "local" => OwnerKey::of(None),
        user => OwnerKey::of(Some(&user.parse().expect("a name"))),
    };
    let change = |outcome| HealthChange {
        skill: skill(of),
        content_hash: content_hash.to_owned(),
        principal: principal.clone(),
        outcome,
        at: Timestamp::from_millis(7),
    };
    let health = outcomes.chars().map(|outcome| match outcome {
        '.' => change(RunOutcome::Success),
        'x' => change(RunOutcome::Failure),
        _ => change(RunOutcome::Transient),
    });
    let changes = RunAppend { health: health.collect(), ..append(run_id(1), 1, Vec::new()) };
    store.append(changes).await.expect(WORKS);
}

/// Returns all that is counted as a sentence.
async fn told(store: &Shared) -> String {
    let counts = store.health_counts().await.expect(WORKS);
    let tell = |entry: &crate::HealthCount| {
        assert_eq!(entry.counted.at, Timestamp::from_millis(7));
        let ann = OwnerKey::of(Some(&"ann".parse().expect("a name")));
        let who = if entry.principal.is_local() {
            "local"
        } else if entry.principal == ann {
            "ann"
        } else {
            "another"
        };
        format!("{} {} {who} {}", entry.skill, entry.content_hash, entry.counted.tally)
    };
    counts.iter().map(tell).collect::<Vec<_>>().join(", ")
}

/// Each outcome changes the tally as the model says, several of one append too.
pub async fn health_follows_the_outcomes(store: Shared) {
    create(&store, run_id(1), 10).await;
    outcomes(&store, "local", "grasp", "a", "x").await;
    assert_eq!(told(&store).await, "grasp a local 1");
    outcomes(&store, "local", "grasp", "a", "xx").await;
    outcomes(&store, "local", "approach", "b", ".").await;
    assert_eq!(told(&store).await, "grasp a local 3");
    outcomes(&store, "local", "grasp", "a", "t").await;
    assert_eq!(told(&store).await, "grasp a local 3t");
    outcomes(&store, "local", "grasp", "a", "xxx").await;
    assert_eq!(told(&store).await, "grasp a local 6");
    outcomes(&store, "local", "grasp", "a", "x.x").await;
    assert_eq!(told(&store).await, "grasp a local 1");
    outcomes(&store, "local", "grasp", "a", ".").await;
    assert_eq!(told(&store).await, "");
}

/// Files are judged each by themselves.
pub async fn other_files_begin_anew(store: Shared) {
    create(&store, run_id(1), 10).await;
    outcomes(&store, "local", "grasp", "a", "xxxxxx").await;
    outcomes(&store, "local", "grasp", "b", "x").await;
    assert_eq!(told(&store).await, "grasp a local 6, grasp b local 1");
    outcomes(&store, "local", "grasp", "", "t").await;
    outcomes(&store, "local", "grasp", "b", ".").await;
    assert_eq!(told(&store).await, "grasp  local 0t, grasp a local 6");
}

/// Principals are counted each by themselves; a success is kept while it came after failures of another one.
pub async fn principals_are_counted_apart(store: Shared) {
    create(&store, run_id(1), 10).await;
    outcomes(&store, "local", "grasp", "a", "xxx").await;
    outcomes(&store, "ann", "grasp", "a", "x").await;
    assert_eq!(told(&store).await, "grasp a local 3, grasp a ann 1");
    outcomes(&store, "ann", "grasp", "a", ".").await;
    assert_eq!(told(&store).await, "grasp a local 3, grasp a ann 0");
    outcomes(&store, "bob", "approach", "a", ".").await;
    outcomes(&store, "bob", "grasp", "b", ".").await;
    outcomes(&store, "local", "grasp", "a", ".").await;
    assert_eq!(told(&store).await, "grasp a ann 0");
    outcomes(&store, "ann", "grasp", "a", ".").await;
    assert_eq!(told(&store).await, "");
}

/// An operator makes the store forget one skill's failures, all of them or those of some files.
pub async fn an_operator_resets_health(store: Shared) {
    create(&store, run_id(1), 10).await;
    outcomes(&store, "local", "grasp", "a", "xxxxxx").await;
    outcomes(&store, "ann", "grasp", "b", "x").await;
    outcomes(&store, "local", "approach", "a", "x").await;
    store.reset_health(&skill("grasp"), Some("a")).await.expect(WORKS);
    assert_eq!(told(&store).await, "approach a local 1, grasp b ann 1");
    store.reset_health(&skill("grasp"), None).await.expect(WORKS);
    assert_eq!(told(&store).await, "approach a local 1");
    outcomes(&store, "local", "grasp", "a", "x").await;
    assert_eq!(told(&store).await, "approach a local 1, grasp a local 1");
}
