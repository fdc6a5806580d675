//! Cases about lists of agents, and about removing those that ended long ago.

use artel_model::agent::AgentState;
use artel_model::message::{DeadReason, Message};

use super::agent_sample::{
    EXPIRED, SENT, SharedAgents, agent_id, agent_log, agent_record, bring, message_id, new_agent, peek_all,
    read_numbers, send, spawn, spawn_below, to, ttl,
};
use super::sample::{WORKS, at, owner_of, user};
use crate::agent::AgentFilter;
use crate::error::StoreError;
use crate::page::{Cursor, PageRequest};

/// Returns the numbers of all agents that fit, read in pages of `limit`.
async fn numbers(store: &SharedAgents, filter: &AgentFilter, limit: usize) -> Vec<u128> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.agents(filter, &PageRequest { after, limit }).await.expect(WORKS);
        assert!(page.items.len() <= limit, "a page has {} items of {limit}", page.items.len());
        assert!(page.next.is_none() || page.items.len() == limit, "a page in the middle is not full");
        found.extend(page.items.iter().map(|row| row.record.agent_id.0.as_u128()));
        match page.next {
            Some(next) => after = Some(next),
            None => return found,
        }
    }
}

async fn spawn_at(store: &SharedAgents, number: u128, millis: i64) {
    let agent = new_agent(agent_record(number, None, millis));
    assert_eq!(store.create_agent(agent).await.expect(WORKS), Ok(()));
}

/// The latest agent comes first; of those at the same time, the one with the greatest id. Pages of any size agree.
pub async fn agents_are_listed_latest_first(store: SharedAgents) {
    let all = AgentFilter::default();
    assert_eq!(numbers(&store, &all, 3).await, []);
    for (number, millis) in [(1, 30), (2, 10), (u128::MAX, 20), (4, 20), (5, 20), (6, -5)] {
        spawn_at(&store, number, millis).await;
    }
    for limit in 1..=7 {
        assert_eq!(numbers(&store, &all, limit).await, [1, u128::MAX, 5, 4, 2, 6], "pages of {limit}");
    }
    assert_eq!(numbers(&store, &all, usize::MAX).await.len(), 6);
}

/// Agents are found by state, parent, name and time, and by all of them together.
pub async fn agents_are_found_by_every_filter(store: SharedAgents) {
    for (number, millis) in [(1, 10), (2, 20), (3, 30)] {
        spawn_at(&store, number, millis).await;
    }
    spawn_below(&store, 11, 1).await;
    spawn_below(&store, 12, 1).await;
    bring(&store, 12, AgentState::Running, 40).await;
    bring(&store, 3, AgentState::Failed, 40).await;
    let all = AgentFilter::default;
    let check = async |filter: AgentFilter, expected: &[u128]| {
        assert_eq!(numbers(&store, &filter, 1).await, expected, "{filter:?}");
    };
    check(all(), &[3, 2, 12, 11, 1]).await;
    check(AgentFilter { states: vec![AgentState::Idle], ..all() }, &[2, 11, 1]).await;
    let several = vec![AgentState::Failed, AgentState::Running];
    check(AgentFilter { states: several.clone(), ..all() }, &[3, 12]).await;
    check(AgentFilter { parent: Some(agent_id(1)), ..all() }, &[12, 11]).await;
    check(AgentFilter { parent: Some(agent_id(2)), ..all() }, &[]).await;
    check(AgentFilter { name: Some("agent 12".to_owned()), ..all() }, &[12]).await;
    check(AgentFilter { name: Some("AGENT 12".to_owned()), ..all() }, &[]).await;
    check(AgentFilter { created_from: Some(at(20)), ..all() }, &[3, 2]).await;
    check(AgentFilter { created_before: Some(at(20)), ..all() }, &[12, 11, 1]).await;
    let together = AgentFilter {
        states: several,
        parent: Some(agent_id(1)),
        name: Some("agent 12".to_owned()),
        created_from: Some(at(10)),
        created_before: Some(at(11)),
        owner: None,
    };
    check(together, &[12]).await;
    check(AgentFilter { owner: owner_of(1), ..all() }, &[1]).await;
    check(AgentFilter { owner: owner_of(2), ..all() }, &[2, 11]).await;
    check(AgentFilter { owner: owner_of(2), parent: Some(agent_id(1)), ..all() }, &[11]).await;
    check(AgentFilter { owner: Some(user("nobody")), ..all() }, &[]).await;
}

/// Children are listed from the first to the last, all of them or the living.
pub async fn children_are_listed_in_the_order_of_spawning(store: SharedAgents) {
    let mut parent = agent_record(1, None, 10);
    parent.spec.max_children = 1000;
    assert_eq!(store.create_agent(new_agent(parent)).await.expect(WORKS), Ok(()));
    for (number, millis) in [(u128::MAX, 20), (7, 30), (5, 20), (6, -5)] {
        let child = new_agent(agent_record(number, Some(1), millis));
        assert_eq!(store.create_agent(child).await.expect(WORKS), Ok(()));
    }
    spawn_below(&store, 50, 5).await;
    bring(&store, 6, AgentState::Completed, 40).await;
    bring(&store, 7, AgentState::Paused, 40).await;
    let children = async |number, live_only| {
        let children = store.children(agent_id(number), live_only).await.expect(WORKS);
        children.iter().map(|child| child.0.as_u128()).collect::<Vec<_>>()
    };
    assert_eq!(children(1, false).await, [6, 5, u128::MAX, 7]);
    assert_eq!(children(1, true).await, [5, u128::MAX, 7]);
    assert_eq!((children(5, true).await, children(50, false).await), (vec![50], vec![]));
    assert_eq!(children(9, false).await, []);
    for number in 1000..1150 {
        spawn_below(&store, number, 1).await;
    }
    assert_eq!(children(1, true).await.len(), 153);
    assert_eq!(children(1, false).await.len(), 154);
}

/// Who turns pages sees every agent once, whatever arrives meanwhile; a cursor that no list gave out is refused.
pub async fn pages_are_stable_while_agents_arrive(store: SharedAgents) {
    for number in 1..=10 {
        spawn_at(&store, number, 10 + i64::try_from(number / 3).expect("small")).await;
    }
    let mut seen = Vec::new();
    let mut after = None;
    for arriving in 100.. {
        let page =
            store.agents(&AgentFilter::default(), &PageRequest { after, limit: 3 }).await.expect(WORKS);
        seen.extend(page.items.iter().map(|row| row.record.agent_id.0.as_u128()));
        spawn_at(&store, arriving, 1000).await;
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    let foreign = PageRequest { after: Some(Cursor("' OR 1=1".to_owned())), limit: 3 };
    let answer = store.agents(&AgentFilter::default(), &foreign).await;
    assert!(matches!(answer, Err(StoreError::UnknownCursor { .. })), "{answer:?}");
    let answer = store.dead_letters(None, &foreign).await;
    assert!(matches!(answer, Err(StoreError::UnknownCursor { .. })), "{answer:?}");
}

/// Agents that ended before the moment go with their logs; all others stay.
pub async fn prune_removes_agents_that_ended(store: SharedAgents) {
    let ended = AgentState::ALL.iter().filter(|state| !state.is_live());
    for (number, state) in (1..).zip(AgentState::ALL) {
        spawn(&store, number).await;
        bring(&store, number, *state, 99).await;
        spawn(&store, number + 100).await;
        bring(&store, number + 100, *state, 100).await;
    }
    assert_eq!(store.prune_agents(at(100)).await.expect(WORKS), ended.count() as u64);
    for (number, state) in (1..).zip(AgentState::ALL) {
        let is_kept = store.agent(agent_id(number)).await.expect(WORKS).is_some();
        assert_eq!(is_kept, state.is_live(), "{state:?}");
        assert_eq!(agent_log(&store, number).await.is_empty(), !state.is_live(), "{state:?}");
        assert!(store.agent(agent_id(number + 100)).await.expect(WORKS).is_some(), "{state:?}");
    }
    assert_eq!(store.prune_agents(at(100)).await.expect(WORKS), 0);
    spawn(&store, 4).await;
    assert_eq!(agent_log(&store, 4).await.len(), 1);
}

/// A parent stays as long as a child of it does, and goes with its last one.
pub async fn prune_keeps_the_parents_of_kept_children(store: SharedAgents) {
    spawn(&store, 1).await;
    spawn_below(&store, 2, 1).await;
    spawn_below(&store, 3, 2).await;
    spawn_below(&store, 4, 1).await;
    for (number, millis) in [(1, 20), (2, 20), (3, 50), (4, 20)] {
        bring(&store, number, AgentState::Terminated, millis).await;
    }
    assert_eq!(store.prune_agents(at(40)).await.expect(WORKS), 1);
    assert_eq!(numbers(&store, &AgentFilter::default(), 9).await, [3, 2, 1]);
    assert_eq!(store.prune_agents(at(60)).await.expect(WORKS), 3);
    assert_eq!(numbers(&store, &AgentFilter::default(), 9).await, []);
}

/// The mailbox of an agent goes with it; what was unread is not lost without a word.
pub async fn prune_removes_mailboxes(store: SharedAgents) {
    spawn(&store, 1).await;
    spawn(&store, 2).await;
    for number in 1..=3 {
        send(&store, to(number, 1)).await;
    }
    send(&store, Message { ttl: ttl(1), ..to(4, 1) }).await;
    send(&store, to(5, 2)).await;
    store.mark_read(agent_id(1), &[message_id(2)]).await.expect(WORKS);
    bring(&store, 1, AgentState::Completed, 20).await;
    assert_eq!(store.prune_agents(at(SENT + 2000)).await.expect(WORKS), 1);
    let page = PageRequest { after: None, limit: 9 };
    let dead = store.dead_letters(Some(agent_id(1)), &page).await.expect(WORKS).items;
    let told: Vec<_> =
        dead.iter().map(|letter| (letter.message.id.0.as_u128(), letter.reason, letter.at)).collect();
    let moment = at(SENT + 2000);
    assert_eq!(
        told,
        [
            (4, DeadReason::Expired, moment),
            (3, DeadReason::RecipientEnded, moment),
            (1, DeadReason::RecipientEnded, moment)
        ]
    );
    spawn(&store, 1).await;
    assert_eq!(read_numbers(&store, peek_all(1, SENT)).await, []);
    let counts = store.mail_counts().await.expect(WORKS);
    assert_eq!((counts.unread, counts.read), (1, 0));
    assert_eq!(store.sweep(at(EXPIRED), 100).await.expect(WORKS), 1);
}
