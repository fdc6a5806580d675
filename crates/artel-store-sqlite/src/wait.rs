//! Who waits for whom, as a table. A ring is looked for only among those whom the awaited one waits for.

use artel_model::id::{AgentId, CorrelationId};
use artel_model::message::{Wait, find_ring_with};
use artel_model::time::Timestamp;
use artel_store::{StoreError, WaitStore};
use async_trait::async_trait;
use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::change::Change;
use crate::effort::Effort;
use crate::store::SqliteStore;

#[async_trait]
impl WaitStore for SqliteStore {
    async fn begin_wait(&self, wait: Wait, now: Timestamp) -> Result<Result<(), Vec<AgentId>>, StoreError> {
        self.writer.write(BeginWait { wait, now }).await
    }

    async fn end_wait(&self, waiter: AgentId, correlation: CorrelationId) -> Result<(), StoreError> {
        self.writer.write(EndWait { waiter, correlation }).await
    }
}

/// Notes that somebody waits.
struct BeginWait {
    wait: Wait,
    now: Timestamp,
}

impl Change for BeginWait {
    type Answer = Result<(), Vec<AgentId>>;
    const WHAT: &'static str = "note a wait";

    fn effort(&self) -> Effort {
        Effort::Long(0)
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer> {
        if let Some(ring) = find_ring_with(&self.wait, |agent| self.awaited(connection, agent))? {
            return Ok(Err(ring));
        }
        connection.prepare_cached("DELETE FROM waits WHERE until <= ?1")?.execute([self.now.as_millis()])?;
        let Wait { waiter, awaited, correlation, since, until } = &self.wait;
        let mut insert = connection.prepare_cached(
            "INSERT OR REPLACE INTO waits (waiter, correlation, awaited, since, until) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        insert.execute(params![
            waiter.0.into_bytes(),
            correlation.0.into_bytes(),
            awaited.0.into_bytes(),
            since.as_millis(),
            until.as_millis(),
        ])?;
        Ok(Ok(()))
    }
}

impl BeginWait {
    /// Returns for whom an agent waits, in the order of their ids.
    fn awaited(&self, connection: &Connection, agent: AgentId) -> rusqlite::Result<Vec<AgentId>> {
        let mut find = connection.prepare_cached(
            "SELECT DISTINCT awaited FROM waits WHERE waiter = ?1 AND until > ?2 ORDER BY awaited",
        )?;
        let values = params![agent.0.into_bytes(), self.now.as_millis()];
        find.query_map(values, |row| Ok(AgentId(Uuid::from_bytes(row.get(0)?))))?.collect()
    }
}

/// Forgets a wait.
struct EndWait {
    waiter: AgentId,
    correlation: CorrelationId,
}

impl Change for EndWait {
    type Answer = ();
    const WHAT: &'static str = "forget a wait";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut remove =
            connection.prepare_cached("DELETE FROM waits WHERE waiter = ?1 AND correlation = ?2")?;
        remove.execute([self.waiter.0.into_bytes(), self.correlation.0.into_bytes()])?;
        Ok(())
    }
}
