//! Agents: found, listed, given commands, called for, counted, removed.

use std::collections::BTreeSet;

use artel_api::Paged;
use artel_api::agents::{
    AgentMetrics, AgentsQuery, LeftOver, Operation, OperationAnswer, PrunedAgents, SpawnedAgent,
};
use artel_api::client::ApiPath;
use artel_api::runs::{LogPage, LogQuery, PruneRequest};
use artel_app::operations;
use artel_model::agent::{AgentDocument, AgentEvent, CallOrigin, Policy};
use artel_model::id::AgentId;
use artel_model::time::Timestamp;
use artel_store::{LoggedAgentEvent, Revision};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::error::BackendError;
use super::events::EventStream;
use super::log::{LOG_PAGE, agent_event};
use super::open::Backend;
use crate::cli::AgentRef;
use crate::failure::Failure;

pub(crate) use artel_app::operations::Telling;

/// Agents that are looked at together when one is searched by the beginning of its id.
const AGENTS_PAGE: u32 = 1000;
/// Ids that are shown when several are meant.
const ALIKE_SHOWN: usize = 5;
/// Where agents are, at a server.
const AGENTS: &str = "/api/agents";
/// A query that asks for nothing in particular.
const NO_QUERY: [(&str, &str); 0] = [];
/// What to do when an agent does not do as it was told.
const STATE_HINT: &str = "`artel agent show` says where it stands";

impl Backend {
    /// Finds an agent as people name it: by its id, the beginning of that, or its name.
    pub(crate) async fn find_agent(&self, wanted: &AgentRef) -> Result<AgentDocument, Failure> {
        if let Ok(id) = wanted.text().parse::<AgentId>() {
            return self.agent(id).await?.ok_or_else(|| unknown(wanted));
        }
        let query = AgentsQuery {
            name: Some(wanted.text().to_owned()),
            limit: Some(AGENTS_PAGE),
            ..AgentsQuery::default()
        };
        let named = self.list_agents(query).await?.items;
        let found = match (named.is_empty(), wanted.digits()) {
            (false, _) | (true, None) => named,
            (true, Some(digits)) => self.agents_beginning_with(&digits).await?,
        };
        one_of(found, wanted)
    }

    async fn agents_beginning_with(&self, digits: &str) -> Result<Vec<AgentDocument>, Failure> {
        let mut found: Vec<AgentDocument> = Vec::new();
        let mut query = AgentsQuery { limit: Some(AGENTS_PAGE), ..AgentsQuery::default() };
        loop {
            let agents = self.list_agents(query.clone()).await?;
            let begins = |agent: &AgentDocument| agent.agent_id.0.simple().to_string().starts_with(digits);
            found.extend(agents.items.into_iter().filter(begins));
            match agents.next {
                Some(next) => query.after = Some(next),
                None => return Ok(found),
            }
        }
    }

    /// Returns an agent.
    pub(crate) async fn agent(&self, id: AgentId) -> Result<Option<AgentDocument>, Failure> {
        let agent = match self {
            Self::Local(local) => {
                operations::read_agent(&local.app, &local.caller, id).await.map_err(BackendError::from)
            }
            Self::Remote(client) => client.get(&path(id)).await.map_err(BackendError::from),
        };
        match agent {
            Ok(agent) => Ok(Some(agent)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists agents, the latest first.
    pub(crate) async fn list_agents(&self, query: AgentsQuery) -> Result<Paged<AgentDocument>, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::list_agents(&local.app, &local.caller, query).await?),
            Self::Remote(client) => Ok(client.ask(&ApiPath::new(AGENTS), &query).await?),
        }
    }

    /// Returns the agents that are at work while no living process drives them.
    pub(crate) async fn left_over_agents(&self) -> Result<BTreeSet<AgentId>, BackendError> {
        let left: LeftOver = match self {
            Self::Local(local) => operations::left_over(&local.app, &local.caller).await?,
            Self::Remote(client) => client.get(&ApiPath::new(AGENTS).then("left-over")).await?,
        };
        Ok(left.agent_ids.into_iter().map(AgentId).collect())
    }

    /// Returns what an agent may call, and why.
    pub(crate) async fn agent_policy(&self, id: AgentId) -> Result<Policy, Failure> {
        // It never changes, so the beginning of the log is enough.
        let first = self.agent_log(id, Revision(0)).await?.into_iter().next();
        match first.map(|logged| logged.event.event) {
            Some(AgentEvent::Spawned { spec, .. }) => Ok(spec.policy),
            Some(_) | None => Err(Failure::missing(format!("the log of agent {id} cannot be read"))),
        }
    }

    /// Reads a part of an agent's log; nothing at its end.
    pub(crate) async fn agent_log(
        &self,
        id: AgentId,
        after: Revision,
    ) -> Result<Vec<LoggedAgentEvent>, Failure> {
        let query = LogQuery { after: Some(after.0), limit: Some(LOG_PAGE) };
        let page: LogPage = match self {
            Self::Local(local) => operations::read_agent_log(&local.app, &local.caller, id, query)
                .await
                .map_err(BackendError::from)?,
            Self::Remote(client) => {
                client.ask(&path(id).then("log"), &query).await.map_err(BackendError::from)?
            }
        };
        page.items.into_iter().map(agent_event).collect()
    }

    /// Follows an agent from its beginning.
    pub(crate) async fn follow_agent(&self, id: AgentId) -> Result<EventStream, Failure> {
        match self {
            Self::Local(local) => {
                let log = operations::agent_log(&local.app, &local.caller, id, None).await;
                Ok(EventStream::local(log.map_err(BackendError::from)?))
            }
            Self::Remote(client) => {
                let events = client.events(&path(id).then("events"), &NO_QUERY, None).await;
                Ok(EventStream::Remote(Box::new(events.map_err(BackendError::from)?)))
            }
        }
    }

    /// Gives an agent, and everything below it, a command.
    pub(crate) async fn tell_agent(&self, id: AgentId, telling: Telling) -> Result<AgentDocument, Failure> {
        let told = match self {
            Self::Local(local) => {
                operations::tell(&local.app, &local.caller, id, telling).await.map_err(BackendError::from)
            }
            Self::Remote(client) => {
                client.tell(&path(id).then(telling.as_str())).await.map_err(BackendError::from)
            }
        };
        told.map_err(|error| match error.kind().map(artel_api::ErrorKind::status) {
            Some(404 | 409) => Failure::from(error).hint(STATE_HINT),
            Some(_) | None => error.into(),
        })
    }

    /// Spawns an agent.
    pub(crate) async fn spawn_agent(
        &self,
        document: &Map<String, Value>,
    ) -> Result<SpawnedAgent, BackendError> {
        match self {
            Self::Local(local) => {
                Ok(operations::spawn(&local.app, &local.caller, CallOrigin::Local, document).await?)
            }
            Self::Remote(client) => {
                Ok(client.post(&ApiPath::new(AGENTS), document, Some(&fresh_key())).await?)
            }
        }
    }

    /// Lets an agent that is free begin anew.
    pub(crate) async fn start_agent(&self, id: AgentId) -> Result<AgentDocument, BackendError> {
        match self {
            Self::Local(local) => {
                Ok(operations::start(&local.app, &local.caller, CallOrigin::Local, id).await?)
            }
            Self::Remote(client) => Ok(client.tell(&path(id).then("start")).await?),
        }
    }

    /// Calls a tool for an agent.
    pub(crate) async fn execute(
        &self,
        id: AgentId,
        operation: Operation,
    ) -> Result<OperationAnswer, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::execute(&local.app, &local.caller, id, operation).await?),
            Self::Remote(client) => {
                Ok(client.post(&path(id).then("execute"), &operation, Some(&fresh_key())).await?)
            }
        }
    }

    /// Says how an agent does.
    pub(crate) async fn agent_metrics(&self, id: AgentId) -> Result<AgentMetrics, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::metrics(&local.app, &local.caller, id).await?),
            Self::Remote(client) => Ok(client.get(&path(id).then("metrics")).await?),
        }
    }

    /// Removes agents to whom nothing has happened since a moment, and the folders of those which are gone.
    pub(crate) async fn prune_agents(&self, before: Timestamp) -> Result<PrunedAgents, BackendError> {
        let request = PruneRequest { before };
        match self {
            Self::Local(local) => Ok(operations::prune_agents(&local.app, request).await?),
            Self::Remote(client) => {
                Ok(client.post(&ApiPath::new(AGENTS).then("prune"), &request, None).await?)
            }
        }
    }
}

/// Makes a key that no other request has, so that a request which is sent again does nothing twice.
pub(crate) fn fresh_key() -> String {
    Uuid::new_v4().to_string()
}

fn path(agent: AgentId) -> ApiPath {
    ApiPath::new(AGENTS).name(agent)
}

fn one_of(mut found: Vec<AgentDocument>, wanted: &AgentRef) -> Result<AgentDocument, Failure> {
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(unknown(wanted)),
        count => {
            let ids: Vec<String> =
                found.iter().take(ALIKE_SHOWN).map(|agent| agent.agent_id.to_string()).collect();
            Err(Failure::failed(format!("{count} agents go by `{}`", wanted.text()))
                .hint(format!("give more of the id: {}", ids.join(", "))))
        }
    }
}

fn unknown(wanted: &AgentRef) -> Failure {
    Failure::failed(format!("there is no agent `{}`", wanted.text()))
        .hint("`artel agent list` shows the agents there are; at least 4 digits of an id are needed")
}
