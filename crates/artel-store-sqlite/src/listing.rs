//! Lists as SQL: conditions and their values, put together from a filter.

use artel_model::access::UserId;
use artel_model::name::SkillName;
use artel_model::run::{ExecutionRecord, ExecutionStatus, RunState};
use artel_model::time::Timestamp;
use artel_store::{Cursor, ExecutionFilter, Page, PageRequest, RunFilter, RunRow, StoreError};
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
    conditions.text("owner_user = ?", filter.owner.as_ref().map(UserId::as_str));
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
    conditions.text("skill = ?", filter.skill.as_ref().map(SkillName::as_str));
    conditions.text("owner_user = ?", filter.owner.as_ref().map(UserId::as_str));
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

/// A list whose items are numbered in the order in which they were kept, by the column `place`.
pub(crate) struct Numbered {
    pub(crate) columns: &'static str,
    pub(crate) table: &'static str,
    pub(crate) time: &'static str,
}

/// Reads the time and number that a page of numbered items begins behind.
pub(crate) fn numbered_place(page: &PageRequest) -> Result<Option<(i64, i64)>, StoreError> {
    let place = page.after.as_ref().map(Cursor::place).transpose()?;
    Ok(place.map(|(at, number)| (at.as_millis(), i64::try_from(number.as_u128()).unwrap_or(i64::MAX))))
}

impl Numbered {
    /// Returns the page of items that fit, behind `after`: the latest first, and of those at the same time the last kept.
    pub(crate) fn page<T>(
        &self,
        connection: &Connection,
        mut conditions: Conditions,
        after: Option<(i64, i64)>,
        limit: usize,
        read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Page<T>> {
        let Self { columns, table, time } = self;
        if let Some((at, place)) = after {
            conditions.clauses.push(format!("({time}, place) < (?, ?)"));
            conditions.values.extend([Value::Integer(at), Value::Integer(place)]);
        }
        let filter = conditions.sql();
        let sql = format!(
            "SELECT {columns}, {time} AS placed_at, place AS placed FROM {table} {filter} \
             ORDER BY {time} DESC, place DESC LIMIT ?"
        );
        conditions.values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)));
        let mut statement = connection.prepare_cached(&sql)?;
        let item = |row: &rusqlite::Row<'_>| {
            let at = Timestamp::from_millis(row.get("placed_at")?);
            let place: i64 = row.get("placed")?;
            Ok((at, Uuid::from_u128(place.unsigned_abs().into()), read(row)?))
        };
        let rows = statement.query_map(params_from_iter(conditions.values), item)?;
        let found = Page::cut(rows.collect::<rusqlite::Result<_>>()?, limit, |(at, place, _)| (*at, *place));
        Ok(Page { items: found.items.into_iter().map(|(_, _, item)| item).collect(), next: found.next })
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

    pub(crate) fn text(&mut self, clause: &str, text: Option<&str>) {
        self.one(clause, text.map(|text| Value::Text(text.to_owned())));
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
