//! Reading: what a workspace shows at a step, through the logs of its bases.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::entity::{Entity, EntityId, WorkspaceId};
use crate::error::{CadError, CadResult, Code};
use crate::limit::BASE_DEPTH_MAX;

use super::failed;

/// A version of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionKey(pub(crate) i64);

/// A workspace as the store knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspaceKey(pub(crate) i64);

/// What is known about a workspace itself.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspaceRow {
    /// How the store names it.
    pub key: WorkspaceKey,
    /// How people name it.
    pub name: WorkspaceId,
    /// The workspace it was made from, and the step of that one.
    pub base: Option<(WorkspaceKey, i64)>,
    /// The number of steps it has made.
    pub seq: i64,
    /// When it was made.
    pub created_ms: i64,
}

/// What a workspace shows at a step: logs, the first of which counts most, each up to a step.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    levels: Vec<(WorkspaceKey, i64)>,
}

impl View {
    /// Returns the workspace and step that it shows.
    pub fn head(&self) -> (WorkspaceKey, i64) {
        self.levels[0]
    }

    /// Returns the logs it is made of.
    pub fn levels(&self) -> &[(WorkspaceKey, i64)] {
        &self.levels
    }
}

/// An entity as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its id.
    pub id: EntityId,
    /// The version that was read.
    pub version: VersionKey,
    /// What it is.
    pub entity: Entity,
}

/// The version that a workspace shows of an entity, and what it is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRef {
    /// The version.
    pub version: VersionKey,
    /// Equal for equal contents.
    pub hash: Vec<u8>,
    /// The word for its kind.
    pub kind: String,
}

const COLUMNS: &str = "key, name, base, base_seq, seq, created_ms";

fn workspace_row(row: &Row<'_>) -> rusqlite::Result<WorkspaceRow> {
    let base: Option<i64> = row.get(2)?;
    let name: String = row.get(1)?;
    let base_seq = row.get(3)?;
    let parsed = name.parse().map_err(|error: CadError| {
        rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error))
    })?;
    Ok(WorkspaceRow {
        key: WorkspaceKey(row.get(0)?),
        name: parsed,
        base: base.map(|key| (WorkspaceKey(key), base_seq)),
        seq: row.get(4)?,
        created_ms: row.get(5)?,
    })
}

/// Returns a workspace by its name, or says which ones there are.
pub(crate) fn workspace(connection: &Connection, name: &WorkspaceId) -> CadResult<WorkspaceRow> {
    if let Some(found) = find_workspace(connection, name)? {
        return Ok(found);
    }
    let mut names: Vec<String> =
        workspaces(connection)?.iter().map(|row| format!("`{}`", row.name)).collect();
    let count = names.len();
    names.truncate(10);
    let more = if count > 10 { format!(" and {} more", count - 10) } else { String::new() };
    Err(CadError::new(Code::FileNotFound, format!("there is no workspace `{name}`"))
        .hint(format!("create it with workspace.create, or use one of {}{more}", names.join(", "))))
}

/// Returns a workspace by its name, if there is one.
pub(crate) fn find_workspace(connection: &Connection, name: &WorkspaceId) -> CadResult<Option<WorkspaceRow>> {
    let sql = format!("SELECT {COLUMNS} FROM workspaces WHERE name = ?1 AND deleted_ms IS NULL");
    let mut statement = connection.prepare_cached(&sql).map_err(failed)?;
    statement.query_row([name.as_ref()], workspace_row).optional().map_err(failed)
}

/// Returns all workspaces by name.
pub(crate) fn workspaces(connection: &Connection) -> CadResult<Vec<WorkspaceRow>> {
    let sql = format!("SELECT {COLUMNS} FROM workspaces WHERE deleted_ms IS NULL ORDER BY name");
    let mut statement = connection.prepare_cached(&sql).map_err(failed)?;
    let rows = statement.query_map([], workspace_row).map_err(failed)?;
    rows.collect::<Result<_, _>>().map_err(failed)
}

/// Returns a workspace, even one that was deleted but is a base of others.
pub(crate) fn workspace_by_key(connection: &Connection, key: WorkspaceKey) -> CadResult<WorkspaceRow> {
    let sql = format!("SELECT {COLUMNS} FROM workspaces WHERE key = ?1");
    let mut statement = connection.prepare_cached(&sql).map_err(failed)?;
    statement.query_row([key.0], workspace_row).map_err(failed)
}

/// Returns what a workspace shows at a step.
pub(crate) fn view_at(connection: &Connection, row: &WorkspaceRow, seq: i64) -> CadResult<View> {
    let mut levels = vec![(row.key, seq)];
    let mut next = row.base;
    while let Some((key, base_seq)) = next {
        if levels.len() > BASE_DEPTH_MAX {
            return Err(CadError::new(Code::CircularDependency, "the chain of base workspaces does not end"));
        }
        levels.push((key, base_seq));
        next = workspace_by_key(connection, key)?.base;
    }
    Ok(View { levels })
}

/// Returns the version of an entity that a view shows.
pub(crate) fn version_of(
    connection: &Connection,
    view: &View,
    id: &EntityId,
) -> CadResult<Option<VersionKey>> {
    let sql = "SELECT version FROM log WHERE workspace = ?1 AND entity = ?2 AND seq <= ?3 ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    for (workspace, seq) in &view.levels {
        let found: Option<Option<i64>> = statement
            .query_row(params![workspace.0, id.as_ref(), seq], |row| row.get(0))
            .optional()
            .map_err(failed)?;
        if let Some(version) = found {
            return Ok(version.map(VersionKey));
        }
    }
    Ok(None)
}

/// Returns every entity that a view shows, by id.
pub(crate) fn versions(connection: &Connection, view: &View) -> CadResult<BTreeMap<EntityId, VersionRef>> {
    let sql = "SELECT l.entity, l.version, v.hash, v.kind FROM \
               (SELECT entity, version, MAX(seq) FROM log WHERE workspace = ?1 AND seq <= ?2 GROUP BY entity) l \
               LEFT JOIN versions v ON v.key = l.version";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut found: BTreeMap<EntityId, Option<VersionRef>> = BTreeMap::new();
    for (workspace, seq) in &view.levels {
        let mut rows = statement.query(params![workspace.0, seq]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let id: EntityId = row.get::<_, String>(0).map_err(failed)?.parse()?;
            let reference = match row.get::<_, Option<i64>>(1).map_err(failed)? {
                Some(version) => Some(VersionRef {
                    version: VersionKey(version),
                    hash: row.get(2).map_err(failed)?,
                    kind: row.get(3).map_err(failed)?,
                }),
                None => None,
            };
            found.entry(id).or_insert(reference);
        }
    }
    Ok(found.into_iter().filter_map(|(id, reference)| Some((id, reference?))).collect())
}

/// Reads a version.
pub(crate) fn entity(connection: &Connection, id: &EntityId, version: VersionKey) -> CadResult<Stored> {
    let mut statement =
        connection.prepare_cached("SELECT data FROM versions WHERE key = ?1").map_err(failed)?;
    let data: String = statement.query_row([version.0], |row| row.get(0)).map_err(failed)?;
    let entity = serde_json::from_str(&data).map_err(|error| {
        CadError::new(Code::InternalError, format!("the entity `{id}` cannot be read: {error}"))
    })?;
    Ok(Stored { id: id.clone(), version, entity })
}

/// Reads the bytes of a solid or mesh.
pub(crate) fn blob(connection: &Connection, version: VersionKey) -> CadResult<Vec<u8>> {
    let sql = "SELECT bytes FROM versions JOIN blobs ON blobs.key = versions.blob WHERE versions.key = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.query_row([version.0], |row| row.get(0)).map_err(failed)
}
