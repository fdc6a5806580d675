//! The records of skills that were run.

use artel_api::Paged;
use artel_api::runs::ExecutionsQuery;
use artel_model::access::Principal;
use artel_model::id::{AgentId, ExecutionId, RunId};
use artel_model::run::{ExecutionRecord, ExecutionStatus};
use artel_store::ExecutionFilter;

use super::owned::{own_run, owner_filter};
use super::page::{page_request, paged, words};
use crate::app::App;
use crate::error::OperationError;

/// Lists records, the latest first.
pub async fn list_executions(
    app: &App,
    caller: &Principal,
    query: ExecutionsQuery,
) -> Result<Paged<ExecutionRecord>, OperationError> {
    let filter = ExecutionFilter {
        agent: query.agent.map(AgentId),
        run: query.run.map(RunId),
        skill: query.skill,
        statuses: words("status", query.status.as_deref(), ExecutionStatus::ALL, ExecutionStatus::as_str)?,
        started_from: query.since,
        started_before: query.until,
        owner: owner_filter(caller, None)?,
    };
    let page = app.stores().executions.executions(&filter, &page_request(query.after, query.limit)?).await?;
    Ok(paged(page, |record| record))
}

/// Returns a record, which is the caller's when its run is.
pub async fn read_execution(
    app: &App,
    caller: &Principal,
    id: ExecutionId,
) -> Result<ExecutionRecord, OperationError> {
    let not_found = || OperationError::not_found("execution");
    let record = app.stores().executions.execution(id).await?.ok_or_else(not_found)?;
    own_run(app, caller, record.run_id).await.map_err(|error| match error.code {
        "not_found" => not_found(),
        _ => error,
    })?;
    Ok(record)
}
