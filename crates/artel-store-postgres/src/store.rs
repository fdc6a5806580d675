//! The store itself: its connections, and how a statement gets to the server.

use std::sync::Arc;
use std::time::Duration;

use artel_store::StoreError;
use sqlx::Connection as _;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions, PgRow, Postgres};
use tokio::time::timeout;

use crate::address::address;
use crate::clock::moment;
use crate::era::{Eras, Lost, Mark};
use crate::error::{is_loss, store_error};
use crate::metrics::Meters;
use crate::migrate::migrate;
use crate::options::PostgresOptions;
use crate::shared_sync::SharedSync;
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
    eras: Arc<Eras>,
    syncs: Arc<SharedSync>,
    pub(crate) meters: Meters,
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
    /// Connects, and brings the tables up to date. The address is `postgres://user:password@host:port/database`, with
    /// `?sslmode=verify-full` for a connection that is encrypted to a server that is who it should be.
    pub async fn connect(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let address = address(url, &options)?;
        let answer_ms_max = options.statement_ms_max.saturating_add(ANSWER_GRACE_MS);
        migrate(&address, &options).await?;
        let eras = Arc::new(Eras::default());
        let met = eras.clone();
        let pool = PgPoolOptions::new()
            .max_connections(options.connections_max.max(1))
            .acquire_timeout(Duration::from_millis(options.acquire_ms_max))
            // A round trip before every statement is dear, and a dead connection is noticed without it.
            .test_before_acquire(false)
            .after_connect(move |connection, _| Box::pin(begin_session(connection, met.clone())))
            .connect_lazy_with(address);
        Ok(Self {
            pool,
            connections_max: options.connections_max,
            answer_max: Duration::from_millis(answer_ms_max),
            eras,
            syncs: Arc::default(),
            meters: Meters::new(),
        })
    }

    /// Closes every connection, and waits until they are.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Writes something small, and waits until it is on the server's disk: says whether the store can be written.
    pub async fn check_writable(&self) -> Result<(), StoreError> {
        self.sync_writes().await
    }

    /// Says whether the server crashed and may have lost what was written: only another process can go on.
    pub fn is_lost(&self) -> bool {
        self.eras.is_lost()
    }

    /// Syncs what was written, if there is something: a crash of the server loses nothing of that.
    pub async fn sync_if_needed(&self) -> Result<(), StoreError> {
        if self.eras.has_unsynced() { self.sync_writes().await } else { Ok(()) }
    }

    /// Sends a statement that only reads.
    pub(crate) async fn read(&self, what: &str, statement: &Statement) -> Result<Answer, StoreError> {
        let _reading = self.meters.reading();
        self.send(what, statement).await.map(|(answer, _)| answer)
    }

    /// Sends a statement that may write. Its answer does not wait for the server's disk.
    pub(crate) async fn write(&self, what: &str, statement: &Statement) -> Result<Answer, StoreError> {
        let since = moment();
        let came = async {
            let (answer, mark) = self.send(what, statement).await?;
            self.eras.written(mark).map_err(|lost| lost.while_doing(what))?;
            Ok(answer)
        }
        .await;
        self.meters.changed(&came, since);
        came
    }

    /// Sends a statement that may write, and waits until that is on the server's disk; for what people do, which is rare
    /// and must stay done.
    pub(crate) async fn write_synced(&self, what: &str, statement: &Statement) -> Result<Answer, StoreError> {
        let answer = self.write(what, statement).await?;
        self.sync_writes().await?;
        Ok(answer)
    }

    /// Sends a statement that removes something, and says whether it was there. When an answer was lost, it was.
    pub(crate) async fn has_changed(&self, what: &str, statement: &Statement) -> Result<bool, StoreError> {
        let answer = self.write_synced(what, statement).await?;
        Ok(!answer.rows.is_empty() || answer.sent == Sent::Twice)
    }

    /// Waits until everything that was written before is on the server's disk.
    pub(crate) async fn sync_writes(&self) -> Result<(), StoreError> {
        let sync = async {
            let what = "syncing what was written";
            let since = moment();
            let (_, mark) = self.send(what, &Statement::new("SELECT sync_writes()")).await?;
            self.meters.sync.record(since.elapsed());
            self.eras.synced(mark).map_err(|lost| lost.while_doing(what))
        };
        self.meters.syncs_wanted.increment(1);
        self.syncs.share(sync).await
    }

    /// Sends a statement, and once more when the connection turns out to be lost: a connection that was idle while the
    /// server restarted cannot be told from a good one before.
    async fn send(&self, what: &str, statement: &Statement) -> Result<(Answer, Mark), StoreError> {
        let came = self.try_send(what, statement).await;
        self.meters.told(&came);
        came
    }

    async fn try_send(&self, what: &str, statement: &Statement) -> Result<(Answer, Mark), StoreError> {
        let failed = |error| store_error(what, error);
        let lost = |lost: Lost| lost.while_doing(what);
        let waiting = self.meters.waiting();
        let connection = self.pool.acquire().await.map_err(failed)?;
        drop(waiting);
        let mark = self.eras.begin().map_err(lost)?;
        match self.send_on(connection, statement).await {
            Ok(rows) => Ok((Answer { rows, sent: Sent::Once }, mark)),
            Err(error) if is_loss(&error) => {
                self.meters.resent.increment(1);
                let connection = self.living_connection().await.map_err(failed)?;
                let mark = self.eras.begin().map_err(lost)?;
                let rows = self.send_on(connection, statement).await.map_err(failed)?;
                Ok((Answer { rows, sent: Sent::Twice }, mark))
            }
            Err(error) => Err(failed(error)),
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

/// Prepares a connection, and takes note of the era in which it was opened.
async fn begin_session(connection: &mut PgConnection, eras: Arc<Eras>) -> Result<(), sqlx::Error> {
    let era: String = sqlx::query_scalar("SELECT begin_session()").fetch_one(connection).await?;
    eras.meet(&era);
    Ok(())
}
