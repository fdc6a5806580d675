//! Logs as they travel: lines of JSON that become events again.

use artel_api::runs::LogLine;
use artel_model::agent::StampedAgentEvent;
use artel_model::run::StampedEvent;
use artel_store::{LoggedAgentEvent, LoggedEvent, Revision};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;

/// Events that are asked for at once.
pub(super) const LOG_PAGE: u32 = 1000;

/// Reads an event of a run.
pub(crate) fn run_event(line: LogLine) -> Result<LoggedEvent, Failure> {
    let event = StampedEvent { at: line.at, event: known(Value::Object(line.event))? };
    Ok(LoggedEvent { revision: Revision(line.revision), event })
}

/// Reads an event of an agent.
pub(crate) fn agent_event(line: LogLine) -> Result<LoggedAgentEvent, Failure> {
    let event = StampedAgentEvent { at: line.at, event: known(Value::Object(line.event))? };
    Ok(LoggedAgentEvent { revision: Revision(line.revision), event })
}

/// Reads what a server says; a newer one may say what this program does not know.
pub(super) fn known<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value).map_err(|error| {
        Failure::missing(format!("the server tells something that this artel does not understand: {error}"))
            .hint("`artel --version` here and on the server should be the same")
    })
}
