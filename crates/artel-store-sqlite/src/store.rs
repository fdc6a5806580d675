//! The store in a file as the rest of artel sees it: it hands work to its threads and answers in our types.

use std::sync::{Mutex, PoisonError};

use artel_model::id::{ExecutionId, RunId};
use artel_model::name::SkillName;
use artel_model::run::ExecutionRecord;
use artel_model::time::Timestamp;
use artel_store::{
    AppendError, Claim, ClaimError, Created, Cursor, ExecutionFilter, ExecutionStats, ExecutionStore, Fence,
    HealthCount, HealthStore, LoggedEvent, NewRun, Page, PageRequest, ProbeClaim, Revision, RunAppend,
    RunFilter, RunRow, RunStore, SkillFiles, StatsFilter, StoreError,
};
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use metrics::Counter;
use rusqlite::{Connection, OptionalExtension, params};

use crate::change::{
    Append, Change, ClaimProbe, ClaimRefused, Create, Prune, PruneHealth, Refused, ResetHealth, Touch,
};
use crate::checkpoint::CheckpointHandle;
use crate::connection::{create_file, open_reader, open_writer};
use crate::failure::store_error;
use crate::metrics::appends;
use crate::migrate::migrate;
use crate::options::SqliteOptions;
use crate::reader::Readers;
use crate::row::{self, RUN_COLUMNS};
use crate::sync::SyncHandle;
use crate::writer::{WriterConfig, WriterHandle};
use crate::{listing, stats};

/// How many runs are removed in one transaction.
const PRUNE_RUNS_MAX: u32 = 100;

/// A store in one SQLite file. Several processes may have the same file open.
#[derive(Debug)]
pub struct SqliteStore {
    pub(crate) readers: Readers,
    watcher: Mutex<Connection>,
    syncer: SyncHandle,
    // Dropped last: the connection that closes last copies the log into the database and removes it, which only one that
    // writes can do.
    pub(crate) writer: WriterHandle,
    appends: Counter,
    path: Utf8PathBuf,
}

impl SqliteStore {
    /// Opens the store in the file at `path`, which is created or brought up to date first.
    pub fn open(path: &Utf8Path, options: SqliteOptions) -> Result<Self, StoreError> {
        create_file(path)?;
        let mut connection = open_writer(path, &options)?;
        migrate(&mut connection, options.migrations, &format!("open `{path}`"))?;
        let writer = WriterHandle::start(WriterConfig {
            connection,
            checkpoint: CheckpointHandle::start(open_writer(path, &options)?)?,
            path: path.as_str().into(),
            queue_max: options.queue_max.max(1),
            busy_ms: options.busy_ms,
        })?;
        let watcher = open_reader(path, &options)?;
        // SQLite makes the log with the first read; only then it can be synced.
        data_version(&watcher).map_err(|error| store_error(&format!("read `{path}`"), &error))?;
        Ok(Self {
            writer,
            syncer: SyncHandle::start(path)?,
            readers: Readers::open(path, &options)?,
            watcher: Mutex::new(watcher),
            appends: appends(),
            path: path.to_owned(),
        })
    }
}

impl SqliteStore {
    /// Writes something small, and waits until it survives a power cut: says whether the store can be written.
    pub async fn check_writable(&self) -> Result<(), StoreError> {
        self.write_synced(Touch).await
    }

    /// Says whether an fsync failed: what was written since may be lost, and only another process can go on.
    pub fn is_lost(&self) -> bool {
        self.syncer.has_failed()
    }

    /// Makes a change and waits until it survives a power cut; for what people do, which is rare and must stay done.
    pub(crate) async fn write_synced<C: Change>(&self, change: C) -> Result<C::Answer, StoreError> {
        let answer = self.writer.write(change).await?;
        self.syncer.sync().await?;
        Ok(answer)
    }
}

/// A number that changes when another connection, of whatever process, has written.
fn data_version(connection: &Connection) -> rusqlite::Result<u64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row::natural(row, 0))
}

#[async_trait]
impl RunStore for SqliteStore {
    async fn create(&self, run: NewRun) -> Result<Created, StoreError> {
        self.writer.write(Create::new(run)).await
    }

    async fn append(&self, append: RunAppend) -> Result<Revision, AppendError> {
        match self.writer.write(Append::new(append)).await {
            Ok(Ok(revision)) => {
                self.appends.increment(1);
                Ok(revision)
            }
            Ok(Err(Refused::Unknown)) => Err(AppendError::Unknown),
            Ok(Err(Refused::Fenced)) => Err(AppendError::Fenced),
            Ok(Err(Refused::Conflict { actual })) => Err(AppendError::Conflict { actual }),
            Err(error) => Err(AppendError::Store(error)),
        }
    }

    async fn sync(&self) -> Result<(), StoreError> {
        self.syncer.sync().await
    }

    async fn events(
        &self,
        run: RunId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        let after = i64::try_from(after.0).unwrap_or(i64::MAX);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = move |connection: &Connection| {
            let mut statement = connection.prepare_cached(
                "SELECT revision, at, event FROM events WHERE run = (SELECT key FROM runs WHERE id = ?1) \
                 AND revision > ?2 ORDER BY revision LIMIT ?3",
            )?;
            statement.query_map(params![run.0.into_bytes(), after, limit], row::logged_event)?.collect()
        };
        self.readers.read("read a run's log", query).await
    }

    async fn run(&self, id: RunId) -> Result<Option<RunRow>, StoreError> {
        let query = move |connection: &Connection| {
            let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE id = ?1");
            connection.prepare_cached(&sql)?.query_row([id.0.into_bytes()], row::run_row).optional()
        };
        self.readers.read("read a run", query).await
    }

    async fn runs(&self, filter: &RunFilter, page: &PageRequest) -> Result<Page<RunRow>, StoreError> {
        let (filter, limit) = (filter.clone(), page.limit);
        let after = page.after.as_ref().map(Cursor::place).transpose()?;
        let query = move |connection: &Connection| listing::runs(connection, &filter, after, limit);
        self.readers.read("list runs", query).await
    }

    async fn claim(&self, claim: Claim) -> Result<Fence, ClaimError> {
        match self.writer.write(claim).await {
            Ok(Ok(fence)) => Ok(fence),
            Ok(Err(ClaimRefused::Taken)) => Err(ClaimError::Taken),
            Ok(Err(ClaimRefused::Unknown)) => Err(ClaimError::Unknown),
            Err(error) => Err(ClaimError::Store(error)),
        }
    }

    async fn version(&self) -> Result<u64, StoreError> {
        // A look at shared memory, shorter than the way to another thread.
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        data_version(&watcher).map_err(|error| store_error(&format!("read `{}`", self.path), &error))
    }

    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let prune = Prune { before_ms: before.as_millis(), runs_max: PRUNE_RUNS_MAX };
            match self.writer.write(prune).await? {
                0 => return Ok(removed),
                count => removed += count,
            }
        }
    }
}

#[async_trait]
impl ExecutionStore for SqliteStore {
    async fn execution(&self, id: ExecutionId) -> Result<Option<ExecutionRecord>, StoreError> {
        let query = move |connection: &Connection| {
            let mut statement = connection.prepare_cached("SELECT record FROM executions WHERE id = ?1")?;
            statement.query_row([id.0.into_bytes()], row::execution).optional()
        };
        self.readers.read("read an execution", query).await
    }

    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, StoreError> {
        let (filter, limit) = (filter.clone(), page.limit);
        let after = page.after.as_ref().map(Cursor::place).transpose()?;
        let query = move |connection: &Connection| listing::executions(connection, &filter, after, limit);
        self.readers.read("list executions", query).await
    }

    async fn stats(&self, filter: &StatsFilter) -> Result<Vec<ExecutionStats>, StoreError> {
        let filter = filter.clone();
        let query = move |connection: &Connection| stats::stats(connection, &filter);
        self.readers.read("count executions", query).await
    }
}

#[async_trait]
impl HealthStore for SqliteStore {
    async fn health_counts(&self) -> Result<Vec<HealthCount>, StoreError> {
        let query = |connection: &Connection| {
            let mut statement = connection.prepare_cached(
                "SELECT skill, content_hash, principal, tally, at FROM health_counts \
                 ORDER BY skill, content_hash, principal",
            )?;
            statement.query_map([], row::health_count)?.collect()
        };
        self.readers.read("read the health of skills", query).await
    }

    async fn reset_health(&self, skill: &SkillName, content_hash: Option<&str>) -> Result<(), StoreError> {
        let content_hash = content_hash.map(str::to_owned);
        self.writer.write(ResetHealth { skill: skill.to_string(), content_hash }).await
    }

    async fn claim_probe(&self, claim: ProbeClaim) -> Result<bool, StoreError> {
        self.writer.write(ClaimProbe(claim)).await
    }

    async fn prune_health(&self, files: &[SkillFiles], before: Timestamp) -> Result<(), StoreError> {
        self.writer.write(PruneHealth { files: files.to_vec(), before }).await
    }
}
