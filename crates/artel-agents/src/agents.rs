//! The handle: what can be asked and told about agents.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use artel_model::agent::{AgentRecord, AgentState};
use artel_model::id::AgentId;
use artel_store::{AgentFilter, AgentRow, LoggedAgentEvent, OwnerId, Page, PageRequest, Revision};
use tokio::sync::watch;

use crate::config::{AgentsConfig, AgentsParts};
use crate::driver::DriverSignal;
use crate::error::{AgentsError, chain};
use crate::metrics::AgentMeters;

/// Agents; clones are the same.
#[derive(Clone)]
pub struct Agents {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) config: AgentsConfig,
    pub(crate) parts: AgentsParts,
    /// Agents whose work is seen to here.
    pub(crate) working: Mutex<HashMap<AgentId, Worker>>,
    /// Counts the changes that were made here.
    pub(crate) changed: watch::Sender<u64>,
    pub(crate) meters: AgentMeters,
}

/// Who works for an agent, and how to tell it something.
#[derive(Clone, Debug)]
pub(crate) enum Worker {
    /// The engine: whoever tells the agent something tells its run.
    Run,
    /// A task of this process.
    Task(watch::Sender<DriverSignal>),
}

impl Shared {
    /// The map is whole whenever the lock is free.
    pub(crate) fn working(&self) -> MutexGuard<'_, HashMap<AgentId, Worker>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes who works for an agent.
    pub(crate) fn take_on(&self, agent: AgentId, worker: Worker) {
        let mut working = self.working();
        working.insert(agent, worker);
        self.meters.working(working.len());
    }

    /// Notes that nobody works for an agent any more.
    pub(crate) fn let_go(&self, agent: AgentId) {
        let mut working = self.working();
        working.remove(&agent);
        self.meters.working(working.len());
    }

    /// Tells the task that works for an agent what the agent's state means for it.
    pub(crate) fn steer(&self, record: &AgentRecord) {
        let Some(Worker::Task(signal)) = self.working().get(&record.agent_id).cloned() else { return };
        let wanted = match record.state() {
            AgentState::Running | AgentState::Idle => DriverSignal::Go,
            AgentState::Paused => DriverSignal::Pause,
            AgentState::Completed | AgentState::Failed | AgentState::Cancelled | AgentState::Terminated => {
                DriverSignal::End
            }
        };
        signal.send_if_modified(|signal| std::mem::replace(signal, wanted) != wanted);
    }

    /// Looks at every agent for which a task of this process works: another process may have told it something.
    async fn look(&self) {
        let tasks: Vec<AgentId> = {
            let working = self.working();
            let is_task =
                |(id, worker): (&AgentId, &Worker)| matches!(worker, Worker::Task(_)).then_some(*id);
            working.iter().filter_map(is_task).collect()
        };
        for id in tasks {
            match self.parts.stores.agents.agent(id).await {
                Ok(Some(row)) => self.steer(&row.record),
                Ok(None) => {}
                Err(error) => tracing::warn!(agent = %id, %error, "the agent cannot be looked at"),
            }
        }
    }

    /// Waits until something may have changed: at once when it was here, otherwise within the time between two looks.
    pub(crate) async fn something_changes(&self, seen: &mut watch::Receiver<u64>) {
        let pause = Duration::from_millis(self.config.poll_ms);
        let _ = tokio::time::timeout(pause, seen.changed()).await;
    }
}

impl Agents {
    /// Makes the handle, inside a runtime. Nothing goes on until [`Agents::recover`].
    pub fn new(config: AgentsConfig, parts: AgentsParts) -> Self {
        let shared = Arc::new(Shared {
            config,
            parts,
            working: Mutex::default(),
            changed: watch::Sender::new(0),
            meters: AgentMeters::new(),
        });
        tokio::spawn(look_around(Arc::downgrade(&shared)));
        Self { shared }
    }

    /// Returns an agent.
    pub async fn agent(&self, id: AgentId) -> Result<Option<AgentRow>, AgentsError> {
        Ok(self.shared.parts.stores.agents.agent(id).await?)
    }

    /// Lists agents: the latest first.
    pub async fn list(
        &self,
        filter: &AgentFilter,
        page: &PageRequest,
    ) -> Result<Page<AgentRow>, AgentsError> {
        Ok(self.shared.parts.stores.agents.agents(filter, page).await?)
    }

    /// Returns what happened to an agent.
    pub async fn events(
        &self,
        id: AgentId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedAgentEvent>, AgentsError> {
        Ok(self.shared.parts.stores.agents.agent_events(id, after, limit).await?)
    }

    /// Counts agents by their state.
    pub async fn counts(&self) -> Result<Vec<(AgentState, u64)>, AgentsError> {
        Ok(self.shared.parts.stores.agents.agent_counts().await?)
    }

    /// Waits until an agent neither works nor stands still in the middle of its work; nothing when there is none.
    pub async fn wait(&self, id: AgentId) -> Result<Option<AgentRecord>, AgentsError> {
        let mut seen = self.shared.changed.subscribe();
        loop {
            seen.mark_unchanged();
            let Some(row) = self.agent(id).await? else { return Ok(None) };
            match row.record.state() {
                AgentState::Running | AgentState::Paused => self.shared.something_changes(&mut seen).await,
                AgentState::Idle
                | AgentState::Completed
                | AgentState::Failed
                | AgentState::Cancelled
                | AgentState::Terminated => return Ok(Some(row.record)),
            }
        }
    }

    /// Says whether somebody alive sees to what an owner began.
    pub fn is_alive(&self, owner: &OwnerId) -> bool {
        (self.shared.parts.is_alive)(owner)
    }

    /// Says whether agents work here.
    pub fn is_busy(&self) -> bool {
        !self.shared.working().is_empty()
    }
}

/// How many looks for changes pass between two looks at agents at work: those are told by other processes only.
pub(crate) const LOOKS_APART: u32 = 10;

/// Looks now and then for what other processes told the agents that work here.
async fn look_around(shared: Weak<Shared>) {
    let mut seen = None;
    let mut is_away = false;
    loop {
        let pause = match shared.upgrade() {
            None => return,
            Some(shared) => {
                match shared.parts.stores.runs.version().await {
                    Ok(version) => {
                        is_away = false;
                        if seen.replace(version) != Some(version) {
                            shared.look().await;
                        }
                    }
                    // Once is enough.
                    Err(_) if is_away => {}
                    Err(error) => {
                        is_away = true;
                        tracing::warn!(error = chain(&error), "what others tell agents is not heard");
                    }
                }
                Duration::from_millis(shared.config.poll_ms) * LOOKS_APART
            }
        };
        tokio::time::sleep(pause).await;
    }
}
