//! Agents: their logs, and what lists show.

use artel_model::access::UserId;
use artel_model::agent::{AgentRecord, AgentState, StampedAgentEvent};
use artel_model::id::AgentId;
use artel_model::time::Timestamp;
use async_trait::async_trait;

use crate::error::StoreError;
use crate::page::{Page, PageRequest};
use crate::run::Revision;

/// How often what was said is added behind something else that came in between, before the conflict is told.
const SAID_ATTEMPTS_MAX: usize = 100;
/// How many children are read at once by stores that list them with their records.
const CHILDREN_PAGE: usize = 100;

/// An agent to be kept.
#[derive(Clone, Debug)]
pub struct NewAgent {
    /// What is known about it. Its parent, if it has one, is named in its spec.
    pub record: AgentRecord,
    /// Its first event.
    pub event: StampedAgentEvent,
    /// How many living agents there may be, this one included.
    pub agents_max: usize,
}

/// Why an agent is not kept; nothing was written. When several hold, it is the first of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AgentRefused {
    /// There is one with its id.
    Exists,
    /// Its parent does not exist.
    NoParent,
    /// Its parent is in no state to have children: it must be idle or running.
    ParentState(AgentState),
    /// Its parent has as many living children as it may have.
    TooManyChildren {
        /// How many.
        children: u64,
    },
    /// There are as many living agents as there may be.
    TooManyAgents {
        /// How many.
        agents: u64,
    },
}

/// Events to add to an agent's log, and what lists show from then on: one atomic write.
#[derive(Clone, Debug)]
pub struct AgentAppend {
    /// Where its log must end.
    pub expected: Revision,
    /// The events.
    pub events: Vec<StampedAgentEvent>,
    /// What is known about the agent from then on; its id says whose log it is.
    pub record: AgentRecord,
}

/// Why events were not added; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum AgentAppendError {
    /// The log does not end where it was expected to.
    #[error("the log of the agent ends at {}, not where it was expected to", .actual.0)]
    Conflict {
        /// Where it ends.
        actual: Revision,
    },
    /// There is no such agent.
    #[error("there is no such agent")]
    Unknown,
    /// The store failed.
    #[error("cannot write the agent's log")]
    Store(#[source] StoreError),
}

/// What is kept about an agent beside its log.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRow {
    /// What is known about it.
    pub record: AgentRecord,
    /// Where its log ends.
    pub revision: Revision,
}

/// An event of an agent's log and its place there, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedAgentEvent {
    /// Its place: the log's revision right after it.
    pub revision: Revision,
    /// The event.
    pub event: StampedAgentEvent,
}

/// Which agents a list holds; everything that is not said fits.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AgentFilter {
    /// In one of these states; any when empty.
    pub states: Vec<AgentState>,
    /// Spawned by this agent.
    pub parent: Option<AgentId>,
    /// With exactly this name.
    pub name: Option<String>,
    /// Spawned at this time or later.
    pub created_from: Option<Timestamp>,
    /// Spawned before this time.
    pub created_before: Option<Timestamp>,
    /// Somebody's.
    pub owner: Option<UserId>,
}

/// Says whether an agent in that state may get children.
pub fn may_have_children(state: AgentState) -> bool {
    match state {
        AgentState::Idle | AgentState::Running => true,
        AgentState::Paused
        | AgentState::Completed
        | AgentState::Failed
        | AgentState::Cancelled
        | AgentState::Terminated => false,
    }
}

/// Agents and their logs.
#[async_trait]
pub trait AgentStore: Send + Sync {
    /// Keeps an agent; its event is the first of its log. The parent's state and children, and the number of living
    /// agents, are looked at in the same write, so that no two spawns together go over a limit.
    async fn create_agent(&self, agent: NewAgent) -> Result<Result<(), AgentRefused>, StoreError>;

    /// Adds events if the log still ends at the expected revision, and returns where it ends then. When this returns, they
    /// survive the death of the process; see [`RunStore::sync`](crate::RunStore::sync). When the agent is terminated by
    /// this, what lies unread in its mailbox becomes dead letters in the same write: known since it was last active, and
    /// expired if their time was up by then. Its parent, name, owner and time of spawning stay what they
    /// were.
    async fn append_agent(&self, append: AgentAppend) -> Result<Revision, AgentAppendError>;

    /// Adds events that change nothing, which are all [`AgentEvent::Said`](artel_model::agent::AgentEvent::Said), wherever
    /// the log ends, and returns where it ends then. The agent was last active at the last of them; the rest of its record
    /// stays what it was, so that talking costs the same however much is known about who talks.
    async fn append_said(
        &self,
        id: AgentId,
        events: Vec<StampedAgentEvent>,
    ) -> Result<Revision, AgentAppendError> {
        let mut attempt = 1;
        loop {
            let found = self.agent(id).await.map_err(AgentAppendError::Store)?;
            let AgentRow { mut record, revision: expected } = found.ok_or(AgentAppendError::Unknown)?;
            record.last_active = events.last().map_or(record.last_active, |last| last.at);
            match self.append_agent(AgentAppend { expected, events: events.clone(), record }).await {
                Err(AgentAppendError::Conflict { .. }) if attempt < SAID_ATTEMPTS_MAX => attempt += 1,
                answer => return answer,
            }
        }
    }

    /// Returns what is kept about an agent.
    async fn agent(&self, id: AgentId) -> Result<Option<AgentRow>, StoreError>;

    /// Lists agents: the latest first, and of those spawned at the same time the greatest id first.
    async fn agents(&self, filter: &AgentFilter, page: &PageRequest) -> Result<Page<AgentRow>, StoreError>;

    /// Returns the children of an agent, or only the living ones, in the order in which they were spawned: the earliest
    /// first, and of those spawned at the same time the smallest id first.
    async fn children(&self, id: AgentId, live_only: bool) -> Result<Vec<AgentId>, StoreError> {
        let living = AgentState::ALL.iter().copied().filter(|state| state.is_live());
        let states = if live_only { living.collect() } else { Vec::new() };
        let filter = AgentFilter { states, parent: Some(id), ..AgentFilter::default() };
        let mut children = Vec::new();
        let mut after = None;
        loop {
            let page = self.agents(&filter, &PageRequest { after, limit: CHILDREN_PAGE }).await?;
            children.extend(page.items.iter().map(|row| row.record.agent_id));
            after = page.next;
            if after.is_none() {
                children.reverse();
                return Ok(children);
            }
        }
    }

    /// Returns at most `limit` events of a log after `after`, in order.
    async fn agent_events(
        &self,
        id: AgentId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedAgentEvent>, StoreError>;

    /// Counts agents by their state, in the order of [`AgentState::ALL`]; states without any are left out.
    async fn agent_counts(&self) -> Result<Vec<(AgentState, u64)>, StoreError>;

    /// Removes agents that are terminated, cancelled, completed or failed, to whom nothing has happened since before
    /// `before`, and who have no children that are kept; with their logs and mailboxes, of which the unread part becomes
    /// dead letters known since `before`. Returns how many.
    async fn prune_agents(&self, before: Timestamp) -> Result<u64, StoreError>;
}
