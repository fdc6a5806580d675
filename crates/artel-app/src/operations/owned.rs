//! Whose something is. What is somebody else's is not found, as if it did not exist.

use artel_model::access::{Principal, UserId};
use artel_model::id::{AgentId, RunId};
use artel_store::{AgentRow, RunRow};

use crate::app::App;
use crate::error::OperationError;

/// Returns a run of the caller.
pub(super) async fn own_run(app: &App, caller: &Principal, id: RunId) -> Result<RunRow, OperationError> {
    let row = app.stores().runs.run(id).await?;
    row.filter(|row| caller.owns(row.summary.owner.as_ref())).ok_or_else(|| OperationError::not_found("run"))
}

/// Returns an agent of the caller.
pub(super) async fn own_agent(
    app: &App,
    caller: &Principal,
    id: AgentId,
) -> Result<AgentRow, OperationError> {
    let row = app.stores().agents.agent(id).await?;
    row.filter(|row| caller.owns(row.record.owner())).ok_or_else(|| OperationError::not_found("agent"))
}

/// Returns whose things a list holds: an administrator may say, everybody else sees their own.
pub(super) fn owner_filter(
    caller: &Principal,
    asked: Option<&str>,
) -> Result<Option<UserId>, OperationError> {
    let asked: Option<UserId> = match asked {
        None => None,
        Some(text) => Some(text.parse().map_err(|error| {
            OperationError::bad_request("invalid_query", format!("`owner` names nobody: {error}"))
        })?),
    };
    match asked {
        asked if caller.is_admin() => Ok(asked),
        Some(other) if other != caller.viewer.user => {
            Err(OperationError::forbidden("Only an administrator sees what others started."))
        }
        Some(_) | None => Ok(Some(caller.viewer.user.clone())),
    }
}
