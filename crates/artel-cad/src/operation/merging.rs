//! Comparing and merging workspaces.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::overlaps::overlaps;
use super::session::{Call, Session};
use super::workspaces::NoParams;
use crate::entity::{EntityId, WorkspaceId};
use crate::error::{CadError, CadResult, Code, bad_params};
use crate::rpc::{Access, Method};
use crate::store::{Change, Content, Put, View, WorkspaceKey, WorkspaceRow};
use crate::workspace::{Choice, Conflict, Diff, MergePlan, Resolution, Versions, plan, resolve};

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "workspace.status",
            Access::Reads,
            "Returns how many entities a workspace has, and how it differs from its base: ahead, behind, dirty.",
            r#"{"workspace_id": "lid"}"#,
            status,
        ),
        Method::new(
            "workspace.diff",
            Access::Reads,
            "Lists what was added, modified and deleted from one workspace to another.",
            r#"{"workspace_id": "lid", "other_workspace_id": "main"}"#,
            diff,
        ),
        Method::new(
            "workspace.merge",
            Access::Writes,
            "Takes the changes of a workspace into another, all or nothing; conflicts are listed and change nothing.",
            r#"{"source_workspace_id": "lid", "target_workspace_id": "main"}"#,
            merge,
        ),
        Method::new(
            "workspace.resolve_conflict",
            Access::Writes,
            "Says how a conflict is resolved when the merge is repeated.",
            r#"{"source_workspace_id": "lid", "target_workspace_id": "main", "conflict_id": "conflict_0123456789abcdef", "resolution": "keep_source"}"#,
            resolve_conflict,
        ),
    ]
}

/// Two workspaces and what they have in common.
struct Pair {
    source: WorkspaceRow,
    target: WorkspaceRow,
    views: [View; 2],
    ancestor: Versions,
    versions: [Versions; 2],
}

impl Pair {
    fn read(session: &mut Session, source: &WorkspaceId, target: &WorkspaceId) -> CadResult<Self> {
        if source == target {
            let message = format!("`{source}` cannot be compared with itself or merged into itself");
            return Err(CadError::new(Code::CircularDependency, message));
        }
        let (source, source_view) = session.store.view(source)?;
        let (target, target_view) = session.store.view(target)?;
        let ancestor = match ancestor(session, &source, &target, [&source_view, &target_view])? {
            Some(view) => session.store.versions(&view)?,
            None => Versions::new(),
        };
        let versions = [session.store.versions(&source_view)?, session.store.versions(&target_view)?];
        Ok(Self { source, target, views: [source_view, target_view], ancestor, versions })
    }

    fn keys(&self) -> [WorkspaceKey; 2] {
        [self.source.key, self.target.key]
    }
}

/// Returns the latest state that both have: the last merge between them, or where they branched apart.
fn ancestor(
    session: &mut Session,
    source: &WorkspaceRow,
    target: &WorkspaceRow,
    views: [&View; 2],
) -> CadResult<Option<View>> {
    let merges = session.store.merges(source.key, target.key)?;
    let forward =
        merges.iter().filter(|merge| merge.source == source.key).max_by_key(|merge| merge.source_seq);
    let backward =
        merges.iter().filter(|merge| merge.source == target.key).max_by_key(|merge| merge.target_seq);
    // Both are compared by the step of the source at which they happened.
    match (forward, backward) {
        (Some(forward), Some(backward)) if backward.target_seq > forward.source_seq => {
            session.store.view_at(target, backward.source_seq).map(Some)
        }
        (Some(forward), _) => session.store.view_at(source, forward.source_seq).map(Some),
        (None, Some(backward)) => session.store.view_at(target, backward.source_seq).map(Some),
        (None, None) => {
            let common = views[0].levels().iter().find_map(|(key, seq)| {
                let other = views[1].levels().iter().find(|(other, _)| other == key)?;
                Some((*key, (*seq).min(other.1)))
            });
            let Some((key, seq)) = common else { return Ok(None) };
            let row = session.store.workspace_by_key(key)?;
            session.store.view_at(&row, seq).map(Some)
        }
    }
}

fn status(session: &mut Session, call: &Call<'_>, _: NoParams) -> CadResult<Value> {
    let (row, view) = session.store.view(call.workspace)?;
    let versions = session.store.versions(&view)?;
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for reference in versions.values() {
        *kinds.entry(reference.kind.clone()).or_default() += 1;
    }
    let mut answer = json!({
        "workspace_id": call.workspace, "entity_count": versions.len(), "entity_counts": kinds, "steps": row.seq,
        "created_at_ms": row.created_ms, "ahead": 0, "behind": 0, "dirty": false, "base_workspace_id": Value::Null
    });
    let Some((base, _)) = row.base else { return Ok(answer) };
    let base = session.store.workspace_by_key(base)?.name;
    answer["base_workspace_id"] = json!(base);
    match Pair::read(session, call.workspace, &base) {
        Ok(pair) => {
            let ahead = Diff::between(&pair.ancestor, &pair.versions[0]).len();
            answer["ahead"] = json!(ahead);
            answer["behind"] = json!(Diff::between(&pair.ancestor, &pair.versions[1]).len());
            answer["dirty"] = json!(ahead > 0);
            Ok(answer)
        }
        // The base was deleted; there is nothing to be ahead of.
        Err(error) if error.code == Code::FileNotFound => Ok(answer),
        Err(error) => Err(error),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DiffParams {
    /// The workspace to compare with; the base when left out.
    #[serde(alias = "base_workspace_id")]
    other_workspace_id: Option<WorkspaceId>,
}

fn diff(session: &mut Session, call: &Call<'_>, params: DiffParams) -> CadResult<Value> {
    let other = match params.other_workspace_id {
        Some(other) => other,
        None => {
            let (row, _) = session.store.view(call.workspace)?;
            let (base, _) =
                row.base.ok_or_else(|| bad_params("it has no base").hint("give `other_workspace_id`"))?;
            session.store.workspace_by_key(base)?.name
        }
    };
    let pair = Pair::read(session, call.workspace, &other)?;
    Ok(json!({
        "workspace_id": call.workspace, "other_workspace_id": other,
        "changes": Diff::between(&pair.ancestor, &pair.versions[0]),
        "other_changes": Diff::between(&pair.ancestor, &pair.versions[1]),
        "difference": Diff::between(&pair.versions[1], &pair.versions[0])
    }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MergeParams {
    /// The workspace whose changes are taken.
    #[serde(alias = "source")]
    source_workspace_id: WorkspaceId,
    /// The workspace that takes them; `workspace_id` when left out.
    #[serde(alias = "target")]
    target_workspace_id: Option<WorkspaceId>,
    /// Leaves out the search for solids and curves that take the same space.
    #[serde(default)]
    allow_overlaps: bool,
}

fn merge(session: &mut Session, call: &Call<'_>, params: MergeParams) -> CadResult<Value> {
    let target = params.target_workspace_id.unwrap_or_else(|| call.workspace.clone());
    let pair = Pair::read(session, &params.source_workspace_id, &target)?;
    let plan = decide(session, &pair, params.allow_overlaps)?;
    if !plan.conflicts.is_empty() {
        return Err(conflict_error(&pair, &plan.conflicts));
    }
    refuse_dangling(session, &pair, &plan)?;
    let change = as_change(&plan);
    let counts = Diff::between(&pair.versions[1], &after(&pair, &plan));
    let heads = [pair.views[0].head(), pair.views[1].head()];
    session.store.merge(&call.commit(), heads, change, |receipt| {
        json!({
            "merged": true, "source_workspace_id": params.source_workspace_id, "target_workspace_id": target,
            "added": counts.added.len(), "modified": counts.modified.len(), "deleted": counts.deleted.len(),
            "merged_entities": counts.len(), "conflicts": [], "step": receipt.seq
        })
    })
}

/// Decides what a merge does, with everything that was resolved before.
fn decide(session: &mut Session, pair: &Pair, allow_overlaps: bool) -> CadResult<MergePlan> {
    let mut decided = plan(&pair.ancestor, &pair.versions[0], &pair.versions[1]);
    let mut resolutions: BTreeMap<String, Resolution> = BTreeMap::new();
    for (conflict, text) in session.store.resolutions(pair.keys())? {
        let resolution = serde_json::from_str(&text).map_err(|error| {
            CadError::new(Code::InternalError, format!("a resolution cannot be read: {error}"))
        })?;
        resolutions.insert(conflict, resolution);
    }
    decided = resolve(decided, &pair.versions[0], &resolutions);
    if !allow_overlaps {
        let found = overlaps(session, &decided, &pair.versions)?;
        decided.conflicts.extend(found);
    }
    Ok(resolve(decided, &pair.versions[0], &resolutions))
}

fn as_change(plan: &MergePlan) -> Change {
    let mut change = Change::default();
    for (id, version) in &plan.takes {
        match version {
            Some(version) => {
                change.puts.push(Put { id: Some(id.clone()), content: Content::Existing(*version) });
            }
            None => change.deletes.push(id.clone()),
        }
    }
    change
}

/// Returns what the target shows after a merge.
fn after(pair: &Pair, plan: &MergePlan) -> Versions {
    let mut versions = pair.versions[1].clone();
    for (id, version) in &plan.takes {
        let reference = version.and_then(|version| {
            let theirs = pair.versions[0].get(id).filter(|reference| reference.version == version).cloned();
            // A manual merge brings a version that neither side shows under this id.
            theirs.or_else(|| {
                pair.versions.iter().flat_map(|v| v.values()).find(|r| r.version == version).cloned()
            })
        });
        match reference {
            Some(reference) => versions.insert(id.clone(), reference),
            None => versions.remove(id),
        };
    }
    versions
}

/// A profile or constraint must not lose what it is about.
fn refuse_dangling(session: &mut Session, pair: &Pair, plan: &MergePlan) -> CadResult<()> {
    let merged = after(pair, plan);
    let dependents =
        merged.iter().filter(|(_, reference)| matches!(reference.kind.as_str(), "profile" | "constraint"));
    for (id, reference) in dependents {
        let entity = session.store.version(id, reference.version)?.entity;
        if let Some(missing) = entity.references().into_iter().find(|needed| !merged.contains_key(needed)) {
            let message = format!("after the merge, `{id}` would need `{missing}`, which one side deleted");
            return Err(CadError::new(Code::WorkspaceConflict, message)
                .hint(format!("delete `{id}` or restore `{missing}` in one of the workspaces, then merge")));
        }
    }
    Ok(())
}

fn conflict_error(pair: &Pair, conflicts: &[Conflict]) -> CadError {
    let listed: Vec<Value> = conflicts
        .iter()
        .map(|conflict| {
            let mut entities = vec![conflict.source_entity.clone(), conflict.target_entity.clone()];
            entities.dedup();
            json!({
                "conflict_id": conflict.conflict_id, "kind": conflict.kind, "entities": entities,
                "source_entity": conflict.source_entity, "target_entity": conflict.target_entity,
                "resolution_options": conflict.kind.choices()
            })
        })
        .collect();
    let names: Vec<String> = conflicts
        .iter()
        .take(5)
        .map(|conflict| {
            format!("{} (`{}`)", json!(conflict.kind).as_str().unwrap_or_default(), conflict.source_entity)
        })
        .collect();
    let message = format!(
        "{} conflicts between `{}` and `{}`, nothing was merged: {}",
        conflicts.len(),
        pair.source.name,
        pair.target.name,
        names.join(", ")
    );
    CadError::new(Code::WorkspaceConflict, message)
        .hint("resolve each with workspace.resolve_conflict, then merge again")
        .fact("conflicts", listed)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResolveParams {
    /// The workspace whose changes are taken.
    #[serde(alias = "source")]
    source_workspace_id: WorkspaceId,
    /// The workspace that takes them; `workspace_id` when left out.
    #[serde(alias = "target")]
    target_workspace_id: Option<WorkspaceId>,
    /// The conflict, as workspace.merge listed it.
    conflict_id: String,
    /// What to do about it.
    resolution: Choice,
    /// For manual_merge: an entity of the source or the target whose content is taken.
    replacement_entity_id: Option<EntityId>,
}

fn resolve_conflict(session: &mut Session, call: &Call<'_>, params: ResolveParams) -> CadResult<Value> {
    let target = params.target_workspace_id.unwrap_or_else(|| call.workspace.clone());
    let pair = Pair::read(session, &params.source_workspace_id, &target)?;
    let conflicts = decide(session, &pair, false)?.conflicts;
    let Some(conflict) = conflicts.iter().find(|conflict| conflict.conflict_id == params.conflict_id) else {
        let open: Vec<&str> =
            conflicts.iter().take(10).map(|conflict| conflict.conflict_id.as_str()).collect();
        let message = format!(
            "there is no open conflict `{}`",
            params.conflict_id.chars().take(60).collect::<String>()
        );
        return Err(bad_params(message).hint(match open.len() {
            0 => "none is open; call workspace.merge".to_owned(),
            _ => format!("open are {}", open.join(", ")),
        }));
    };
    if !conflict.kind.choices().contains(&params.resolution) {
        let options = json!(conflict.kind.choices());
        return Err(bad_params(format!("this conflict cannot be resolved so; possible are {options}")));
    }
    let version = match (params.resolution, params.replacement_entity_id) {
        (Choice::ManualMerge, Some(id)) => Some(replacement(&pair, &id)?),
        (Choice::ManualMerge, None) => {
            return Err(bad_params("manual_merge needs `replacement_entity_id`")
                .hint("make the merged entity in one of the workspaces and name it"));
        }
        (_, Some(_)) => return Err(bad_params("`replacement_entity_id` belongs to manual_merge")),
        (_, None) => None,
    };
    let resolution = json!(Resolution { choice: params.resolution, version }).to_string();
    let remaining = conflicts.len() - 1;
    let next = if remaining == 0 { "call workspace.merge again" } else { "resolve the others" };
    let result = json!({
        "conflict_id": params.conflict_id, "resolution": params.resolution, "remaining": remaining, "next": next
    });
    session.store.resolve(&call.commit(), &params.conflict_id, pair.keys(), &resolution, result)
}

fn replacement(pair: &Pair, id: &EntityId) -> CadResult<i64> {
    let found = pair.versions[0].get(id).or_else(|| pair.versions[1].get(id));
    let found = found.ok_or_else(|| {
        CadError::new(Code::EntityNotFound, format!("neither workspace has an entity `{id}`"))
    })?;
    Ok(found.version.0)
}
