//! Counters of calls, by agent and method.

use rusqlite::{Transaction, params};
use schemars::JsonSchema;
use serde::Serialize;

use super::database::Store;
use super::failed;
use super::write::run;
use crate::error::CadResult;

/// One call, as it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallRecord<'a> {
    pub(crate) agent: &'a str,
    pub(crate) method: &'a str,
    pub(crate) ok: bool,
}

/// How often an agent called a method.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MethodMetrics {
    /// The method.
    pub operation: String,
    /// Calls that worked.
    pub success_count: i64,
    /// Calls that failed.
    pub error_count: i64,
    /// The mean time of a call, in milliseconds.
    pub average_ms: f64,
}

pub(super) fn count(
    transaction: &Transaction<'_>,
    call: &CallRecord<'_>,
    times: i64,
    microseconds: i64,
) -> CadResult<()> {
    let sql = "INSERT INTO calls (agent, method, successes, errors, microseconds) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT DO UPDATE SET successes = successes + excluded.successes, \
               errors = errors + excluded.errors, microseconds = microseconds + excluded.microseconds";
    let (successes, errors) = if call.ok { (times, 0) } else { (0, times) };
    run(transaction, sql, params![call.agent, call.method, successes, errors, microseconds])
}

impl Store {
    /// Counts calls that wrote nothing: each with how often and how long.
    pub(crate) fn count_calls(&mut self, calls: &[(CallRecord<'_>, i64, i64)]) -> CadResult<()> {
        self.writing(|transaction| {
            calls
                .iter()
                .try_for_each(|(call, times, microseconds)| count(transaction, call, *times, *microseconds))
        })
    }

    /// Returns the counters of an agent by method, or of all together.
    pub fn metrics(&mut self, agent: Option<&str>) -> CadResult<Vec<MethodMetrics>> {
        let sql = "SELECT method, SUM(successes), SUM(errors), SUM(microseconds) FROM calls \
                   WHERE ?1 IS NULL OR agent = ?1 GROUP BY method ORDER BY method";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = statement.query_map([agent], |row| {
            let (success_count, error_count): (i64, i64) = (row.get(1)?, row.get(2)?);
            let total: i64 = row.get(3)?;
            let calls = (success_count + error_count).max(1);
            let average_ms = total as f64 / calls as f64 / 1_000.0;
            Ok(MethodMetrics { operation: row.get(0)?, success_count, error_count, average_ms })
        });
        rows.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
    }
}
