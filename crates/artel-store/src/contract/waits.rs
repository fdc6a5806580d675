//! Cases about who waits for whom, and about what every write of agents and messages does.

use artel_model::agent::AgentState;
use artel_model::id::AgentId;
use artel_model::message::{Address, DeadLetter, DeadReason, Wait};
use tokio::task::JoinSet;

use super::agent_sample::{
    PLENTY, SENT, SharedAgents, agent_id, bring, correlation, message, peek, post, said, spawn, to,
};
use super::sample::{WORKS, at};
use crate::mail::MailQuery;

const NOW: i64 = 100;

fn wait(waiter: u128, awaited: u128, until: i64) -> Wait {
    Wait {
        waiter: agent_id(waiter),
        awaited: agent_id(awaited),
        correlation: correlation(waiter * 100 + awaited),
        since: at(NOW),
        until: at(until),
    }
}

async fn begin(store: &SharedAgents, waiter: u128, awaited: u128) -> Result<(), Vec<u128>> {
    let begun = store.begin_wait(wait(waiter, awaited, NOW + 50), at(NOW)).await.expect(WORKS);
    begun.map_err(|ring| ring.iter().map(|AgentId(id)| id.as_u128()).collect())
}

/// The wait that closes a ring is refused and told the ring; it does not stand in anybody's way.
pub async fn a_wait_that_closes_a_ring_is_refused(store: SharedAgents) {
    assert_eq!(begin(&store, 1, 1).await, Err(vec![1]));
    assert_eq!(begin(&store, 1, 2).await, Ok(()));
    assert_eq!(begin(&store, 2, 1).await, Err(vec![2, 1]));
    assert_eq!(begin(&store, 2, 3).await, Ok(()));
    assert_eq!(begin(&store, 3, 1).await, Err(vec![3, 1, 2]));
    assert_eq!(begin(&store, 3, 4).await, Ok(()));
    assert_eq!(begin(&store, 1, 4).await, Ok(()));
    // The shortest ring is told.
    assert_eq!(begin(&store, 4, 1).await, Err(vec![4, 1]));
    assert_eq!(begin(&store, 4, 5).await, Ok(()));
    assert_eq!(begin(&store, 6, 1).await, Ok(()));
    assert_eq!(begin(&store, 5, 6).await, Err(vec![5, 6, 1, 4]));
}

/// A wait that ended holds nobody; ending one that is not there is fine.
pub async fn a_wait_that_ended_is_forgotten(store: SharedAgents) {
    assert_eq!(begin(&store, 1, 2).await, Ok(()));
    store.end_wait(agent_id(2), wait(1, 2, NOW).correlation).await.expect(WORKS);
    store.end_wait(agent_id(1), correlation(9)).await.expect(WORKS);
    assert_eq!(begin(&store, 2, 1).await, Err(vec![2, 1]));
    store.end_wait(agent_id(1), wait(1, 2, NOW).correlation).await.expect(WORKS);
    assert_eq!(begin(&store, 2, 1).await, Ok(()));
    store.end_wait(agent_id(2), wait(2, 1, NOW).correlation).await.expect(WORKS);
    // One may wait for several answers, even of one agent.
    let other = Wait { correlation: correlation(7), ..wait(1, 2, NOW + 50) };
    assert_eq!(store.begin_wait(other, at(NOW)).await.expect(WORKS), Ok(()));
    assert_eq!(begin(&store, 1, 2).await, Ok(()));
    assert_eq!(begin(&store, 1, 3).await, Ok(()));
    store.end_wait(agent_id(1), wait(1, 2, NOW).correlation).await.expect(WORKS);
    assert_eq!(begin(&store, 2, 1).await, Err(vec![2, 1]));
    store.end_wait(agent_id(1), correlation(7)).await.expect(WORKS);
    assert_eq!(begin(&store, 2, 1).await, Ok(()));
}

/// A wait whose time is up holds nobody; waiting again for the same answer takes the place of the first wait.
pub async fn a_wait_whose_time_is_up_holds_nobody(store: SharedAgents) {
    let begin_at = async |wait, now| store.begin_wait(wait, at(now)).await.expect(WORKS);
    let ring = Err(vec![agent_id(2), agent_id(1)]);
    assert_eq!(begin_at(wait(1, 2, NOW + 10), NOW).await, Ok(()));
    assert_eq!(begin_at(wait(2, 1, NOW + 90), NOW + 9).await, ring);
    assert_eq!(begin_at(wait(1, 2, NOW + 20), NOW + 9).await, Ok(()));
    assert_eq!(begin_at(wait(2, 1, NOW + 90), NOW + 19).await, ring);
    assert_eq!(begin_at(wait(2, 1, NOW + 90), NOW + 20).await, Ok(()));
    assert_eq!(begin_at(wait(1, 2, NOW + 90), NOW + 30).await, Err(vec![agent_id(1), agent_id(2)]));
}

/// However many begin to wait at once, no ring ever stands.
pub async fn rings_are_never_closed_together(store: SharedAgents) {
    for round in 0..5 {
        let first = round * 10;
        let mut tasks = JoinSet::new();
        for number in 0..6 {
            let store = store.clone();
            tasks.spawn(async move { begin(&store, first + number, first + (number + 1) % 6).await });
        }
        let answers = tasks.join_all().await;
        let refused: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
        assert_eq!(refused.len(), 1, "{answers:?}");
        assert_eq!(refused[0].len(), 6, "{answers:?}");
    }
}

/// Every write of agents, messages and waits changes the version, so that others may look.
pub async fn every_write_of_agents_changes_the_version(store: SharedAgents) {
    let mut before = store.version().await.expect(WORKS);
    let mut check = async |what: &str| {
        let version = store.version().await.expect(WORKS);
        assert_ne!(version, before, "{what}");
        before = version;
    };
    spawn(&store, 1).await;
    check("create_agent").await;
    bring(&store, 1, AgentState::Running, 20).await;
    check("append_agent").await;
    store.append_said(agent_id(1), vec![said(20, "hello")]).await.expect(WORKS);
    check("append_said").await;
    store.post(post(to(1, 1))).await.expect(WORKS);
    check("post").await;
    store.mailbox(MailQuery { mark_read: true, ..peek(1, SENT) }).await.expect(WORKS);
    check("mailbox").await;
    store.post(post(to(2, 1))).await.expect(WORKS);
    check("post").await;
    store.mark_read(agent_id(1), &[message(2, Address::Broadcast).id]).await.expect(WORKS);
    check("mark_read").await;
    let about = message(3, Address::Topic("a".parse().expect("a topic")));
    store.keep_event(about.clone(), 9).await.expect(WORKS);
    check("keep_event").await;
    let (reason, at_end) = (DeadReason::SubscriberBehind, at(SENT));
    let letter = DeadLetter { message: about, recipient_id: None, reason, at: at_end };
    store.bury(vec![letter]).await.expect(WORKS);
    check("bury").await;
    store.sweep(at(SENT + 1_000_000), PLENTY).await.expect(WORKS);
    check("sweep").await;
    bring(&store, 1, AgentState::Terminated, 30).await;
    check("append_agent").await;
    assert_eq!(store.prune_agents(at(31)).await.expect(WORKS), 1);
    check("prune_agents").await;
}
