//! Who waits for whom. Agents that wait for each other in a ring would wait until their time is up; the wait that closes
//! the ring is refused instead.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;

use crate::id::{AgentId, CorrelationId};
use crate::time::Timestamp;

/// Somebody waits for an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Wait {
    /// Who waits.
    pub waiter: AgentId,
    /// For whom.
    pub awaited: AgentId,
    /// For the answer to which request.
    pub correlation: CorrelationId,
    /// Since when.
    pub since: Timestamp,
    /// Until when at most.
    pub until: Timestamp,
}

/// Returns the ring that a further wait would close, from its waiter around to the one who waits for it; nothing when it
/// closes none. Waits whose time is up do not count.
pub fn find_ring(waits: &[Wait], new: &Wait, now: Timestamp) -> Option<Vec<AgentId>> {
    let mut awaited_by: BTreeMap<AgentId, BTreeSet<AgentId>> = BTreeMap::new();
    for wait in waits.iter().filter(|wait| wait.until > now) {
        awaited_by.entry(wait.waiter).or_default().insert(wait.awaited);
    }
    let awaited = |agent| Ok(awaited_by.get(&agent).into_iter().flatten().copied().collect());
    let Ok(ring) = find_ring_with::<Infallible>(new, awaited);
    ring
}

/// Does the same for waits that lie elsewhere: `awaited` returns for whom an agent waits, in the order of their ids. It is
/// asked once about each agent that the awaited one waits for, directly or not, and about nobody else.
pub fn find_ring_with<E>(
    new: &Wait,
    mut awaited: impl FnMut(AgentId) -> Result<Vec<AgentId>, E>,
) -> Result<Option<Vec<AgentId>>, E> {
    // Breadth first, so that the shortest ring is told.
    let mut came_from: BTreeMap<AgentId, AgentId> = BTreeMap::new();
    let mut next = VecDeque::from([new.awaited]);
    let mut seen = BTreeSet::from([new.awaited]);
    while let Some(agent) = next.pop_front() {
        if agent == new.waiter {
            return Ok(Some(way_back(&came_from, new)));
        }
        for further in awaited(agent)? {
            if seen.insert(further) {
                came_from.insert(further, agent);
                next.push_back(further);
            }
        }
    }
    Ok(None)
}

fn way_back(came_from: &BTreeMap<AgentId, AgentId>, new: &Wait) -> Vec<AgentId> {
    let mut ring = vec![];
    let mut agent = new.waiter;
    while agent != new.awaited {
        agent = came_from[&agent];
        ring.push(agent);
    }
    ring.push(new.waiter);
    ring.reverse();
    ring
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    const NOW: i64 = 1000;

    fn agent(number: u128) -> AgentId {
        AgentId(Uuid::from_u128(number))
    }

    fn wait((waiter, awaited): (u128, u128), until: i64) -> Wait {
        Wait {
            waiter: agent(waiter),
            awaited: agent(awaited),
            correlation: CorrelationId(Uuid::from_u128(waiter << 64 | awaited)),
            since: Timestamp::from_millis(0),
            until: Timestamp::from_millis(until),
        }
    }

    fn ring(waits: &[(u128, u128)], new: (u128, u128)) -> Option<Vec<u128>> {
        let waits: Vec<Wait> = waits.iter().map(|&edge| wait(edge, NOW + 1)).collect();
        let ring = find_ring(&waits, &wait(new, NOW + 1), Timestamp::from_millis(NOW))?;
        Some(ring.iter().map(|agent| agent.0.as_u128()).collect())
    }

    #[test]
    fn the_wait_that_closes_a_ring_is_told_it() {
        assert_eq!(ring(&[(1, 2)], (2, 1)), Some(vec![2, 1]));
        assert_eq!(ring(&[(1, 2), (2, 3)], (3, 1)), Some(vec![3, 1, 2]));
        assert_eq!(ring(&[], (1, 1)), Some(vec![1]));
        assert_eq!(ring(&[(1, 2), (2, 3)], (1, 3)), None);
        assert_eq!(ring(&[(2, 1), (3, 1)], (4, 2)), None);
    }

    #[test]
    fn a_wait_whose_time_is_up_holds_nobody() {
        let waits = [wait((1, 2), NOW)];
        assert_eq!(find_ring(&waits, &wait((2, 1), NOW + 1), Timestamp::from_millis(NOW)), None);
    }

    /// Who has nothing to do with a wait is not asked about, and who has is asked about once.
    #[test]
    fn only_those_who_are_waited_for_are_asked_about() {
        let waits: [(u128, &[u128]); 5] = [(1, &[2, 3]), (2, &[4]), (3, &[4]), (8, &[9]), (9, &[1])];
        let check = |new: (u128, u128), ring: Option<Vec<u128>>, expected: &[u128]| {
            let mut asked = Vec::new();
            let awaited = |of: AgentId| {
                asked.push(of.0.as_u128());
                let found = waits.iter().find(|(waiter, _)| agent(*waiter) == of);
                Ok::<_, ()>(
                    found.map_or(Vec::new(), |(_, awaited)| awaited.iter().copied().map(agent).collect()),
                )
            };
            let found = find_ring_with(&wait(new, NOW + 1), awaited);
            let ring = ring.map(|ring| ring.into_iter().map(agent).collect());
            assert_eq!((found, asked.as_slice()), (Ok(ring), expected));
        };
        check((5, 6), None, &[6]);
        check((5, 1), None, &[1, 2, 3, 4]);
        check((4, 1), Some(vec![4, 1, 2]), &[1, 2, 3]);
        let failing = find_ring_with(&wait((1, 2), NOW + 1), |_| Err("the waits cannot be read"));
        assert_eq!(failing, Err("the waits cannot be read"));
    }

    proptest! {
        /// If every wait that would close a ring is refused, there never is one; and none is refused without a ring.
        #[test]
        fn no_ring_ever_stands(edges in prop::collection::vec((0_u128..6, 0_u128..6), 0..40)) {
            let mut waits: Vec<(u128, u128)> = Vec::new();
            for edge in edges {
                match ring(&waits, edge) {
                    None => waits.push(edge),
                    Some(found) => {
                        prop_assert_eq!(found[0], edge.0);
                        for (at, &agent) in found.iter().enumerate().skip(1) {
                            let next = found.get(at + 1).copied().unwrap_or(edge.0);
                            prop_assert!(waits.contains(&(agent, next)));
                        }
                    }
                }
            }
            let mut left: Vec<(u128, u128)> = waits;
            // What can be taken away one by one from its end holds no ring.
            loop {
                let ends: Vec<(u128, u128)> =
                    left.iter().copied().filter(|(_, to)| !left.iter().any(|(from, _)| from == to)).collect();
                if ends.is_empty() {
                    break;
                }
                left.retain(|edge| !ends.contains(edge));
            }
            prop_assert_eq!(left, vec![]);
        }
    }
}
