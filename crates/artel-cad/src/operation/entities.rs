//! Looking at entities, whatever they are, and removing them.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::session::{Call, Session, describe};
use crate::entity::{EntityId, EntityKind};
use crate::error::{CadResult, bad_params, invalid};
use crate::limit::PAGE_MAX;
use crate::rpc::{Access, Method};
use crate::store::Change;

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "entity.query",
            Access::Reads,
            "Returns everything that is known about an entity.",
            r#"{"entity_id": "plate"}"#,
            query,
        ),
        Method::new(
            "entity.list",
            Access::Reads,
            "Lists the entities of a workspace by id, of one type or all.",
            r#"{"entity_type": "solid", "limit": 100, "offset": 0}"#,
            list,
        ),
        Method::new(
            "entity.delete",
            Access::Writes,
            "Removes entities from the workspace; history.undo brings them back.",
            r#"{"entity_id": "hole_1"}"#,
            delete,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QueryParams {
    /// The entity.
    entity_id: EntityId,
}

fn query(session: &mut Session, call: &Call<'_>, params: QueryParams) -> CadResult<Value> {
    let view = session.view(call)?;
    let stored = session.store.entity(&view, &params.entity_id)?;
    Ok(describe(call.workspace, &stored.id, &stored.entity))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListParams {
    /// Only entities of this type.
    entity_type: Option<EntityKind>,
    /// How many to return at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
    /// How many to skip.
    #[serde(default)]
    offset: usize,
}

fn default_limit() -> usize {
    100
}

fn list(session: &mut Session, call: &Call<'_>, params: ListParams) -> CadResult<Value> {
    if params.limit == 0 || params.limit > PAGE_MAX {
        return Err(bad_params(format!("`limit` = {} is not from 1 to {PAGE_MAX}", params.limit)));
    }
    let view = session.view(call)?;
    let versions = session.store.versions(&view)?;
    let fits = |kind: &str| params.entity_type.is_none_or(|wanted| wanted.word() == kind);
    let all: Vec<_> = versions.into_iter().filter(|(_, reference)| fits(&reference.kind)).collect();
    let total = all.len();
    let mut entities = Vec::new();
    for (id, reference) in all.into_iter().skip(params.offset).take(params.limit) {
        let stored = session.store.version(&id, reference.version)?;
        entities.push(describe(call.workspace, &id, &stored.entity));
    }
    Ok(json!({
        "entities": entities, "total_count": total, "offset": params.offset, "workspace_id": call.workspace,
        "has_more": params.offset + entities.len() < total
    }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteParams {
    /// The entity.
    entity_id: Option<EntityId>,
    /// Several at once.
    #[serde(default)]
    entity_ids: Vec<EntityId>,
    /// Also removes the profiles and constraints that need them.
    #[serde(default)]
    cascade: bool,
}

fn delete(session: &mut Session, call: &Call<'_>, params: DeleteParams) -> CadResult<Value> {
    let named: BTreeSet<EntityId> = params.entity_ids.into_iter().chain(params.entity_id).collect();
    if named.is_empty() {
        return Err(bad_params("name the entities as `entity_id` or `entity_ids`"));
    }
    let view = session.view(call)?;
    let named: Vec<EntityId> = named.into_iter().collect();
    let stored = session.stored(&view, &named)?;
    let mut deletes: BTreeSet<EntityId> = named.into_iter().collect();
    let dependents = session.store.entities(&view, &[EntityKind::Profile, EntityKind::Constraint])?;
    // A profile can be needed by nothing else, and a constraint by nothing, so one pass finds all.
    for dependent in dependents {
        let needs = dependent.entity.references().into_iter().find(|id| deletes.contains(id));
        if let Some(needed) = needs.filter(|_| !deletes.contains(&dependent.id)) {
            if !params.cascade {
                let message = format!("`{}` needs `{needed}`", dependent.id);
                return Err(invalid(message).hint("delete it too, or add `\"cascade\": true`"));
            }
            deletes.insert(dependent.id);
        }
    }
    let expected = stored.iter().map(|stored| (stored.id.clone(), stored.version)).collect();
    let deletes: Vec<EntityId> = deletes.into_iter().collect();
    let answer = json!({"deleted": deletes, "workspace_id": call.workspace});
    session.commit(call, Change { puts: Vec::new(), deletes, expected }, |_| answer)
}
