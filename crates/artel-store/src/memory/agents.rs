//! Agents in memory: their records and logs, and who is whose child.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::agent::{AgentRecord, AgentState, StampedAgentEvent};
use artel_model::id::AgentId;
use artel_model::time::Timestamp;
use async_trait::async_trait;

use super::listing::{is_within, page_of};
use super::store::MemoryStore;
use super::tables::Tables;
use crate::agent::{
    AgentAppend, AgentAppendError, AgentFilter, AgentRefused, AgentRow, AgentStore, LoggedAgentEvent,
    NewAgent, may_have_children,
};
use crate::error::StoreError;
use crate::page::{Page, PageRequest};
use crate::run::Revision;

/// All agents. How many live is counted along, because there may be very many.
#[derive(Debug, Default)]
pub(super) struct AgentTable {
    agents: BTreeMap<AgentId, KeptAgent>,
    children: BTreeMap<AgentId, BTreeSet<AgentId>>,
    living: u64,
}

/// An agent and its log.
#[derive(Debug)]
struct KeptAgent {
    record: AgentRecord,
    events: Vec<StampedAgentEvent>,
}

impl KeptAgent {
    fn revision(&self) -> Revision {
        Revision(self.events.len() as u64)
    }

    fn row(&self) -> AgentRow {
        AgentRow { record: self.record.clone(), revision: self.revision() }
    }
}

#[async_trait]
impl AgentStore for MemoryStore {
    async fn create_agent(&self, agent: NewAgent) -> Result<Result<(), AgentRefused>, StoreError> {
        let mut tables = self.tables();
        let created = tables.agents.create(agent);
        tables.version += u64::from(created.is_ok());
        Ok(created)
    }

    async fn append_agent(&self, append: AgentAppend) -> Result<Revision, AgentAppendError> {
        self.tables().append_agent(append)
    }

    async fn agent(&self, id: AgentId) -> Result<Option<AgentRow>, StoreError> {
        Ok(self.tables().agents.agents.get(&id).map(KeptAgent::row))
    }

    async fn agents(&self, filter: &AgentFilter, page: &PageRequest) -> Result<Page<AgentRow>, StoreError> {
        let tables = self.tables();
        let fitting = tables.agents.agents.values().filter(|agent| fits(filter, &agent.record));
        page_of(fitting.map(KeptAgent::row), page, |row| (row.record.created_at, row.record.agent_id.0))
    }

    async fn agent_events(
        &self,
        id: AgentId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedAgentEvent>, StoreError> {
        Ok(self.tables().agents.events(id, after, limit))
    }

    async fn agent_counts(&self) -> Result<Vec<(AgentState, u64)>, StoreError> {
        let mut counts: BTreeMap<AgentState, u64> = BTreeMap::new();
        for agent in self.tables().agents.agents.values() {
            *counts.entry(agent.record.state()).or_default() += 1;
        }
        let in_order = AgentState::ALL.iter().filter_map(|state| Some((*state, *counts.get(state)?)));
        Ok(in_order.collect())
    }

    async fn prune_agents(&self, before: Timestamp) -> Result<u64, StoreError> {
        Ok(self.tables().prune_agents(before))
    }
}

fn fits(filter: &AgentFilter, record: &AgentRecord) -> bool {
    (filter.states.is_empty() || filter.states.contains(&record.state()))
        && (filter.parent.is_none() || filter.parent == record.spec.parent)
        && (filter.name.is_none() || filter.name == record.spec.name)
        && (filter.owner.is_none() || filter.owner.as_ref() == record.owner())
        && is_within(record.created_at, filter.created_from, filter.created_before)
}

impl AgentTable {
    /// Returns where an agent stands.
    pub(super) fn state(&self, id: AgentId) -> Option<AgentState> {
        self.agents.get(&id).map(|agent| agent.record.state())
    }

    /// Returns every living agent, in the order of their ids.
    pub(super) fn living(&self) -> impl Iterator<Item = AgentId> {
        self.agents.iter().filter(|(_, agent)| agent.record.state().is_live()).map(|(id, _)| *id)
    }

    fn create(&mut self, agent: NewAgent) -> Result<(), AgentRefused> {
        let (id, parent) = (agent.record.agent_id, agent.record.spec.parent);
        if self.agents.contains_key(&id) {
            return Err(AgentRefused::Exists);
        }
        if let Some(parent) = parent {
            self.check_parent(parent)?;
        }
        if self.living >= agent.agents_max as u64 {
            return Err(AgentRefused::TooManyAgents { agents: self.living });
        }
        if let Some(parent) = parent {
            self.children.entry(parent).or_default().insert(id);
        }
        self.living += u64::from(agent.record.state().is_live());
        self.agents.insert(id, KeptAgent { record: agent.record, events: vec![agent.event] });
        Ok(())
    }

    fn check_parent(&self, parent: AgentId) -> Result<(), AgentRefused> {
        let record = &self.agents.get(&parent).ok_or(AgentRefused::NoParent)?.record;
        if !may_have_children(record.state()) {
            return Err(AgentRefused::ParentState(record.state()));
        }
        let children = self.children.get(&parent).into_iter().flatten();
        let living =
            children.filter(|child| self.state(**child).is_some_and(AgentState::is_live)).count() as u64;
        if living >= u64::from(record.spec.max_children) {
            return Err(AgentRefused::TooManyChildren { children: living });
        }
        Ok(())
    }

    fn append(&mut self, append: AgentAppend) -> Result<Revision, AgentAppendError> {
        let agent = self.agents.get_mut(&append.record.agent_id).ok_or(AgentAppendError::Unknown)?;
        if append.expected != agent.revision() {
            return Err(AgentAppendError::Conflict { actual: agent.revision() });
        }
        self.living -= u64::from(agent.record.state().is_live());
        agent.events.extend(append.events);
        agent.record = append.record;
        self.living += u64::from(agent.record.state().is_live());
        Ok(agent.revision())
    }

    fn events(&self, id: AgentId, after: Revision, limit: usize) -> Vec<LoggedAgentEvent> {
        let Some(agent) = self.agents.get(&id) else { return Vec::new() };
        let numbered = (1..).map(Revision).zip(&agent.events);
        numbered
            .skip(usize::try_from(after.0).unwrap_or(usize::MAX))
            .take(limit)
            .map(|(revision, event)| LoggedAgentEvent { revision, event: event.clone() })
            .collect()
    }

    /// Removes those that ended and have no children, until there are none; a parent goes after its children.
    fn prune(&mut self, before: Timestamp) -> Vec<AgentId> {
        let mut removed = Vec::new();
        loop {
            let is_old =
                |agent: &KeptAgent| !agent.record.state().is_live() && agent.record.last_active < before;
            let ended =
                self.agents.iter().filter(|(id, agent)| is_old(agent) && !self.children.contains_key(id));
            let ended: Vec<AgentId> = ended.map(|(id, _)| *id).collect();
            if ended.is_empty() {
                return removed;
            }
            for id in &ended {
                self.remove(*id);
            }
            removed.extend(ended);
        }
    }

    fn remove(&mut self, id: AgentId) {
        let parent = self.agents.remove(&id).and_then(|agent| agent.record.spec.parent);
        let Some(parent) = parent else { return };
        let Some(children) = self.children.get_mut(&parent) else { return };
        children.remove(&id);
        if children.is_empty() {
            self.children.remove(&parent);
        }
    }
}

impl Tables {
    fn append_agent(&mut self, append: AgentAppend) -> Result<Revision, AgentAppendError> {
        let (id, state, at) = (append.record.agent_id, append.record.state(), append.record.last_active);
        let revision = self.agents.append(append)?;
        if !state.has_mailbox() {
            self.mail.end_unread(&[id], at);
        }
        self.version += 1;
        Ok(revision)
    }

    fn prune_agents(&mut self, before: Timestamp) -> u64 {
        let removed = self.agents.prune(before);
        self.mail.end_unread(&removed, before);
        self.mail.remove_mailboxes(&removed);
        self.version += u64::from(!removed.is_empty());
        removed.len() as u64
    }
}
