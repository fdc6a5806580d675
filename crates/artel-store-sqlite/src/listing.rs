//! Lists as SQL: conditions and their values, put together from a filter.

use artel_model::run::{ExecutionRecord, ExecutionStatus, RunState};
use artel_model::time::Timestamp;
use artel_store::{ExecutionFilter, Page, RunFilter, RunRow};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use uuid::Uuid;

use crate::row::{self, RUN_COLUMNS};

/// The time and id that a page begins behind.
pub(crate) type Place = (Timestamp, Uuid);

/// Returns the page of runs behind `after`.
pub(crate) fn runs(
    connection: &Connection,
    filter: &RunFilter,
    after: Option<Place>,
    limit: usize,
) -> rusqlite::Result<Page<RunRow>> {
    let mut conditions = Conditions::default();
    conditions.any_of("state", filter.states.iter().copied().map(RunState::as_str));
    conditions.within("created_at", filter.created_from, filter.created_before);
    let query = Query { columns: RUN_COLUMNS, table: "runs", time: "created_at" };
    let rows = query.rows(connection, conditions, after, limit, row::run_row)?;
    Ok(Page::cut(rows, limit, |row| (row.summary.created_at, row.summary.run_id.0)))
}

/// Returns the page of executions behind `after`.
pub(crate) fn executions(
    connection: &Connection,
    filter: &ExecutionFilter,
    after: Option<Place>,
    limit: usize,
) -> rusqlite::Result<Page<ExecutionRecord>> {
    let mut conditions = Conditions::default();
    let id = |id: Uuid| Value::Blob(id.into_bytes().to_vec());
    conditions.one("agent_id = ?", filter.agent.map(|agent| id(agent.0)));
    conditions.one("run = (SELECT key FROM runs WHERE id = ?)", filter.run.map(|run| id(run.0)));
    conditions.one("skill = ?", filter.skill.as_ref().map(|skill| Value::Text(skill.to_string())));
    conditions.any_of("status", filter.statuses.iter().copied().map(ExecutionStatus::as_str));
    conditions.within("started_at", filter.started_from, filter.started_before);
    let query = Query { columns: "record", table: "executions", time: "started_at" };
    let records = query.rows(connection, conditions, after, limit, row::execution)?;
    Ok(Page::cut(records, limit, |record| (record.started_at, record.execution_id.0)))
}

/// What a list is made of.
pub(crate) struct Query {
    pub(crate) columns: &'static str,
    pub(crate) table: &'static str,
    pub(crate) time: &'static str,
}

impl Query {
    /// Returns the rows that fit, the latest first, one more than `limit` if there are as many.
    pub(crate) fn rows<T>(
        &self,
        connection: &Connection,
        mut conditions: Conditions,
        after: Option<Place>,
        limit: usize,
        read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let Self { columns, table, time } = self;
        if let Some((at, id)) = after {
            conditions.clauses.push(format!("({time}, id) < (?, ?)"));
            conditions.values.push(Value::Integer(at.as_millis()));
            conditions.values.push(Value::Blob(id.into_bytes().to_vec()));
        }
        let filter = conditions.sql();
        let sql = format!("SELECT {columns} FROM {table} {filter} ORDER BY {time} DESC, id DESC LIMIT ?");
        let rows_max = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        conditions.values.push(Value::Integer(rows_max));
        let mut statement = connection.prepare_cached(&sql)?;
        statement.query_map(params_from_iter(conditions.values), read)?.collect()
    }
}

/// Conditions that all must hold, and the values of their question marks in the same order.
#[derive(Default)]
pub(crate) struct Conditions {
    clauses: Vec<String>,
    pub(crate) values: Vec<Value>,
}

impl Conditions {
    pub(crate) fn one(&mut self, clause: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.clauses.push(clause.to_owned());
            self.values.push(value);
        }
    }

    pub(crate) fn any_of(&mut self, column: &str, words: impl ExactSizeIterator<Item = &'static str>) {
        if words.len() > 0 {
            let marks = vec!["?"; words.len()].join(", ");
            self.clauses.push(format!("{column} IN ({marks})"));
            self.values.extend(words.map(|word| Value::Text(word.to_owned())));
        }
    }

    /// Asks for a time in `from..before`.
    pub(crate) fn within(&mut self, column: &str, from: Option<Timestamp>, before: Option<Timestamp>) {
        let millis = |at: Timestamp| Value::Integer(at.as_millis());
        self.one(&format!("{column} >= ?"), from.map(millis));
        self.one(&format!("{column} < ?"), before.map(millis));
    }

    /// Returns the `WHERE` clause, or nothing.
    pub(crate) fn sql(&self) -> String {
        if self.clauses.is_empty() { String::new() } else { format!("WHERE {}", self.clauses.join(" AND ")) }
    }
}
