//! Who waits for whom, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use artel_model::id::{AgentId, CorrelationId};
use artel_model::message::{Wait, find_ring_with};
use artel_model::time::Timestamp;
use async_trait::async_trait;
use uuid::Uuid;

use super::store::MemoryStore;
use crate::error::StoreError;
use crate::mail::WaitStore;

/// Every wait, by who waits and for what.
#[derive(Debug, Default)]
pub(super) struct WaitTable {
    waits: BTreeMap<(AgentId, CorrelationId), Wait>,
}

impl WaitTable {
    fn begin(&mut self, wait: Wait, now: Timestamp) -> Result<(), Vec<AgentId>> {
        let awaited = |agent| Ok(self.awaited(agent, now));
        let Ok(ring) = find_ring_with::<Infallible>(&wait, awaited);
        match ring {
            Some(ring) => Err(ring),
            None => {
                self.waits.retain(|_, other| other.until > now);
                self.waits.insert((wait.waiter, wait.correlation), wait);
                Ok(())
            }
        }
    }

    /// Returns for whom an agent waits, in the order of their ids.
    fn awaited(&self, agent: AgentId, now: Timestamp) -> Vec<AgentId> {
        let first = (agent, CorrelationId(Uuid::nil()));
        let of_agent = self.waits.range(first..).take_while(|((waiter, _), _)| *waiter == agent);
        let standing = of_agent.filter(|(_, wait)| wait.until > now).map(|(_, wait)| wait.awaited);
        standing.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

#[async_trait]
impl WaitStore for MemoryStore {
    async fn begin_wait(&self, wait: Wait, now: Timestamp) -> Result<Result<(), Vec<AgentId>>, StoreError> {
        let mut tables = self.tables();
        let begun = tables.waits.begin(wait, now);
        tables.version += u64::from(begun.is_ok());
        Ok(begun)
    }

    async fn end_wait(&self, waiter: AgentId, correlation: CorrelationId) -> Result<(), StoreError> {
        let mut tables = self.tables();
        let ended = tables.waits.waits.remove(&(waiter, correlation));
        tables.version += u64::from(ended.is_some());
        Ok(())
    }
}
