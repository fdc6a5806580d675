//! Looks whether a store is sound: its file, its references, its logs, and that everything in it can be read.

use artel_model::run::RunState;
use artel_store::StoreError;
use rusqlite::{Connection, Row};

use crate::row::{self, RUN_COLUMNS, natural};
use crate::store::SqliteStore;
use crate::{check_catalog, migrate};

/// How many problems of a kind are told; a damaged file may have millions.
const PROBLEMS_MAX: usize = 100;

/// What was found in a store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CheckReport {
    /// How many migrations it has seen.
    pub version: i64,
    /// How many runs it holds.
    pub runs: u64,
    /// How many events.
    pub events: u64,
    /// How many executions.
    pub executions: u64,
    /// What is wrong, a sentence each; nothing in a sound store.
    pub problems: Vec<String>,
}

impl CheckReport {
    /// Says whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

impl SqliteStore {
    /// Reads everything in the store and returns what is wrong with it. Writers go on meanwhile.
    pub async fn check(&self) -> Result<CheckReport, StoreError> {
        self.readers.read("check what is", check).await
    }
}

/// Looks at one moment of the store: everything is read inside one transaction.
fn check(connection: &Connection) -> rusqlite::Result<CheckReport> {
    let transaction = connection.unchecked_transaction()?;
    let version = migrate::version(&transaction)?;
    let integrity = format!("PRAGMA integrity_check({PROBLEMS_MAX})");
    let told =
        sentences(&transaction, &integrity, |row| Ok(format!("the file: {}", row.get::<_, String>(0)?)))?;
    if told != ["the file: ok"] {
        // What a damaged file answers means little.
        return Ok(CheckReport { version, runs: 0, events: 0, executions: 0, problems: told });
    }
    let count = |table: &str| {
        transaction.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| natural(row, 0))
    };
    let (runs, events, executions) = (count("runs")?, count("events")?, count("executions")?);
    let mut problems = broken_references(&transaction)?;
    problems.extend(gaps(&transaction)?);
    problems.extend(half_ended(&transaction)?);
    problems.extend(miscounted(&transaction)?);
    problems.extend(unreadable(&transaction)?);
    problems.extend(check_catalog::problems(&transaction)?);
    Ok(CheckReport { version, runs, events, executions, problems })
}

/// Returns a sentence for each row, up to the limit.
fn sentences(
    connection: &Connection,
    sql: &str,
    tell: impl FnMut(&Row<'_>) -> rusqlite::Result<String>,
) -> rusqlite::Result<Vec<String>> {
    connection.prepare(sql)?.query_map([], tell)?.take(PROBLEMS_MAX).collect()
}

fn broken_references(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    sentences(connection, "PRAGMA foreign_key_check", |row| {
        let (table, row_id, parent): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let row_id = row_id.unwrap_or_default();
        Ok(format!("row {row_id} of `{table}` belongs to nothing in `{parent}`"))
    })
}

/// A log is numbered from 1 without a gap.
fn gaps(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT lower(hex(runs.id)), count(*), min(revision), max(revision) FROM events \
               JOIN runs ON runs.key = events.run GROUP BY events.run \
               HAVING min(revision) <> 1 OR max(revision) <> count(*)";
    sentences(connection, sql, |row| {
        let (run, count, first, last): (String, i64, i64, i64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        Ok(format!("the log of run {run} has {count} events, numbered from {first} to {last}"))
    })
}

/// A run has ended if and only if it says when.
fn half_ended(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let last = RunState::ALL.iter().filter(|state| state.is_final());
    let last = last.map(|state| format!("'{}'", state.as_str())).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT lower(hex(id)), state FROM runs WHERE (state IN ({last})) <> (completed_at IS NOT NULL)"
    );
    sentences(connection, &sql, |row| {
        let (run, state): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(format!("run {run} is {state}, which does not fit with when it ended"))
    })
}

/// What is counted along is what counting gives: unread messages, living agents, and where the logs of agents end.
fn miscounted(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "WITH lying AS (SELECT recipient, count(*) AS number FROM deliveries WHERE is_read = 0 GROUP BY recipient), \
               said AS (SELECT agent, max(revision) AS number FROM agent_events GROUP BY agent) \
               SELECT 'unread messages of agent ' || lower(hex(coalesce(agent, recipient))), coalesce(unread, 0), \
               coalesce(number, 0) FROM mailboxes FULL JOIN lying ON agent = recipient \
               WHERE coalesce(unread, 0) <> coalesce(number, 0) \
               UNION ALL SELECT 'events of agent ' || lower(hex(id)), revision, coalesce(number, 0) \
               FROM agents LEFT JOIN said ON agent = id WHERE revision <> coalesce(number, 0) \
               UNION ALL SELECT 'living agents', living, number FROM agent_totals, \
               (SELECT count(*) AS number FROM agents WHERE is_live = 1) WHERE living <> number";
    sentences(connection, sql, |row| {
        let (what, counted, found): (String, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("{counted} {what} are counted, and there are {found}"))
    })
}

/// Reads every row as it is read for use.
fn unreadable(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let runs = format!("SELECT {RUN_COLUMNS}, 'run ' || lower(hex(id)) FROM runs");
    let events = "SELECT revision, at, event, 'event in row ' || key FROM events";
    let records = "SELECT record, 'execution ' || lower(hex(id)) FROM executions";
    let health =
        "SELECT skill, content_hash, principal, tally, at, 'health of skill ' || skill FROM health_counts";
    let mut problems = unreadable_rows(connection, &runs, |row| row::run_row(row).map(drop))?;
    problems.extend(unreadable_rows(connection, events, |row| row::logged_event(row).map(drop))?);
    problems.extend(unreadable_rows(connection, records, |row| row::execution(row).map(drop))?);
    problems.extend(unreadable_rows(connection, health, |row| row::health_count(row).map(drop))?);
    Ok(problems)
}

/// Tells the rows that cannot be read; their last column is their name.
pub(crate) fn unreadable_rows(
    connection: &Connection,
    sql: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let name_column = statement.column_count() - 1;
    let mut rows = statement.query([])?;
    let mut problems = Vec::new();
    while let Some(row) = rows.next()? {
        if let Err(error) = read(row) {
            let name: String = row.get(name_column)?;
            problems.push(format!("the {name} cannot be read: {error}"));
        }
        if problems.len() == PROBLEMS_MAX {
            break;
        }
    }
    Ok(problems)
}
