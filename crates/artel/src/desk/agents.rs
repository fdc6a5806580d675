//! Agents: found, listed, told something, counted, removed.

use std::collections::BTreeSet;

use artel_agents::{Agents, CommandRefused};
use artel_api::agents::{AgentMetrics, LeftOver, PrunedAgents};
use artel_api::client::{ApiPath, Client};
use artel_api::runs::PruneWish;
use artel_model::agent::{AgentDocument, AgentEvent, AgentRecord, Cause, Policy};
use artel_model::id::AgentId;
use artel_model::time::Timestamp;
use artel_store::{
    AgentFilter, ExecutionFilter, LoggedAgentEvent, OwnerId, Page, PageRequest, Revision, has_ended,
};

use super::log::{agent_event, log_page};
use super::roll::{AgentRoll, path};
use crate::cli::AgentRef;
use crate::command::Context;
use crate::failure::{Failure, chain, refused};
use crate::workshop::{Agency, Store, Teller, cause, prune_work};

/// Events that are read at once.
const EVENTS_PAGE: usize = 500;
/// Records that are read at once.
const RECORDS_PAGE: usize = 1000;
/// What to do when an agent does not do as it was told.
const STANDING_HINT: &str = "`artel agent show` says where it stands";

/// Where one asks about agents.
pub(crate) enum AgentDesk<'a> {
    Here(Context<'a>, Teller),
    There(Client),
}

/// What an agent can be told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Telling {
    Pause,
    Resume,
    Cancel,
    Terminate,
    Free,
}

impl Telling {
    async fn tell(self, agents: &Agents, id: AgentId, cause: Cause) -> Result<AgentRecord, CommandRefused> {
        match self {
            Self::Pause => agents.pause(id, cause).await,
            Self::Resume => agents.resume(id, cause).await,
            Self::Cancel => agents.cancel(id, cause).await,
            Self::Terminate => agents.terminate(id, cause).await,
            Self::Free => agents.free(id, cause).await,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
            Self::Terminate => "terminate",
            Self::Free => "free",
        }
    }
}

impl<'a> AgentDesk<'a> {
    /// Goes to the desk. That nothing was ever run here is told.
    pub(crate) async fn open(context: Context<'a>) -> Result<Self, Failure> {
        match context.remote()? {
            Some(client) => Ok(Self::There(client)),
            None => Ok(Self::Here(context, Teller::open(context).await?)),
        }
    }

    /// Goes to the desk; there is none where nothing was ever run.
    pub(crate) async fn open_if_any(context: Context<'a>) -> Result<Option<Self>, Failure> {
        match context.remote()? {
            Some(client) => Ok(Some(Self::There(client))),
            None => Ok(Teller::open_if_any(context).await?.map(|teller| Self::Here(context, teller))),
        }
    }

    fn roll(&self) -> AgentRoll<'_> {
        match self {
            Self::Here(_, teller) => AgentRoll::Here(&teller.store),
            Self::There(client) => AgentRoll::There(client),
        }
    }

    /// Finds the agent that is meant.
    pub(crate) async fn find(&self, wanted: &AgentRef) -> Result<AgentDocument, Failure> {
        self.roll().find(wanted).await
    }

    /// Lists agents, the latest first.
    pub(crate) async fn list(
        &self,
        filter: &AgentFilter,
        page: &PageRequest,
    ) -> Result<Page<AgentDocument>, Failure> {
        self.roll().list(filter, page).await
    }

    /// Returns which of these agents are at work while nobody alive sees to them.
    pub(crate) async fn left_over(&self, agents: &[AgentDocument]) -> Result<BTreeSet<AgentId>, Failure> {
        let mut left = BTreeSet::new();
        match self {
            Self::Here(_, teller) => {
                for agent in agents {
                    let row = teller.store.agents.agent(agent.agent_id).await;
                    let row = row.map_err(|error| Failure::unavailable(&error))?;
                    if row.is_some_and(|row| is_left_over(teller, &row.record)) {
                        left.insert(agent.agent_id);
                    }
                }
            }
            Self::There(client) => {
                let answer: LeftOver = client
                    .get(&ApiPath::new("/api/agents/left-over"))
                    .await
                    .map_err(|error| refused(&error))?;
                let is_meant = |id: &AgentId| agents.iter().any(|agent| agent.agent_id == *id);
                left.extend(answer.agent_ids.into_iter().map(AgentId).filter(is_meant));
            }
        }
        Ok(left)
    }

    /// Returns what an agent may call, and why.
    pub(crate) async fn policy(&self, id: AgentId) -> Result<Policy, Failure> {
        // It never changes, so the beginning of the log is enough.
        let first = self.log(id, Revision(0)).await?.into_iter().next();
        match first.map(|logged| logged.event.event) {
            Some(AgentEvent::Spawned { spec, .. }) => Ok(spec.policy),
            Some(_) | None => Err(Failure::missing(format!("the log of agent {id} cannot be read"))),
        }
    }

    /// Reads a part of an agent's log; nothing at its end.
    pub(crate) async fn log(&self, id: AgentId, after: Revision) -> Result<Vec<LoggedAgentEvent>, Failure> {
        match self {
            Self::Here(_, teller) => {
                let events = teller.store.agents.agent_events(id, after, EVENTS_PAGE).await;
                events.map_err(|error| Failure::unavailable(&error))
            }
            Self::There(client) => {
                let lines = log_page(client, &path(id).then("log"), after).await?;
                lines.into_iter().map(agent_event).collect()
            }
        }
    }

    /// Tells an agent something, and everything below it.
    pub(crate) async fn tell(&self, id: AgentId, telling: Telling) -> Result<AgentDocument, Failure> {
        match self {
            Self::Here(context, teller) => {
                let agency = Agency::to_tell(*context, teller).await?;
                let told = telling.tell(&agency.agents, id, cause(*context)).await;
                told.map(|record| AgentDocument::of(&record)).map_err(|error| not_told(&error))
            }
            Self::There(client) => {
                let told = client.tell(&path(id).then(telling.word())).await;
                told.map_err(|error| match error.status() {
                    Some(404 | 409) => refused(&error).hint(STANDING_HINT),
                    Some(_) | None => refused(&error),
                })
            }
        }
    }

    /// Says how an agent does.
    pub(crate) async fn metrics(&self, agent: &AgentDocument) -> Result<AgentMetrics, Failure> {
        match self {
            Self::Here(_, teller) => Ok(metrics(agent, average_ms(&teller.store, agent.agent_id).await?)),
            Self::There(client) => {
                client.get(&path(agent.agent_id).then("metrics")).await.map_err(|error| refused(&error))
            }
        }
    }

    /// Removes agents to whom nothing has happened since a moment, and the folders of those which are gone.
    pub(crate) async fn prune(&self, before: Timestamp) -> Result<PrunedAgents, Failure> {
        match self {
            Self::Here(context, Teller { store, .. }) => {
                let removed = store.agents.prune_agents(before).await;
                let removed = removed.map_err(|error| Failure::unavailable(&error))?;
                Ok(PrunedAgents { removed, folders: prune_work(*context, store).await? })
            }
            Self::There(client) => {
                let path = ApiPath::new("/api/agents/prune");
                client.post(&path, &PruneWish { before }, None).await.map_err(|error| refused(&error))
            }
        }
    }
}

/// Says whether an agent is at work and nobody alive sees to it.
fn is_left_over(teller: &Teller, record: &AgentRecord) -> bool {
    let owner = record.standing.work().map(|work| OwnerId(work.owner.clone()));
    owner.is_some_and(|owner| !(teller.is_alive)(&owner))
}

fn not_told(error: &CommandRefused) -> Failure {
    match error {
        CommandRefused::Unknown(_)
        | CommandRefused::Transition(_)
        | CommandRefused::Full(_)
        | CommandRefused::StillEnding(_)
        | CommandRefused::Run(_) => Failure::failed(chain(error)).hint(STANDING_HINT),
        CommandRefused::Failed(_) => Failure::missing(chain(error)),
    }
}

fn metrics(agent: &AgentDocument, average_ms: Option<u64>) -> AgentMetrics {
    let (count, success) = (agent.operation_count, agent.success_count);
    #[expect(clippy::cast_precision_loss, reason = "a rate and an average are shown with few digits")]
    let (rate, average) =
        ((count > 0).then(|| success as f64 / count as f64), average_ms.map(|millis| millis as f64 / 1000.0));
    AgentMetrics {
        agent_id: agent.agent_id.0,
        operation_count: count,
        success_count: success,
        error_count: agent.error_count,
        success_rate: rate,
        average_operation_time: average,
    }
}

/// Returns the average time of what was run for the agent and has ended.
async fn average_ms(store: &Store, agent: AgentId) -> Result<Option<u64>, Failure> {
    let filter = ExecutionFilter { agent: Some(agent), ..ExecutionFilter::default() };
    let mut page = PageRequest { after: None, limit: RECORDS_PAGE };
    let (mut sum, mut count) = (0_u64, 0_u64);
    loop {
        let records = store.executions.executions(&filter, &page).await;
        let records = records.map_err(|error| Failure::unavailable(&error))?;
        for record in records.items.iter().filter(|record| has_ended(record.status)) {
            if let Some(millis) = record.duration_ms {
                sum = sum.saturating_add(millis);
                count += 1;
            }
        }
        match records.next {
            Some(next) => page.after = Some(next),
            None => return Ok((count > 0).then(|| sum / count)),
        }
    }
}
