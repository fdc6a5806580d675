//! Who waits for whom, as a table. The database says whether there is a ring, the model tells it.

use artel_model::id::{AgentId, CorrelationId};
use artel_model::message::{Wait, find_ring};
use artel_model::time::Timestamp;
use artel_store::{StoreError, WaitStore};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use crate::id::Id;
use crate::row::{column, corrupt, parsed_text};
use crate::statement::Statement;
use crate::store::PostgresStore;

const BEGINNING: &str = "noting that an agent waits";

#[async_trait]
impl WaitStore for PostgresStore {
    async fn begin_wait(&self, wait: Wait, now: Timestamp) -> Result<Result<(), Vec<AgentId>>, StoreError> {
        let statement =
            Statement::new("SELECT is_ring, waiters, awaited_ones FROM begin_wait($1, $2, $3, $4, $5, $6)")
                .with(Id(wait.waiter.0))
                .with(Id(wait.correlation.0))
                .with(Id(wait.awaited.0))
                .with(wait.since.as_millis())
                .with(wait.until.as_millis())
                .with(now.as_millis());
        let answer = self.write(BEGINNING, &statement).await?;
        let row = answer.rows.first().ok_or_else(|| corrupt(BEGINNING, "no answer"))?;
        if !column::<bool>(BEGINNING, row, 0)? {
            return Ok(Ok(()));
        }
        let ring = find_ring(&other_waits(row, &wait)?, &wait, now);
        ring.map(Err).ok_or_else(|| corrupt(BEGINNING, "a ring that is none"))
    }

    async fn end_wait(&self, waiter: AgentId, correlation: CorrelationId) -> Result<(), StoreError> {
        let statement = Statement::new(
            "WITH gone AS (DELETE FROM waits WHERE waiter = $1 AND correlation = $2 RETURNING waiter) \
             UPDATE write_counts SET writes = writes + 1 FROM gone WHERE slot = pg_backend_pid() % 64",
        );
        self.write("forgetting that an agent waits", &statement.with(Id(waiter.0)).with(Id(correlation.0)))
            .await?;
        Ok(())
    }
}

/// Reads the waits that were found to last longer than until now.
fn other_waits(row: &PgRow, wait: &Wait) -> Result<Vec<Wait>, StoreError> {
    let waiters: Option<Vec<String>> = column(BEGINNING, row, 1)?;
    let awaited: Option<Vec<String>> = column(BEGINNING, row, 2)?;
    let pairs = waiters.unwrap_or_default().into_iter().zip(awaited.unwrap_or_default());
    let other = |(waiter, awaited): (String, String)| {
        let (waiter, awaited) = (parsed_text(BEGINNING, &waiter)?, parsed_text(BEGINNING, &awaited)?);
        Ok(Wait { waiter, awaited, until: Timestamp::from_millis(i64::MAX), ..*wait })
    };
    pairs.map(other).collect()
}
