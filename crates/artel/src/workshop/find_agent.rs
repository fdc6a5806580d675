//! Finding an agent as people name it: by its id, the beginning of that, or its name.

use artel_model::id::AgentId;
use artel_store::{AgentFilter, AgentRow, PageRequest};

use super::store::Store;
use crate::cli::AgentRef;
use crate::failure::Failure;

/// Agents that are looked at together when one is searched by the beginning of its id.
const PAGE: usize = 1000;
/// Ids that are shown when several are meant.
const ALIKE_SHOWN: usize = 5;

/// Finds the agent that is meant.
pub(crate) async fn find_agent(store: &Store, wanted: &AgentRef) -> Result<AgentRow, Failure> {
    let unavailable = |error| Failure::unavailable(&error);
    if let Ok(id) = wanted.text().parse::<AgentId>() {
        let row = store.agents.agent(id).await.map_err(unavailable)?;
        return row.ok_or_else(|| unknown(wanted));
    }
    let filter = AgentFilter { name: Some(wanted.text().to_owned()), ..AgentFilter::default() };
    let page = PageRequest { after: None, limit: PAGE };
    let named = store.agents.agents(&filter, &page).await.map_err(unavailable)?.items;
    let found = match (named.is_empty(), wanted.digits()) {
        (false, _) | (true, None) => named,
        (true, Some(digits)) => beginning_with(store, &digits).await?,
    };
    one_of(found, wanted)
}

async fn beginning_with(store: &Store, digits: &str) -> Result<Vec<AgentRow>, Failure> {
    let mut found: Vec<AgentRow> = Vec::new();
    let mut page = PageRequest { after: None, limit: PAGE };
    loop {
        let agents = store.agents.agents(&AgentFilter::default(), &page).await;
        let agents = agents.map_err(|error| Failure::unavailable(&error))?;
        let begins = |row: &AgentRow| row.record.agent_id.0.simple().to_string().starts_with(digits);
        found.extend(agents.items.into_iter().filter(begins));
        match agents.next {
            Some(next) => page.after = Some(next),
            None => return Ok(found),
        }
    }
}

fn one_of(mut found: Vec<AgentRow>, wanted: &AgentRef) -> Result<AgentRow, Failure> {
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(unknown(wanted)),
        count => {
            let ids: Vec<String> =
                found.iter().take(ALIKE_SHOWN).map(|row| row.record.agent_id.to_string()).collect();
            Err(Failure::failed(format!("{count} agents go by `{}`", wanted.text()))
                .hint(format!("give more of the id: {}", ids.join(", "))))
        }
    }
}

fn unknown(wanted: &AgentRef) -> Failure {
    Failure::failed(format!("there is no agent `{}`", wanted.text()))
        .hint("`artel agent list` shows the agents there are; at least 4 digits of an id are needed")
}
