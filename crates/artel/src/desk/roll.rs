//! Finding an agent as people name it: by its id, the beginning of that, or its name.

use artel_api::Paged;
use artel_api::agents::AgentsQuery;
use artel_api::client::{ApiPath, Client};
use artel_model::agent::AgentDocument;
use artel_model::id::AgentId;
use artel_store::{AgentFilter, Page, PageRequest};

use super::page::{cannot_list, not_listed, page_of, query_of};
use crate::cli::AgentRef;
use crate::failure::{Failure, refused};
use crate::workshop::Store;

/// Agents that are looked at together when one is searched by the beginning of its id.
const PAGE: usize = 1000;
/// Ids that are shown when several are meant.
const ALIKE_SHOWN: usize = 5;

/// The list of all agents.
#[derive(Clone, Copy)]
pub(crate) enum AgentRoll<'a> {
    Here(&'a Store),
    There(&'a Client),
}

impl AgentRoll<'_> {
    /// Finds the agent that is meant.
    pub(crate) async fn find(self, wanted: &AgentRef) -> Result<AgentDocument, Failure> {
        if let Ok(id) = wanted.text().parse::<AgentId>() {
            return self.agent(id).await?.ok_or_else(|| unknown(wanted));
        }
        let filter = AgentFilter { name: Some(wanted.text().to_owned()), ..AgentFilter::default() };
        let named = self.list(&filter, &PageRequest { after: None, limit: PAGE }).await?.items;
        let found = match (named.is_empty(), wanted.digits()) {
            (false, _) | (true, None) => named,
            (true, Some(digits)) => self.beginning_with(&digits).await?,
        };
        one_of(found, wanted)
    }

    /// Returns an agent.
    pub(super) async fn agent(self, id: AgentId) -> Result<Option<AgentDocument>, Failure> {
        match self {
            Self::Here(store) => {
                let row = store.agents.agent(id).await.map_err(|error| Failure::unavailable(&error))?;
                Ok(row.map(|row| AgentDocument::of(&row.record)))
            }
            Self::There(client) => match client.get(&path(id)).await {
                Ok(agent) => Ok(Some(agent)),
                Err(error) if error.status() == Some(404) => Ok(None),
                Err(error) => Err(refused(&error)),
            },
        }
    }

    /// Lists agents, the latest first.
    pub(super) async fn list(
        self,
        filter: &AgentFilter,
        page: &PageRequest,
    ) -> Result<Page<AgentDocument>, Failure> {
        match self {
            Self::Here(store) => {
                let agents = store.agents.agents(filter, page).await.map_err(|error| cannot_list(&error))?;
                let items = agents.items.iter().map(|row| AgentDocument::of(&row.record)).collect();
                Ok(Page { items, next: agents.next })
            }
            Self::There(client) => {
                let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
                let (after, limit) = query_of(page);
                let query = AgentsQuery {
                    state: (!states.is_empty()).then(|| states.join(",")),
                    parent: filter.parent.map(|parent| parent.0),
                    name: filter.name.clone(),
                    since: filter.created_from,
                    until: filter.created_before,
                    owner: None,
                    after,
                    limit,
                };
                let agents: Result<Paged<AgentDocument>, _> =
                    client.ask(&ApiPath::new("/api/agents"), &query).await;
                Ok(page_of(agents.map_err(|error| not_listed(&error))?, |agent| agent))
            }
        }
    }

    async fn beginning_with(self, digits: &str) -> Result<Vec<AgentDocument>, Failure> {
        let mut found: Vec<AgentDocument> = Vec::new();
        let mut page = PageRequest { after: None, limit: PAGE };
        loop {
            let agents = self.list(&AgentFilter::default(), &page).await?;
            let begins = |agent: &AgentDocument| agent.agent_id.0.simple().to_string().starts_with(digits);
            found.extend(agents.items.into_iter().filter(begins));
            match agents.next {
                Some(next) => page.after = Some(next),
                None => return Ok(found),
            }
        }
    }
}

/// Returns the path of an agent.
pub(super) fn path(agent: AgentId) -> ApiPath {
    ApiPath::new("/api/agents").name(agent)
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
