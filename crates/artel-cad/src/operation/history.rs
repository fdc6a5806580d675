//! The steps of a workspace, undo and redo, and the counters of calls.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::session::{Call, Session};
use super::workspaces::NoParams;
use crate::error::{CadResult, bad_params};
use crate::limit::PAGE_MAX;
use crate::rpc::{Access, Method};

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "history.list",
            Access::Reads,
            "Lists the latest steps of a workspace, newest first.",
            r#"{"limit": 20}"#,
            list,
        ),
        Method::new(
            "history.undo",
            Access::Writes,
            "Takes the latest step that is not undone back.",
            "{}",
            undo,
        ),
        Method::new("history.redo", Access::Writes, "Does the step that was undone last again.", "{}", redo),
        Method::new(
            "agent.metrics",
            Access::Reads,
            "Returns how often an agent called which method, and with what success.",
            r#"{"agent_id": "designer_001"}"#,
            metrics,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListParams {
    /// How many to return at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
}

fn default_limit() -> usize {
    20
}

fn list(session: &mut Session, call: &Call<'_>, params: ListParams) -> CadResult<Value> {
    if params.limit == 0 || params.limit > PAGE_MAX {
        return Err(bad_params(format!("`limit` = {} is not from 1 to {PAGE_MAX}", params.limit)));
    }
    let (row, _) = session.store.view(call.workspace)?;
    let steps: Vec<Value> = session
        .store
        .history(row.key, params.limit)?
        .into_iter()
        .map(|step| {
            json!({
                "step": step.seq, "method": step.method, "at_ms": step.at_ms, "state": step.state,
                "entities": step.entities
            })
        })
        .collect();
    Ok(json!({"steps": steps, "workspace_id": call.workspace}))
}

fn undo(session: &mut Session, call: &Call<'_>, _: NoParams) -> CadResult<Value> {
    session.store.undo(&call.commit(), |step, method, entities| {
        json!({"undone_step": step, "method": method, "entities": entities, "workspace_id": call.workspace})
    })
}

fn redo(session: &mut Session, call: &Call<'_>, _: NoParams) -> CadResult<Value> {
    session.store.redo(&call.commit(), |step, method, entities| {
        json!({"redone_step": step, "method": method, "entities": entities, "workspace_id": call.workspace})
    })
}

fn metrics(session: &mut Session, call: &Call<'_>, _: NoParams) -> CadResult<Value> {
    session.flush_metrics();
    let methods = session.store.metrics(Some(call.agent))?;
    let successes: i64 = methods.iter().map(|method| method.success_count).sum();
    let errors: i64 = methods.iter().map(|method| method.error_count).sum();
    let total = successes + errors;
    let rate = if total == 0 { Value::Null } else { json!(successes as f64 / total as f64) };
    Ok(json!({
        "agent_id": call.agent, "operation_count": total, "success_count": successes, "error_count": errors,
        "success_rate": rate, "by_operation": methods
    }))
}
