//! Cases about how skills have been doing.

use artel_model::data_scope::OwnerKey;
use artel_model::health::RunOutcome;
use artel_model::time::Timestamp;

use super::sample::{Shared, WORKS, append, create, run_id, skill};
use crate::health::{ProbeClaim, SkillFiles};
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

fn files(of: &str, content_hash: &str) -> SkillFiles {
    SkillFiles { skill: skill(of), content_hash: content_hash.to_owned() }
}

fn claim(of: &str, since: i64, run: u128, now: i64) -> ProbeClaim {
    ProbeClaim {
        files: files(of, "a"),
        since: Timestamp::from_millis(since),
        run: run_id(run),
        now: Timestamp::from_millis(now),
        until: Timestamp::from_millis(now + 100),
    }
}

/// Of all runs that ask for a probe, one has it; another one only when the claim ended, for another failure, or after a reset.
pub async fn one_run_has_a_probe_until_its_claim_ends(store: Shared) {
    let asking: Vec<_> = (1..=8_u128)
        .map(|run| {
            let store = store.clone();
            tokio::spawn(async move { store.claim_probe(claim("grasp", 7, run, 1000)).await })
        })
        .collect();
    let mut claimed = Vec::new();
    for asked in asking {
        claimed.push(asked.await.expect(WORKS).expect(WORKS));
    }
    assert_eq!(claimed.iter().filter(|has| **has).count(), 1, "{claimed:?}");
    let holder = 1 + claimed.iter().position(|has| *has).expect("one has it") as u128;
    let other = holder % 8 + 1;
    let asks = |of: &'static str, since, run, now| {
        let store = store.clone();
        async move { store.claim_probe(claim(of, since, run, now)).await.expect(WORKS) }
    };
    assert!(asks("grasp", 7, holder, 1050).await, "the same run asks again");
    assert!(!asks("grasp", 7, other, 1149).await);
    assert!(asks("approach", 7, other, 1149).await, "other files");
    assert!(asks("grasp", 8, other, 1149).await, "another failure");
    assert!(asks("grasp", 7, other, 1150).await, "the claim has ended");
    assert!(!asks("grasp", 7, holder, 1151).await);
    store.reset_health(&skill("grasp"), Some("b")).await.expect(WORKS);
    assert!(!asks("grasp", 7, holder, 1151).await, "other files were reset");
    store.reset_health(&skill("grasp"), None).await.expect(WORKS);
    assert!(asks("grasp", 7, holder, 1151).await);
}

/// Files that are named are forgotten when nothing happened with them for long; others stay.
pub async fn health_of_files_that_are_gone_is_pruned(store: Shared) {
    create(&store, run_id(1), 10).await;
    outcomes(&store, "local", "grasp", "a", "x").await;
    outcomes(&store, "ann", "grasp", "a", "x").await;
    outcomes(&store, "local", "grasp", "b", "x").await;
    let gone = [files("grasp", "a"), files("nothing", "a")];
    store.prune_health(&gone, Timestamp::from_millis(7)).await.expect(WORKS);
    assert_eq!(told(&store).await, "grasp a local 1, grasp a ann 1, grasp b local 1");
    store.prune_health(&gone, Timestamp::from_millis(8)).await.expect(WORKS);
    assert_eq!(told(&store).await, "grasp b local 1");
}
