//! Writing: a change of several entities is one step of a workspace, together with its history, its idempotency key and
//! its counters.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::database::Store;
use super::failed;
use super::metrics::{CallRecord, count};
use super::view::{self, VersionKey, View, WorkspaceKey, WorkspaceRow};
use crate::entity::{Entity, EntityId, WorkspaceId};
use crate::error::{CadError, CadResult, Code, bad_params, invalid};
use crate::limit::ENTITIES_MAX;

/// What an entity becomes.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A new version: the entity, and the bytes of a solid or mesh.
    New(Box<Entity>, Option<Vec<u8>>),
    /// A version that exists already, in this workspace or another.
    Existing(VersionKey),
    /// A new version of an entity whose bytes stay those of an existing version.
    Changed(Box<Entity>, VersionKey),
}

/// One entity that is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// Its id; left out, it gets the next number of its kind.
    pub id: Option<EntityId>,
    /// What it becomes.
    pub content: Content,
}

/// What a call changes in a workspace, all or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Entities that are created or replaced.
    pub puts: Vec<Put>,
    /// Entities that are removed.
    pub deletes: Vec<EntityId>,
    /// What the change was computed from: when one of these is another version by then, nothing is written.
    pub expected: Vec<(EntityId, VersionKey)>,
}

/// Who writes what and why.
#[derive(Clone, Debug)]
pub struct Commit<'a> {
    /// Where.
    pub workspace: &'a WorkspaceId,
    /// The method.
    pub method: &'a str,
    /// Makes a repeated call harmless.
    pub key: Option<(&'a str, [u8; 32])>,
    /// Who calls, for the metrics.
    pub agent: &'a str,
    /// How long the call took so far.
    pub microseconds: i64,
    /// The time.
    pub now_ms: i64,
}

/// What was written: the ids of the puts, in their order, and the step.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// The ids.
    pub ids: Vec<EntityId>,
    /// The step of the workspace.
    pub seq: i64,
}

impl Store {
    /// Writes a change as one step. `answer` makes the result, which is kept under the idempotency key.
    pub fn commit(
        &mut self,
        commit: &Commit<'_>,
        change: Change,
        answer: impl FnOnce(&Receipt) -> Value,
    ) -> CadResult<Value> {
        self.writing(|transaction| {
            if let Some(earlier) = earlier_answer(transaction, commit)? {
                return Ok(earlier);
            }
            let row = view::workspace(transaction, commit.workspace)?;
            let receipt = apply(transaction, &row, commit.method, commit.now_ms, change)?;
            let result = answer(&receipt);
            remember(transaction, commit, &result)?;
            let call = CallRecord { agent: commit.agent, method: commit.method, ok: true };
            count(transaction, &call, 1, commit.microseconds)?;
            Ok(result)
        })
    }

    /// Returns what an earlier call with the same idempotency key was answered.
    pub fn earlier_answer(&mut self, commit: &Commit<'_>) -> CadResult<Option<Value>> {
        earlier_answer(&self.connection, commit)
    }
}

/// Writes a change as the next step of a workspace, which can be undone.
pub(super) fn apply(
    transaction: &Transaction<'_>,
    row: &WorkspaceRow,
    method: &str,
    now_ms: i64,
    change: Change,
) -> CadResult<Receipt> {
    let view = view::view_at(transaction, row, row.seq)?;
    for (id, version) in &change.expected {
        if view::version_of(transaction, &view, id)? != Some(*version) {
            let message = format!("`{id}` was changed by another call in the meantime; nothing was written");
            return Err(CadError::new(Code::WorkspaceConflict, message).hint("repeat the call"));
        }
    }
    let seq = row.seq + 1;
    let mut ids = Vec::with_capacity(change.puts.len());
    for put in change.puts {
        ids.push(write_put(transaction, &view, row.key, seq, put)?);
    }
    for id in &change.deletes {
        write_log(transaction, row.key, seq, id, None)?;
    }
    end_step(transaction, row.key, seq, method, now_ms, "done")?;
    // What was undone before cannot be redone on top of something else.
    let drop_redo = "UPDATE operations SET state = 'dropped' WHERE workspace = ?1 AND state = 'undone'";
    run(transaction, drop_redo, params![row.key.0])?;
    Ok(Receipt { ids, seq })
}

fn write_put(
    transaction: &Transaction<'_>,
    view: &View,
    workspace: WorkspaceKey,
    seq: i64,
    put: Put,
) -> CadResult<EntityId> {
    let version = match put.content {
        Content::Existing(version) => {
            let id = put.id.ok_or_else(|| invalid("an existing version needs an id"))?;
            write_log(transaction, workspace, seq, &id, Some(version))?;
            return Ok(id);
        }
        Content::New(entity, bytes) => {
            let blob = bytes.map(|bytes| write_blob(transaction, &bytes)).transpose()?;
            (entity, blob)
        }
        Content::Changed(entity, version) => {
            let sql = "SELECT blob FROM versions WHERE key = ?1";
            let blob: Option<i64> =
                transaction.query_row(sql, [version.0], |row| row.get(0)).map_err(failed)?;
            (entity, blob)
        }
    };
    let (entity, blob) = version;
    let id = match put.id {
        Some(id) => id,
        None => next_id(transaction, view, entity.kind().word())?,
    };
    let version = write_version(transaction, &entity, blob)?;
    write_log(transaction, workspace, seq, &id, Some(version))?;
    Ok(id)
}

/// Numbers count up over all workspaces, so that ids of different branches do not collide.
fn next_id(transaction: &Transaction<'_>, view: &View, word: &str) -> CadResult<EntityId> {
    loop {
        let sql = "INSERT INTO counters (name, value) VALUES (?1, 1) \
                   ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value";
        let mut statement = transaction.prepare_cached(sql).map_err(failed)?;
        let number: i64 = statement.query_row([word], |row| row.get(0)).map_err(failed)?;
        let id: EntityId = format!("{word}_{number}").parse()?;
        // A caller may have chosen this id itself.
        if view::version_of(transaction, view, &id)?.is_none() {
            return Ok(id);
        }
    }
}

fn write_blob(transaction: &Transaction<'_>, bytes: &[u8]) -> CadResult<i64> {
    let hash = Sha256::digest(bytes);
    let sql = "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING";
    run(transaction, sql, params![hash.as_slice(), bytes])?;
    let mut statement =
        transaction.prepare_cached("SELECT key FROM blobs WHERE hash = ?1").map_err(failed)?;
    statement.query_row([hash.as_slice()], |row| row.get(0)).map_err(failed)
}

fn write_version(transaction: &Transaction<'_>, entity: &Entity, blob: Option<i64>) -> CadResult<VersionKey> {
    let data = serde_json::to_string(entity).map_err(|error| {
        CadError::new(Code::InternalError, format!("an entity cannot be written: {error}"))
    })?;
    let mut hash = Sha256::new();
    hash.update(data.as_bytes());
    hash.update(blob.unwrap_or(0).to_le_bytes());
    let sql = "INSERT INTO versions (kind, hash, data, blob) VALUES (?1, ?2, ?3, ?4)";
    run(transaction, sql, params![entity.kind().word(), hash.finalize().as_slice(), data, blob])?;
    Ok(VersionKey(transaction.last_insert_rowid()))
}

/// Says which version of an entity a workspace shows from a step on.
pub(super) fn write_log(
    transaction: &Transaction<'_>,
    workspace: WorkspaceKey,
    seq: i64,
    id: &EntityId,
    version: Option<VersionKey>,
) -> CadResult<()> {
    let sql = "INSERT INTO log (workspace, entity, seq, version) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT DO UPDATE SET version = excluded.version";
    run(transaction, sql, params![workspace.0, id.as_ref(), seq, version.map(|version| version.0)])
}

/// Writes that a workspace made a step.
pub(super) fn end_step(
    transaction: &Transaction<'_>,
    workspace: WorkspaceKey,
    seq: i64,
    method: &str,
    now_ms: i64,
    state: &str,
) -> CadResult<()> {
    let sql = "INSERT INTO operations (workspace, seq, method, at_ms, state) VALUES (?1, ?2, ?3, ?4, ?5)";
    run(transaction, sql, params![workspace.0, seq, method, now_ms, state])?;
    run(transaction, "UPDATE workspaces SET seq = ?2 WHERE key = ?1", params![workspace.0, seq])?;
    let sql = "SELECT COUNT(DISTINCT entity) FROM log WHERE workspace = ?1";
    // Counting is linear, so it is done now and then: the limit is about runaway callers, not about the last entity.
    if seq % 1_000 == 0 {
        let count: i64 = transaction.query_row(sql, [workspace.0], |row| row.get(0)).map_err(failed)?;
        if usize::try_from(count).unwrap_or(0) > ENTITIES_MAX {
            return Err(invalid(format!("the workspace has {count} entities, {ENTITIES_MAX} is the limit")));
        }
    }
    Ok(())
}

/// Returns what an earlier call with the same idempotency key was answered, and refuses a different call with it.
pub(super) fn earlier_answer(connection: &Connection, commit: &Commit<'_>) -> CadResult<Option<Value>> {
    let Some((key, fingerprint)) = commit.key else { return Ok(None) };
    let sql = "SELECT fingerprint, result FROM answers WHERE workspace = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let found: Option<(Vec<u8>, String)> = statement
        .query_row(params![commit.workspace.as_ref(), key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map_err(failed)?;
    match found {
        None => Ok(None),
        Some((earlier, result)) if earlier == fingerprint => {
            serde_json::from_str(&result).map(Some).map_err(|error| {
                CadError::new(Code::InternalError, format!("a stored answer cannot be read: {error}"))
            })
        }
        Some(_) => Err(bad_params(format!("the idempotency key `{key}` was used for a different call"))
            .hint("take a new key for every call, and the same one only to repeat a call")),
    }
}

/// Keeps the answer of a call under its idempotency key.
pub(super) fn remember(transaction: &Transaction<'_>, commit: &Commit<'_>, result: &Value) -> CadResult<()> {
    let Some((key, fingerprint)) = commit.key else { return Ok(()) };
    let sql = "INSERT INTO answers (workspace, key, fingerprint, result, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
    let workspace = commit.workspace.as_ref();
    run(transaction, sql, params![workspace, key, fingerprint.as_slice(), result.to_string(), commit.now_ms])
}

pub(super) fn run(transaction: &Transaction<'_>, sql: &str, values: impl rusqlite::Params) -> CadResult<()> {
    let mut statement = transaction.prepare_cached(sql).map_err(failed)?;
    statement.execute(values).map(drop).map_err(failed)
}
