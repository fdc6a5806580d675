//! Logs as a server tells them: lines of JSON that become events again.

use artel_api::client::{ApiPath, Client};
use artel_api::runs::{LogLine, LogPage, LogQuery};
use artel_model::agent::StampedAgentEvent;
use artel_model::run::StampedEvent;
use artel_store::{LoggedAgentEvent, LoggedEvent, Revision};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::{Failure, refused};

/// Events that are asked for at once.
const PAGE: u32 = 1000;

/// Reads a part of a log.
pub(super) async fn log_page(
    client: &Client,
    path: &ApiPath,
    after: Revision,
) -> Result<Vec<LogLine>, Failure> {
    let query = LogQuery { after: Some(after.0), limit: Some(PAGE) };
    let page: LogPage = client.ask(path, &query).await.map_err(|error| refused(&error))?;
    Ok(page.items)
}

/// Reads an event of a run.
pub(super) fn run_event(line: LogLine) -> Result<LoggedEvent, Failure> {
    let event = StampedEvent { at: line.at, event: known(Value::Object(line.event))? };
    Ok(LoggedEvent { revision: Revision(line.revision), event })
}

/// Reads an event of an agent.
pub(super) fn agent_event(line: LogLine) -> Result<LoggedAgentEvent, Failure> {
    let event = StampedAgentEvent { at: line.at, event: known(Value::Object(line.event))? };
    Ok(LoggedAgentEvent { revision: Revision(line.revision), event })
}

/// Reads what a server says; one that is newer may say what nobody here knows.
pub(super) fn known<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value).map_err(|error| {
        Failure::missing(format!("the server tells something that this artel does not understand: {error}"))
            .hint("`artel --version` here and on the server should be the same")
    })
}
