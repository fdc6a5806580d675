//! Records of executions as a table.

use artel_model::access::UserId;
use artel_model::id::ExecutionId;
use artel_model::name::SkillName;
use artel_model::run::{ExecutionRecord, ExecutionStatus};
use artel_model::time::Timestamp;
use artel_store::{
    ExecutionFilter, ExecutionStats, ExecutionStore, Page, PageRequest, StatsBy, StatsFilter, StoreError,
    has_ended,
};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use crate::id::Id;
use crate::row::{after, bigint, column, count, document, fitting, json, rows_of, within};
use crate::statement::Statement;
use crate::store::PostgresStore;

const READING: &str = "reading the record of an execution";
const COUNTING: &str = "counting executions";

/// `$1` are the statuses of executions that have ended, `$2` is the status of those that went well.
const STATS: &str = "
    , count(*)
    , count(*) FILTER (WHERE status = ANY($1))
    , count(*) FILTER (WHERE status = $2)
    , sum(retries)::bigint
    , percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY duration_ms) FILTER (WHERE status = ANY($1))
    FROM executions WHERE true";

#[async_trait]
impl ExecutionStore for PostgresStore {
    async fn execution(&self, id: ExecutionId) -> Result<Option<ExecutionRecord>, StoreError> {
        let statement = Statement::new("SELECT record FROM executions WHERE id = $1").with(Id(id.0));
        let answer = self.read(READING, &statement).await?;
        answer.rows.first().map(|row| document(READING, row, 0)).transpose()
    }

    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, StoreError> {
        let statement = filtered(Statement::new("SELECT record FROM executions WHERE true"), filter);
        let statement = after(statement, " AND (started_at, id)", page.after.as_ref())?;
        let statement = statement.then(" ORDER BY started_at DESC, id DESC LIMIT ").place(rows_of(page));
        let answer = self.read("listing executions", &statement).await?;
        let records = answer.rows.iter().map(|row| document(READING, row, 0));
        let records = records.collect::<Result<Vec<ExecutionRecord>, _>>()?;
        Ok(Page::cut(records, page.limit, |record| (record.started_at, record.execution_id.0)))
    }

    async fn stats(&self, filter: &StatsFilter) -> Result<Vec<ExecutionStats>, StoreError> {
        let (start, end) = match filter.by {
            StatsBy::Skill => ("SELECT skill", " GROUP BY skill ORDER BY count(*) DESC, skill"),
            StatsBy::Agent => {
                ("SELECT agent::text", " GROUP BY agent ORDER BY count(*) DESC, agent NULLS FIRST")
            }
        };
        let ended = ExecutionStatus::ALL.iter().copied().filter(|status| has_ended(*status));
        let ended: Vec<&str> = ended.map(ExecutionStatus::as_str).collect();
        let statement = Statement::new(start).then(STATS).with(ended).with(ExecutionStatus::Success.as_str());
        let statement = begun_within(statement, [filter.started_from, filter.started_before]).then(end);
        let answer = self.read(COUNTING, &statement).await?;
        answer.rows.iter().map(stats_row).collect()
    }
}

fn filtered(mut statement: Statement, filter: &ExecutionFilter) -> Statement {
    if let Some(agent) = filter.agent {
        statement = statement.then(" AND agent = ").place(Id(agent.0));
    }
    if let Some(run) = filter.run {
        statement = statement.then(" AND run = ").place(Id(run.0));
    }
    statement = fitting(statement, " AND skill = ", filter.skill.as_ref().map(SkillName::as_str));
    statement = fitting(statement, " AND owner_user = ", filter.owner.as_ref().map(UserId::as_str));
    if !filter.statuses.is_empty() {
        let statuses: Vec<&str> = filter.statuses.iter().copied().map(ExecutionStatus::as_str).collect();
        statement = statement.then(" AND status = ANY(").place(statuses).then(")");
    }
    begun_within(statement, [filter.started_from, filter.started_before])
}

fn begun_within(statement: Statement, span: [Option<Timestamp>; 2]) -> Statement {
    within(statement, [" AND started_at >= ", " AND started_at < "], span)
}

fn stats_row(row: &PgRow) -> Result<ExecutionStats, StoreError> {
    let durations: Option<Vec<i64>> = column(COUNTING, row, 5)?;
    let duration = |index: usize| durations.as_ref()?.get(index).map(|duration| duration.unsigned_abs());
    Ok(ExecutionStats {
        of: column(COUNTING, row, 0)?,
        count: count(COUNTING, row, 1)?,
        ended: count(COUNTING, row, 2)?,
        succeeded: count(COUNTING, row, 3)?,
        retries: count(COUNTING, row, 4)?,
        p50_ms: duration(0),
        p95_ms: duration(1),
        p99_ms: duration(2),
    })
}

/// Adds records as arrays, a column each.
pub(crate) fn with_executions(statement: Statement, records: Vec<&ExecutionRecord>) -> Statement {
    let all = || records.iter();
    statement
        .with(all().map(|record| Id(record.execution_id.0)).collect::<Vec<_>>())
        .with(all().map(|record| Id(record.run_id.0)).collect::<Vec<_>>())
        .with(all().map(|record| record.agent_id.map(|agent| Id(agent.0))).collect::<Vec<_>>())
        .with(all().map(|record| record.skill_name.as_str()).collect::<Vec<_>>())
        .with(all().map(|record| record.status.as_str()).collect::<Vec<_>>())
        .with(all().map(|record| record.started_at.as_millis()).collect::<Vec<_>>())
        .with(all().map(|record| record.duration_ms.map(bigint)).collect::<Vec<_>>())
        .with(all().map(|record| i64::from(record.retry_count)).collect::<Vec<_>>())
        .with(all().map(|record| json(*record)).collect::<Vec<_>>())
}
