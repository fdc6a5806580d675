//! Counts of executions and their percentiles, in one query.

use artel_model::run::ExecutionStatus;
use artel_store::{ExecutionStats, StatsBy, StatsFilter};
use rusqlite::{Connection, Row, params_from_iter};
use uuid::Uuid;

use crate::listing::Conditions;
use crate::row::{ended_statuses, natural};

/// Counts the executions that fit.
pub(crate) fn stats(connection: &Connection, filter: &StatsFilter) -> rusqlite::Result<Vec<ExecutionStats>> {
    let mut conditions = Conditions::default();
    conditions.within("started_at", filter.started_from, filter.started_before);
    let mut statement = connection.prepare_cached(&sql(filter.by, &conditions.sql()))?;
    statement.query_map(params_from_iter(conditions.values), |row| group(filter.by, row))?.collect()
}

/// A percentile is the duration at place `ceil(percent * n / 100)` of those that ended and have one, which window
/// functions number within each group; the others have no number.
fn sql(by: StatsBy, filter: &str) -> String {
    let of = match by {
        StatsBy::Skill => "skill",
        StatsBy::Agent => "agent_id",
    };
    let ended = ended_statuses();
    let success = ExecutionStatus::Success.as_str();
    let percentile = |percent| {
        format!("max(CASE WHEN measured AND place = max((n * {percent} + 99) / 100, 1) THEN duration_ms END)")
    };
    let (p50, p95, p99) = (percentile(50), percentile(95), percentile(99));
    format!(
        "WITH fitting AS (
             SELECT {of} AS of, status, duration_ms, retry_count, status IN ({ended}) AS ended,
                    status IN ({ended}) AND duration_ms IS NOT NULL AS measured
             FROM executions {filter}
         ), numbered AS (
             SELECT *, row_number() OVER (PARTITION BY of, measured ORDER BY duration_ms) AS place,
                    count(*) OVER (PARTITION BY of, measured) AS n
             FROM fitting
         )
         SELECT of, count(*), sum(ended), sum(status = '{success}'), sum(retry_count), {p50}, {p95}, {p99}
         FROM numbered GROUP BY of ORDER BY count(*) DESC, of"
    )
}

fn group(by: StatsBy, row: &Row<'_>) -> rusqlite::Result<ExecutionStats> {
    let of = match by {
        StatsBy::Skill => row.get(0)?,
        StatsBy::Agent => row.get::<_, Option<[u8; 16]>>(0)?.map(|id| Uuid::from_bytes(id).to_string()),
    };
    let millis = |column| {
        let value: Option<i64> = row.get(column)?;
        value.map(|_| natural(row, column)).transpose()
    };
    Ok(ExecutionStats {
        of,
        count: natural(row, 1)?,
        ended: natural(row, 2)?,
        succeeded: natural(row, 3)?,
        retries: natural(row, 4)?,
        p50_ms: millis(5)?,
        p95_ms: millis(6)?,
        p99_ms: millis(7)?,
    })
}
