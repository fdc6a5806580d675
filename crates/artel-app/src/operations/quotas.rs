//! Whether there is room for another run or agent of a user. Counted and taken in one turn (`quota_turns`).

use artel_api::ErrorKind;
use artel_model::access::Principal;
use artel_model::agent::AgentState;
use artel_model::quota::{Quota, QuotaExceeded};
use artel_model::run::RunState;
use artel_store::{AgentFilter, PageRequest, RunFilter};
use serde_json::json;

use crate::app::App;
use crate::error::OperationError;
use crate::quota_turns::QuotaTurn;

/// Waits until the caller may start a run, and refuses when there is no room for it.
pub(super) async fn room_for_run(app: &App, caller: &Principal) -> Result<Option<QuotaTurn>, OperationError> {
    let Some(turn) = app.run_turns().turn(caller).await else { return Ok(None) };
    let quotas = app.quotas();
    let states = RunState::ALL.iter().copied().filter(|state| !state.is_final()).collect();
    let filter = RunFilter { states, owner: Some(caller.viewer.user.clone()), ..RunFilter::default() };
    let used = app.stores().runs.runs(&filter, &first(quotas.runs)).await?.items.len();
    quotas.allow(Quota::Runs, used as u64, 1)?;
    Ok(Some(turn))
}

/// Waits until the caller may spawn an agent, and refuses when there is no room for it.
pub(super) async fn room_for_agent(
    app: &App,
    caller: &Principal,
) -> Result<Option<QuotaTurn>, OperationError> {
    let Some(turn) = app.agent_turns().turn(caller).await else { return Ok(None) };
    let quotas = app.quotas();
    let states = AgentState::ALL.iter().copied().filter(|state| state.is_live()).collect();
    let filter = AgentFilter { states, owner: Some(caller.viewer.user.clone()), ..AgentFilter::default() };
    let used = app.stores().agents.agents(&filter, &first(quotas.agents)).await?.items.len();
    quotas.allow(Quota::Agents, used as u64, 1)?;
    Ok(Some(turn))
}

/// As many as there may be: whether there are more makes no difference.
fn first(limit: u64) -> PageRequest {
    PageRequest { after: None, limit: usize::try_from(limit).unwrap_or(usize::MAX) }
}

impl From<QuotaExceeded> for OperationError {
    fn from(exceeded: QuotaExceeded) -> Self {
        let QuotaExceeded { quota, used, limit } = exceeded;
        let (kind, retry_after_seconds) = match quota {
            // A run ends by itself; what was saved or spawned does not.
            Quota::Runs => (ErrorKind::TooMany, Some(1)),
            Quota::SavedSkills | Quota::Agents => (ErrorKind::Conflict, None),
            Quota::SavedBytes | Quota::DataBytes => (ErrorKind::TooLarge, None),
        };
        let details = json!({"quota": quota.as_str(), "used": used, "limit": limit});
        let error = Self::new(kind, "quota_exceeded", exceeded.to_string()).with_details(details);
        Self { retry_after_seconds, ..error }
    }
}
