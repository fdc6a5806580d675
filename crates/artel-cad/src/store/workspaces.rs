//! Workspaces themselves: making and deleting them, their history, undo and redo, and what was merged into what.

use rusqlite::{OptionalExtension as _, Transaction, params};
use serde_json::Value;

use super::database::Store;
use super::failed;
use super::metrics::{CallRecord, count};
use super::view::{self, View, WorkspaceKey, WorkspaceRow};
use super::write::{Change, Commit, Receipt, apply, earlier_answer, end_step, remember, run, write_log};
use crate::entity::{EntityId, WorkspaceId};
use crate::error::{CadError, CadResult, Code, invalid};
use crate::limit::BASE_DEPTH_MAX;

/// One step of a workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRow {
    /// Its number.
    pub seq: i64,
    /// The method that made it.
    pub method: String,
    /// When.
    pub at_ms: i64,
    /// `done`, `undone`, `dropped`, or that it is an `undo` or `redo` itself.
    pub state: String,
    /// The entities it changed.
    pub entities: Vec<String>,
}

/// A merge that happened: the steps of both that it brought together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeRow {
    /// Whose changes were taken.
    pub source: WorkspaceKey,
    /// Which workspace took them.
    pub target: WorkspaceKey,
    /// The step of the source.
    pub source_seq: i64,
    /// The step of the target after the merge.
    pub target_seq: i64,
}

impl Store {
    /// Returns all workspaces by name.
    pub fn workspaces(&mut self) -> CadResult<Vec<WorkspaceRow>> {
        view::workspaces(&self.connection)
    }

    /// Returns a workspace even when it was deleted.
    pub fn workspace_by_key(&mut self, key: WorkspaceKey) -> CadResult<WorkspaceRow> {
        view::workspace_by_key(&self.connection, key)
    }

    /// Returns what a workspace showed at a step.
    pub fn view_at(&mut self, row: &WorkspaceRow, seq: i64) -> CadResult<View> {
        view::view_at(&self.connection, row, seq)
    }

    /// Makes a workspace, from a base or empty. `answer` makes the result.
    pub fn create_workspace(
        &mut self,
        commit: &Commit<'_>,
        base: Option<&WorkspaceId>,
        answer: impl FnOnce(Option<&WorkspaceRow>) -> Value,
    ) -> CadResult<Value> {
        self.writing(|transaction| {
            if let Some(earlier) = earlier_answer(transaction, commit)? {
                return Ok(earlier);
            }
            if view::find_workspace(transaction, commit.workspace)?.is_some() {
                let message = format!("there is a workspace `{}` already", commit.workspace);
                return Err(CadError::new(Code::WorkspaceConflict, message)
                    .hint("use it as it is, delete it first, or take another name"));
            }
            let base = base.map(|base| view::workspace(transaction, base)).transpose()?;
            if let Some(base) = &base {
                let depth = view::view_at(transaction, base, base.seq)?.levels().len();
                if depth >= BASE_DEPTH_MAX {
                    let message = format!("`{}` stands on {depth} workspaces, which is the limit", base.name);
                    return Err(invalid(message).hint("merge it into its base and branch from there"));
                }
            }
            let sql =
                "INSERT INTO workspaces (name, base, base_seq, seq, created_ms) VALUES (?1, ?2, ?3, 0, ?4)";
            let (key, seq) = (base.as_ref().map(|row| row.key.0), base.as_ref().map_or(0, |row| row.seq));
            run(transaction, sql, params![commit.workspace.as_ref(), key, seq, commit.now_ms])?;
            let result = answer(base.as_ref());
            remember(transaction, commit, &result)?;
            count_success(transaction, commit)?;
            Ok(result)
        })
    }

    /// Deletes a workspace. Workspaces that were made from it keep what they show.
    pub fn delete_workspace(&mut self, commit: &Commit<'_>, result: Value) -> CadResult<Value> {
        self.writing(|transaction| {
            if let Some(earlier) = earlier_answer(transaction, commit)? {
                return Ok(earlier);
            }
            let row = view::workspace(transaction, commit.workspace)?;
            let sql = "UPDATE workspaces SET deleted_ms = ?2 WHERE key = ?1";
            run(transaction, sql, params![row.key.0, commit.now_ms])?;
            run(transaction, "DELETE FROM answers WHERE workspace = ?1", params![commit.workspace.as_ref()])?;
            remember(transaction, commit, &result)?;
            count_success(transaction, commit)?;
            Ok(result)
        })
    }

    /// Returns the latest steps of a workspace, newest first.
    pub fn history(&mut self, key: WorkspaceKey, limit: usize) -> CadResult<Vec<HistoryRow>> {
        self.reading(|connection| {
            let sql = "SELECT seq, method, at_ms, state FROM operations WHERE workspace = ?1 ORDER BY seq DESC LIMIT ?2";
            let mut statement = connection.prepare_cached(sql).map_err(failed)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![key.0, limit], |row| {
                let (seq, method) = (row.get(0)?, row.get(1)?);
                Ok(HistoryRow { seq, method, at_ms: row.get(2)?, state: row.get(3)?, entities: Vec::new() })
            });
            let mut rows: Vec<HistoryRow> = rows.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
            let sql = "SELECT entity FROM log WHERE workspace = ?1 AND seq = ?2 ORDER BY entity LIMIT 100";
            let mut statement = connection.prepare_cached(sql).map_err(failed)?;
            for row in &mut rows {
                let entities = statement.query_map(params![key.0, row.seq], |row| row.get(0)).map_err(failed)?;
                row.entities = entities.collect::<Result<_, _>>().map_err(failed)?;
            }
            Ok(rows)
        })
    }

    /// Takes the latest step that is not undone back, as a step of its own. Returns which step that was.
    pub fn undo(
        &mut self,
        commit: &Commit<'_>,
        answer: impl FnOnce(i64, &str, &[String]) -> Value,
    ) -> CadResult<Value> {
        self.turn_back(
            commit,
            &Turn { from: "done", to: "undone", own: "undo", order: "DESC", shift: 1 },
            answer,
        )
    }

    /// Does the step that was undone last again. Returns which step that was.
    pub fn redo(
        &mut self,
        commit: &Commit<'_>,
        answer: impl FnOnce(i64, &str, &[String]) -> Value,
    ) -> CadResult<Value> {
        self.turn_back(
            commit,
            &Turn { from: "undone", to: "done", own: "redo", order: "ASC", shift: 0 },
            answer,
        )
    }

    fn turn_back(
        &mut self,
        commit: &Commit<'_>,
        turn: &Turn,
        answer: impl FnOnce(i64, &str, &[String]) -> Value,
    ) -> CadResult<Value> {
        self.writing(|transaction| {
            if let Some(earlier) = earlier_answer(transaction, commit)? {
                return Ok(earlier);
            }
            let row = view::workspace(transaction, commit.workspace)?;
            let sql = format!(
                "SELECT seq, method FROM operations WHERE workspace = ?1 AND state = ?2 ORDER BY seq {} LIMIT 1",
                turn.order
            );
            let found: Option<(i64, String)> = transaction
                .query_row(&sql, params![row.key.0, turn.from], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .map_err(failed)?;
            let (seq, method) = found.ok_or_else(|| invalid(format!("there is nothing to {}", turn.own)))?;
            let entities = write_turn(transaction, &row, seq, turn)?;
            end_step(transaction, row.key, row.seq + 1, commit.method, commit.now_ms, turn.own)?;
            let sql = "UPDATE operations SET state = ?3 WHERE workspace = ?1 AND seq = ?2";
            run(transaction, sql, params![row.key.0, seq, turn.to])?;
            let result = answer(seq, &method, &entities);
            remember(transaction, commit, &result)?;
            count_success(transaction, commit)?;
            Ok(result)
        })
    }

    /// Returns every merge between two workspaces, in either direction.
    pub fn merges(&mut self, a: WorkspaceKey, b: WorkspaceKey) -> CadResult<Vec<MergeRow>> {
        let sql = "SELECT source, target, source_seq, target_seq FROM merges \
                   WHERE (source = ?1 AND target = ?2) OR (source = ?2 AND target = ?1)";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = statement.query_map(params![a.0, b.0], |row| {
            Ok(MergeRow {
                source: WorkspaceKey(row.get(0)?),
                target: WorkspaceKey(row.get(1)?),
                source_seq: row.get(2)?,
                target_seq: row.get(3)?,
            })
        });
        rows.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
    }

    /// Writes a merge as one step of the target, if both still are at the steps that it was decided for.
    pub fn merge(
        &mut self,
        commit: &Commit<'_>,
        heads: [(WorkspaceKey, i64); 2],
        change: Change,
        answer: impl FnOnce(&Receipt) -> Value,
    ) -> CadResult<Value> {
        self.writing(|transaction| {
            if let Some(earlier) = earlier_answer(transaction, commit)? {
                return Ok(earlier);
            }
            let [(source, source_seq), (target, target_seq)] = heads;
            for (key, seq) in heads {
                let row = view::workspace_by_key(transaction, key)?;
                if row.seq != seq {
                    let message = format!("`{}` was changed during the merge; nothing was merged", row.name);
                    return Err(CadError::new(Code::WorkspaceConflict, message).hint("repeat the call"));
                }
            }
            let row = view::workspace_by_key(transaction, target)?;
            let receipt = if change.puts.is_empty() && change.deletes.is_empty() {
                Receipt { ids: Vec::new(), seq: target_seq }
            } else {
                apply(transaction, &row, commit.method, commit.now_ms, change)?
            };
            let sql = "INSERT INTO merges (source, target, source_seq, target_seq) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT DO NOTHING";
            run(transaction, sql, params![source.0, target.0, source_seq, receipt.seq])?;
            let result = answer(&receipt);
            remember(transaction, commit, &result)?;
            count_success(transaction, commit)?;
            Ok(result)
        })
    }

    /// Keeps how a conflict is to be resolved when the merge is repeated.
    pub fn resolve(
        &mut self,
        commit: &Commit<'_>,
        conflict: &str,
        pair: [WorkspaceKey; 2],
        how: &str,
        result: Value,
    ) -> CadResult<Value> {
        self.writing(|transaction| {
            if let Some(earlier) = earlier_answer(transaction, commit)? {
                return Ok(earlier);
            }
            let sql = "INSERT INTO resolutions (conflict, source, target, resolution) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT DO UPDATE SET resolution = excluded.resolution";
            run(transaction, sql, params![conflict, pair[0].0, pair[1].0, how])?;
            remember(transaction, commit, &result)?;
            count_success(transaction, commit)?;
            Ok(result)
        })
    }

    /// Returns the resolutions for a merge, by conflict.
    pub fn resolutions(&mut self, pair: [WorkspaceKey; 2]) -> CadResult<Vec<(String, String)>> {
        let sql = "SELECT conflict, resolution FROM resolutions WHERE source = ?1 AND target = ?2 ORDER BY conflict";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = statement.query_map(params![pair[0].0, pair[1].0], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
    }
}

/// Undoing and redoing are the same with other words.
struct Turn {
    from: &'static str,
    to: &'static str,
    own: &'static str,
    order: &'static str,
    /// Undo restores what was there before the step, redo what was there after it.
    shift: i64,
}

fn write_turn(
    transaction: &Transaction<'_>,
    row: &WorkspaceRow,
    seq: i64,
    turn: &Turn,
) -> CadResult<Vec<String>> {
    let sql = "SELECT entity FROM log WHERE workspace = ?1 AND seq = ?2 ORDER BY entity";
    let mut statement = transaction.prepare_cached(sql).map_err(failed)?;
    let entities =
        statement.query_map(params![row.key.0, seq], |row| row.get::<_, String>(0)).map_err(failed)?;
    let entities: Vec<String> = entities.collect::<Result<_, _>>().map_err(failed)?;
    let restored = view::view_at(transaction, row, seq - turn.shift)?;
    for name in &entities {
        let id: EntityId = name.parse()?;
        let version = view::version_of(transaction, &restored, &id)?;
        write_log(transaction, row.key, row.seq + 1, &id, version)?;
    }
    Ok(entities)
}

fn count_success(transaction: &Transaction<'_>, commit: &Commit<'_>) -> CadResult<()> {
    count(
        transaction,
        &CallRecord { agent: commit.agent, method: commit.method, ok: true },
        1,
        commit.microseconds,
    )
}
