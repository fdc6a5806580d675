//! The store itself: its connections, and how a statement gets to the server.

use std::time::Duration;

use artel_store::StoreError;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgRow, Postgres};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::time::timeout;

use crate::error::{is_loss, store_error};
use crate::migrate::migrate;
use crate::options::PostgresOptions;
use crate::statement::Statement;

/// How much longer than the server itself we wait before we give a statement up: what the server gives up is certainly
/// not written, what only we give up may be.
const ANSWER_GRACE_MS: u64 = 5_000;

/// A store on PostgreSQL; clones share their connections.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    pool: PgPool,
    connections_max: u32,
    answer_max: Duration,
}

/// What the server answered.
pub(crate) struct Answer {
    pub(crate) rows: Vec<PgRow>,
    pub(crate) sent: Sent,
}

/// How often a statement was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sent {
    Once,
    /// The connection was lost the first time: what it wrote may be there already, and the second time found it.
    Twice,
}

impl PostgresStore {
    /// Connects, and brings the tables up to date. The address is `postgres://user:password@host:port/database`.
    pub async fn connect(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let address = address(url, &options)?;
        let answer_ms_max = options.statement_ms_max.saturating_add(ANSWER_GRACE_MS);
        migrate(&address, &options).await?;
        let pool = PgPoolOptions::new()
            .max_connections(options.connections_max.max(1))
            .acquire_timeout(Duration::from_millis(options.acquire_ms_max))
            // A round trip before every statement is dear, and a dead connection is noticed without it.
            .test_before_acquire(false)
            .after_connect(|connection, _| Box::pin(async move { flush_commits(connection).await }))
            .connect_lazy_with(address);
        Ok(Self {
            pool,
            connections_max: options.connections_max,
            answer_max: Duration::from_millis(answer_ms_max),
        })
    }

    /// Closes every connection, and waits until they are.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Sends a statement, and once more when the connection turns out to be lost: a connection that was idle while the
    /// server restarted cannot be told from a good one before.
    pub(crate) async fn send(&self, what: &str, statement: &Statement) -> Result<Answer, StoreError> {
        let connection = self.pool.acquire().await.map_err(|error| store_error(what, error))?;
        match self.send_on(connection, statement).await {
            Ok(rows) => Ok(Answer { rows, sent: Sent::Once }),
            Err(error) if is_loss(&error) => {
                let connection = self.living_connection().await.map_err(|error| store_error(what, error))?;
                let rows = self.send_on(connection, statement).await;
                rows.map(|rows| Answer { rows, sent: Sent::Twice }).map_err(|error| store_error(what, error))
            }
            Err(error) => Err(store_error(what, error)),
        }
    }

    async fn send_on(
        &self,
        mut connection: PoolConnection<Postgres>,
        statement: &Statement,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let query = statement.query()?;
        match timeout(self.answer_max, query.fetch_all(&mut *connection)).await {
            Ok(Err(error)) if is_loss(&error) => {
                drop(connection.detach());
                Err(error)
            }
            Ok(answer) => answer,
            // Nobody answers. The connection is left, so that nobody else waits for it.
            Err(_) => {
                drop(connection.detach());
                Err(sqlx::Error::PoolTimedOut)
            }
        }
    }

    /// Returns a connection that has just answered. At most all that were idle are dead, and one more is a fresh one.
    async fn living_connection(&self) -> Result<PoolConnection<Postgres>, sqlx::Error> {
        for _ in 0..self.connections_max {
            let mut connection = self.pool.acquire().await?;
            if let Ok(Ok(())) = timeout(self.answer_max, connection.ping()).await {
                return Ok(connection);
            }
            drop(connection.detach());
        }
        self.pool.acquire().await
    }
}

/// Reads the address, and adds what holds for every connection of ours.
fn address(url: &str, options: &PostgresOptions) -> Result<PgConnectOptions, StoreError> {
    let address: PgConnectOptions =
        url.parse().map_err(|error| store_error("reading the address of the PostgreSQL server", error))?;
    let settings = [
        ("search_path", options.schema.to_string()),
        ("statement_timeout", options.statement_ms_max.to_string()),
    ];
    // What is written may be secret, and a line for every statement helps nobody.
    Ok(address.application_name("artel").options(settings).disable_statement_logging())
}

/// A commit that the server has not flushed is none: `RunStore::sync` relies on it. Stronger settings than `on` stay.
async fn flush_commits(connection: &mut sqlx::PgConnection) -> Result<(), sqlx::Error> {
    let statement = "SELECT set_config('synchronous_commit', 'on', false) \
                     WHERE current_setting('synchronous_commit') = 'off'";
    sqlx::query(statement).execute(connection).await?;
    Ok(())
}
