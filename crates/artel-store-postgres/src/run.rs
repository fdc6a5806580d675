//! Runs and their logs as tables.

use std::collections::BTreeMap;

use artel_model::access::UserId;
use artel_model::id::RunId;
use artel_model::run::{RunState, RunSummary, StampedEvent};
use artel_model::time::Timestamp;
use artel_store::{
    AppendError, Claim, ClaimError, Created, Fence, LoggedEvent, NewRun, OwnerId, Page, PageRequest,
    Revision, RunAppend, RunFilter, RunRow, RunStore, StoreError,
};
use async_trait::async_trait;

use crate::execution::with_executions;
use crate::health::with_health;
use crate::id::Id;
use crate::row::{
    RUN_COLUMNS, after, bigint, count, fitting, json, logged_event, parsed, rows_of, run_row, within,
};
use crate::statement::Statement;
use crate::store::{PostgresStore, Sent};

const CREATE: &str = include_str!("sql/create.sql");
const APPEND: &str = include_str!("sql/append.sql");
const CLAIM: &str = include_str!("sql/claim.sql");

/// Runs that are removed by one statement; their logs may be long.
const PRUNE_RUNS_MAX: i64 = 50;

#[async_trait]
impl RunStore for PostgresStore {
    async fn create(&self, run: NewRun) -> Result<Created, StoreError> {
        let what = "keeping a run";
        let id = run.summary.run_id;
        let statement = create_statement(&run);
        loop {
            let answer = self.write(what, &statement).await?;
            if !answer.rows.is_empty() {
                return Ok(Created::New);
            }
            match self.existing(id, run.idempotency_key.as_deref()).await? {
                Some(existing) if existing == id && answer.sent == Sent::Twice => return Ok(Created::New),
                Some(existing) => return Ok(Created::Existing(existing)),
                // Whoever was in the way has been removed in between.
                None => {}
            }
        }
    }

    async fn append(&self, append: RunAppend) -> Result<Revision, AppendError> {
        let what = "adding to the log of a run";
        let events: Vec<String> = append.events.iter().map(json).collect();
        let statement = append_statement(&append, &events);
        let answer = self.write(what, &statement).await.map_err(AppendError::Store)?;
        if let Some(row) = answer.rows.first() {
            self.meters.appends.increment(1);
            return count(what, row, 0).map(Revision).map_err(AppendError::Store);
        }
        if answer.sent == Sent::Twice
            && self.has_logged(&append, &events).await.map_err(AppendError::Store)?
        {
            self.meters.appends.increment(1);
            return Ok(Revision(append.expected.0 + events.len() as u64));
        }
        match self.run(append.run).await.map_err(AppendError::Store)? {
            None => Err(AppendError::Unknown),
            Some(row) if append.fence.is_some_and(|fence| fence != row.fence) => Err(AppendError::Fenced),
            Some(row) => Err(AppendError::Conflict { actual: row.revision }),
        }
    }

    async fn sync(&self) -> Result<(), StoreError> {
        self.sync_writes().await
    }

    async fn events(
        &self,
        run: RunId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        let statement = Statement::new(
            "SELECT revision, event FROM run_events WHERE run = $1 AND revision > $2 ORDER BY revision LIMIT $3",
        );
        let statement = statement.with(Id(run.0)).with(bigint(after.0)).with(bigint(limit as u64));
        let answer = self.read("reading the log of a run", &statement).await?;
        answer.rows.iter().map(logged_event).collect()
    }

    async fn run(&self, id: RunId) -> Result<Option<RunRow>, StoreError> {
        let statement = Statement::new(RUN_COLUMNS).then(" AND id = ").place(Id(id.0));
        let answer = self.read("reading a run", &statement).await?;
        answer.rows.first().map(run_row).transpose()
    }

    async fn runs(&self, filter: &RunFilter, page: &PageRequest) -> Result<Page<RunRow>, StoreError> {
        let mut statement = Statement::new(RUN_COLUMNS);
        if !filter.states.is_empty() {
            let states: Vec<&str> = filter.states.iter().copied().map(RunState::as_str).collect();
            statement = statement.then(" AND state = ANY(").place(states).then(")");
        }
        statement = fitting(statement, " AND owner_user = ", filter.owner.as_ref().map(UserId::as_str));
        let names = [" AND created_at >= ", " AND created_at < "];
        statement = within(statement, names, [filter.created_from, filter.created_before]);
        statement = after(statement, " AND (created_at, id)", page.after.as_ref())?;
        statement = statement.then(" ORDER BY created_at DESC, id DESC LIMIT ").place(rows_of(page));
        let answer = self.read("listing runs", &statement).await?;
        let rows = answer.rows.iter().map(run_row).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(rows, page.limit, |row| (row.summary.created_at, row.summary.run_id.0)))
    }

    async fn claim(&self, claim: Claim) -> Result<Fence, ClaimError> {
        let what = "taking a run over";
        let statement =
            Statement::new(CLAIM).with(Id(claim.run.0)).with(bigint(claim.seen.0)).with(&claim.owner.0);
        let answer = self.write(what, &statement).await.map_err(ClaimError::Store)?;
        if let Some(row) = answer.rows.first() {
            return count(what, row, 0).map(Fence).map_err(ClaimError::Store);
        }
        let row = self.run(claim.run).await.map_err(ClaimError::Store)?.ok_or(ClaimError::Unknown)?;
        let is_ours = row.fence.0 == claim.seen.0 + 1 && row.owner.as_ref() == Some(&claim.owner);
        if answer.sent == Sent::Twice && is_ours { Ok(row.fence) } else { Err(ClaimError::Taken) }
    }

    async fn version(&self) -> Result<u64, StoreError> {
        let what = "reading the version of the store";
        let answer = self.read(what, &Statement::new("SELECT sum(writes)::bigint FROM write_counts")).await?;
        answer.rows.first().map_or(Ok(0), |row| count(what, row, 0))
    }

    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError> {
        let what = "removing runs";
        let statement =
            Statement::new("SELECT prune_runs($1, $2)").with(before.as_millis()).with(PRUNE_RUNS_MAX);
        let mut removed = 0;
        loop {
            let answer = self.write(what, &statement).await?;
            let batch = answer.rows.first().map_or(Ok(0), |row| count(what, row, 0))?;
            removed += batch;
            if batch < PRUNE_RUNS_MAX.unsigned_abs() {
                return Ok(removed);
            }
        }
    }
}

impl PostgresStore {
    /// Returns the run that keeps another one with this id and key from being kept.
    async fn existing(&self, id: RunId, key: Option<&str>) -> Result<Option<RunId>, StoreError> {
        let what = "looking for a run by its key";
        let statement = Statement::new(
            "SELECT id::text FROM runs WHERE id = $1 OR sha256(idempotency_key) = sha256($2) \
             ORDER BY sha256(idempotency_key) = sha256($2) DESC NULLS LAST LIMIT 1",
        );
        let statement = statement.with(Id(id.0)).with(key.map(str::as_bytes));
        let answer = self.read(what, &statement).await?;
        answer.rows.first().map(|row| parsed(what, row, 0)).transpose()
    }

    /// Says whether the log goes on with exactly these events: then they were written before the connection was lost.
    async fn has_logged(&self, append: &RunAppend, events: &[String]) -> Result<bool, StoreError> {
        let logged = self.events(append.run, append.expected, events.len()).await?;
        Ok(!events.is_empty() && logged.iter().map(|logged| &logged.event).eq(&append.events))
    }
}

fn create_statement(run: &NewRun) -> Statement {
    let events: Vec<String> = run.events.iter().map(json::<StampedEvent>).collect();
    let NewRun { summary, owner, idempotency_key, .. } = run;
    Statement::new(CREATE)
        .with(Id(summary.run_id.0))
        .with(summary.state.as_str())
        .with(summary.created_at.as_millis())
        .with(summary.completed_at.map(Timestamp::as_millis))
        .with(json(summary))
        .with(owner.as_ref().map(|OwnerId(owner)| owner))
        .with(i64::from(owner.is_some()))
        .with(idempotency_key.as_deref().map(str::as_bytes))
        .with(events)
        .with(summary.owner.as_ref().map(UserId::as_str))
}

fn append_statement(append: &RunAppend, events: &[String]) -> Statement {
    let summary = append.summary.as_ref();
    let statement = Statement::new(APPEND)
        .with(Id(append.run.0))
        .with(bigint(append.expected.0))
        .with(append.fence.map(|Fence(fence)| bigint(fence)))
        .with(events)
        .with(summary.map(|summary| summary.state.as_str()))
        .with(summary.map(|summary| summary.created_at.as_millis()))
        .with(summary.and_then(|summary| summary.completed_at).map(Timestamp::as_millis))
        .with(summary.map(json::<RunSummary>));
    // A record that is given twice is the last one; one statement cannot write a row twice.
    let records: BTreeMap<_, _> =
        append.executions.iter().map(|record| (record.execution_id, record)).collect();
    with_health(with_executions(statement, records.into_values().collect()), &append.health)
}
