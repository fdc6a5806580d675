//! What happens in a run, or to an agent, as it happens.

use artel_api::client::{ApiPath, Client, Events};
use artel_api::runs::LogLine;
use artel_engine::{Follow, FollowError};
use artel_model::agent::AgentDocument;
use artel_model::id::{AgentId, RunId};
use artel_store::{LoggedAgentEvent, LoggedEvent};

use super::log::{agent_event, known, run_event};
use super::roll::path;
use crate::failure::{Failure, chain, refused};

/// The kind of the event that says that a run is over.
const END: &str = "end";
/// A query that asks for nothing in particular.
const NO_QUERY: [(&str, &str); 0] = [];

/// What happens in a run, from its beginning.
pub(crate) enum Trail {
    Here(RunId, Box<Follow>),
    There(Box<Events>),
}

impl Trail {
    /// Follows a run at a server.
    pub(super) async fn there(client: &Client, run: RunId) -> Result<Self, Failure> {
        let path = ApiPath::new("/api/runs").name(run).then("events");
        let events = client.events(&path, &NO_QUERY, None).await.map_err(|error| refused(&error))?;
        Ok(Self::There(Box::new(events)))
    }

    /// Waits for what happens next. Nothing more comes after the run is over. Giving up the wait loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Vec<LoggedEvent>, Failure> {
        match self {
            Self::Here(run, follow) => follow.next().await.map_err(|error| stopped(*run, &error)),
            Self::There(events) => {
                let event = events.next().await.map_err(|error| refused(&error))?;
                if event.kind == END {
                    return Ok(Vec::new());
                }
                let line: LogLine = known(serde_json::from_str(&event.data).unwrap_or_default())?;
                Ok(vec![run_event(line)?])
            }
        }
    }
}

/// What happens to an agent at a server, from its beginning.
pub(crate) struct AgentTrail {
    client: Client,
    agent: AgentId,
    events: Events,
}

impl AgentTrail {
    /// Follows an agent.
    pub(crate) async fn of(client: &Client, agent: AgentId) -> Result<Self, Failure> {
        let events = client.events(&path(agent).then("events"), &NO_QUERY, None).await;
        let events = events.map_err(|error| refused(&error))?;
        Ok(Self { client: client.clone(), agent, events })
    }

    /// Waits for what happens next; nothing more comes after the agent was terminated. Giving up the wait loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<LoggedAgentEvent>, Failure> {
        let event = self.events.next().await.map_err(|error| refused(&error))?;
        if event.kind == END {
            return Ok(None);
        }
        agent_event(known(serde_json::from_str(&event.data).unwrap_or_default())?).map(Some)
    }

    /// Returns where the agent stands.
    pub(crate) async fn agent(&self) -> Result<AgentDocument, Failure> {
        self.client.get(&path(self.agent)).await.map_err(|error| refused(&error))
    }
}

/// Says that a run came to no end here.
pub(super) fn stopped(run: RunId, error: &FollowError) -> Failure {
    Failure::missing(format!("run {run}: {}", chain(error))).hint("`artel run recover` goes on with it")
}
