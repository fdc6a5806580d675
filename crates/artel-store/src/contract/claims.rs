//! Cases about who drives a run.

use tokio::task::JoinSet;

use super::sample::{Shared, WORKS, create, new_run, row, run_id};
use crate::run::{Claim, ClaimError, Fence, NewRun, OwnerId, Revision};

fn claim(number: u128, seen: u64, owner: &str) -> Claim {
    Claim { run: run_id(number), seen: Fence(seen), owner: OwnerId(owner.to_owned()) }
}

/// A claim makes somebody else the driver and raises the fence.
pub async fn a_claim_hands_a_run_over(store: Shared) {
    create(&store, run_id(1), 10).await;
    assert_eq!(store.claim(claim(1, 1, "two")).await.expect(WORKS), Fence(2));
    let kept = row(&store, run_id(1)).await;
    assert_eq!((kept.owner, kept.fence), (Some(OwnerId("two".to_owned())), Fence(2)));
    assert_eq!(kept.revision, Revision(1));
    let free = NewRun { owner: None, ..new_run(run_id(2), 10) };
    store.create(free).await.expect(WORKS);
    assert_eq!(store.claim(claim(2, 0, "two")).await.expect(WORKS), Fence(1));
}

/// A claim that saw an earlier fence is refused.
pub async fn a_late_claim_is_refused(store: Shared) {
    create(&store, run_id(1), 10).await;
    store.claim(claim(1, 1, "two")).await.expect(WORKS);
    for seen in [0, 1, 3] {
        let answer = store.claim(claim(1, seen, "three")).await;
        assert!(matches!(answer, Err(ClaimError::Taken)), "{answer:?}");
    }
    let kept = row(&store, run_id(1)).await;
    assert_eq!((kept.owner, kept.fence), (Some(OwnerId("two".to_owned())), Fence(2)));
    let answer = store.claim(claim(9, 0, "two")).await;
    assert!(matches!(answer, Err(ClaimError::Unknown)), "{answer:?}");
}

/// Of many that want a run at once, one gets it.
pub async fn one_of_many_claims_wins(store: Shared) {
    create(&store, run_id(1), 10).await;
    for round in 1..=5 {
        let mut tasks = JoinSet::new();
        for number in 0..16 {
            let store = store.clone();
            let owner = format!("owner {number}");
            tasks.spawn(async move { (store.claim(claim(1, round, &owner)).await, owner) });
        }
        let answers = tasks.join_all().await;
        let winners: Vec<_> = answers.iter().filter(|(answer, _)| answer.is_ok()).collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        let lost = answers.iter().filter(|(answer, _)| matches!(answer, Err(ClaimError::Taken)));
        assert_eq!(lost.count(), 15, "{answers:?}");
        let kept = row(&store, run_id(1)).await;
        assert_eq!((kept.owner, kept.fence), (Some(OwnerId(winners[0].1.clone())), Fence(round + 1)));
    }
}
