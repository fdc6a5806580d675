//! Cases about how skills have been doing.

use artel_model::health::{Health, RunOutcome};

use super::sample::{Shared, WORKS, append, create, run_id, skill};
use crate::run::{HealthChange, RunAppend};

/// Appends outcomes of a skill with some files: `.` is a success, `x` a failure, `t` a time-out.
async fn outcomes(store: &Shared, of: &str, content_hash: &str, outcomes: &str) {
    let change = |outcome| HealthChange { skill: skill(of), content_hash: content_hash.to_owned(), outcome };
    let health = outcomes.chars().map(|outcome| match outcome {
        '.' => change(RunOutcome::Success),
        'x' => change(RunOutcome::Failure),
        _ => change(RunOutcome::Transient),
    });
    let changes = RunAppend { health: health.collect(), ..append(run_id(1), 1, Vec::new()) };
    store.append(changes).await.expect(WORKS);
}

/// Returns all health there is as a sentence.
async fn told(store: &Shared) -> String {
    let health = store.health().await.expect(WORKS);
    let tell = |entry: &crate::SkillHealth| {
        let failures =
            entry.health.failures().map_or_else(|| "-".to_owned(), |failures| failures.to_string());
        format!("{} {} {} {failures}", entry.skill, entry.content_hash, entry.health.as_str())
    };
    health.iter().map(tell).collect::<Vec<_>>().join(", ")
}

/// Each outcome changes health as the model says, several of one append too.
pub async fn health_follows_the_outcomes(store: Shared) {
    create(&store, run_id(1), 10).await;
    outcomes(&store, "grasp", "a", "x").await;
    assert_eq!(told(&store).await, "grasp a healthy 1");
    outcomes(&store, "grasp", "a", "xx").await;
    outcomes(&store, "approach", "b", ".").await;
    assert_eq!(told(&store).await, "approach b healthy 0, grasp a degraded 3");
    outcomes(&store, "grasp", "a", "t").await;
    assert_eq!(told(&store).await, "approach b healthy 0, grasp a temporaryFailure 3");
    outcomes(&store, "grasp", "a", "xxx").await;
    assert_eq!(told(&store).await, "approach b healthy 0, grasp a permanentFailure -");
    outcomes(&store, "grasp", "a", ".").await;
    assert_eq!(told(&store).await, "approach b healthy 0, grasp a permanentFailure -");
    assert_eq!(store.health().await.expect(WORKS)[0].health, Health::NEW);
}

/// Changed files are judged from the beginning.
pub async fn other_files_begin_anew(store: Shared) {
    create(&store, run_id(1), 10).await;
    outcomes(&store, "grasp", "a", "xxxxxx").await;
    outcomes(&store, "grasp", "b", "x").await;
    assert_eq!(told(&store).await, "grasp b healthy 1");
    outcomes(&store, "grasp", "", "t").await;
    assert_eq!(told(&store).await, "grasp  temporaryFailure 0");
}

/// An operator makes the store forget one skill's failures.
pub async fn an_operator_resets_health(store: Shared) {
    create(&store, run_id(1), 10).await;
    outcomes(&store, "grasp", "a", "xxxxxx").await;
    outcomes(&store, "approach", "a", "x").await;
    store.reset_health(&skill("grasp")).await.expect(WORKS);
    assert_eq!(told(&store).await, "approach a healthy 1");
    outcomes(&store, "grasp", "a", "x").await;
    assert_eq!(told(&store).await, "approach a healthy 1, grasp a healthy 1");
}
