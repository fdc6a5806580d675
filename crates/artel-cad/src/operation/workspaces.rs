//! Workspaces: making them from each other, listing and deleting them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::session::{Call, Session};
use crate::entity::WorkspaceId;
use crate::error::{CadError, CadResult, Code};
use crate::rpc::{Access, Method};

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "workspace.create",
            Access::Writes,
            "Makes a workspace that shows everything its base shows at this moment; `workspace_id` is its name.",
            r#"{"workspace_id": "lid", "base_workspace_id": "main"}"#,
            create,
        ),
        Method::new("workspace.list", Access::Reads, "Lists the workspaces by name.", "{}", list),
        Method::new(
            "workspace.delete",
            Access::Writes,
            "Deletes a workspace. Workspaces made from it keep what they show.",
            r#"{"workspace_id": "lid"}"#,
            delete,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateParams {
    /// What it is made from; `main` when left out.
    #[serde(alias = "base")]
    base_workspace_id: Option<WorkspaceId>,
    /// Makes it empty, without a base.
    #[serde(default)]
    empty: bool,
}

fn create(session: &mut Session, call: &Call<'_>, params: CreateParams) -> CadResult<Value> {
    let main: WorkspaceId = "main".parse()?;
    let base = params.base_workspace_id.unwrap_or(main);
    let base = (!params.empty).then_some(&base);
    session.store.create_workspace(&call.commit(), base, |row| {
        json!({
            "workspace_id": call.workspace,
            "base_workspace_id": row.map(|row| row.name.clone()),
            "base_step": row.map_or(0, |row| row.seq)
        })
    })
}

/// No parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

fn list(session: &mut Session, _: &Call<'_>, _: NoParams) -> CadResult<Value> {
    let mut workspaces = Vec::new();
    for row in session.store.workspaces()? {
        let base = match row.base {
            Some((key, _)) => Some(session.store.workspace_by_key(key)?.name),
            None => None,
        };
        workspaces.push(json!({
            "workspace_id": row.name, "base_workspace_id": base, "steps": row.seq, "created_at_ms": row.created_ms
        }));
    }
    Ok(json!({"workspaces": workspaces}))
}

fn delete(session: &mut Session, call: &Call<'_>, _: NoParams) -> CadResult<Value> {
    if call.workspace.as_ref() == "main" {
        return Err(
            CadError::new(Code::WorkspaceConflict, "`main` cannot be deleted").hint("delete its entities")
        );
    }
    let result = json!({"deleted": call.workspace});
    session.store.delete_workspace(&call.commit(), result)
}
