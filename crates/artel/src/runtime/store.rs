//! The store that the configuration names.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;
use std::time::Duration;

use artel_store::{
    AgentStore, AuditStore, CustomSkillStore, ExecutionStore, GenerationStore, HealthStore, HubStore,
    KeyStore, MailStore, PersonStore, RunStore, ScanStore, StoreError, TrailStore, WaitStore,
};
use artel_store_postgres::{PostgresOptions, PostgresStore, SCHEMA_VERSION};
use artel_store_sqlite::{MIGRATIONS, SqliteOptions, SqliteStore, sqlite_version};
use camino::Utf8Path;

use crate::config::{Config, StoreChoice};
use crate::failure::Failure;

/// How often to look whether the store has lost something.
const LOOK: Duration = Duration::from_secs(1);

/// What a store keeps for the shared catalog.
#[derive(Clone)]
pub(crate) struct CatalogStore {
    pub(crate) skills: Arc<dyn CustomSkillStore>,
    pub(crate) hubs: Arc<dyn HubStore>,
    pub(crate) keys: Arc<dyn KeyStore>,
    pub(crate) people: Arc<dyn PersonStore>,
    pub(crate) scans: Arc<dyn ScanStore>,
    pub(crate) audit: Arc<dyn AuditStore>,
    pub(crate) trail: Arc<dyn TrailStore>,
    pub(crate) generation: Arc<dyn GenerationStore>,
}

impl CatalogStore {
    fn of<S>(store: Arc<S>) -> Self
    where
        S: CustomSkillStore
            + HubStore
            + KeyStore
            + PersonStore
            + ScanStore
            + AuditStore
            + TrailStore
            + GenerationStore
            + 'static,
    {
        Self {
            skills: store.clone(),
            hubs: store.clone(),
            keys: store.clone(),
            people: store.clone(),
            scans: store.clone(),
            audit: store.clone(),
            trail: store.clone(),
            generation: store,
        }
    }
}

/// A store, as each of the traits that it is. Clones are the same store.
#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) runs: Arc<dyn RunStore>,
    pub(crate) executions: Arc<dyn ExecutionStore>,
    pub(crate) health: Arc<dyn HealthStore>,
    pub(crate) agents: Arc<dyn AgentStore>,
    pub(crate) mail: Arc<dyn MailStore>,
    pub(crate) waits: Arc<dyn WaitStore>,
    pub(crate) catalog: CatalogStore,
    /// What keeps it, in which version, with which schema.
    pub(crate) version: String,
    /// The store itself when it is a file, for what only files can do.
    pub(crate) file: Option<Arc<SqliteStore>>,
    /// The store itself when it is PostgreSQL, for what only servers can do.
    postgres: Option<Arc<PostgresStore>>,
}

impl Store {
    /// Opens the store, which is made when it is not there.
    pub(crate) async fn open(config: &Config) -> Result<Self, Failure> {
        match &config.store.value {
            StoreChoice::File(path) => {
                make_private(path.parent().unwrap_or(Utf8Path::new(".")))?;
                let store = SqliteStore::open(path, SqliteOptions::default());
                let store = Arc::new(store.map_err(|error| cannot_open(config, &error))?);
                let version = format!("SQLite {}, schema {}", sqlite_version(), MIGRATIONS.len());
                Ok(Self { file: Some(store.clone()), version, ..Self::of(store) })
            }
            StoreChoice::Postgres(url) => {
                let store = PostgresStore::connect(url, PostgresOptions::default()).await;
                let store = Arc::new(store.map_err(|error| cannot_open(config, &error))?);
                let server = store.server_version().await.map_err(|error| cannot_open(config, &error))?;
                let version = format!("PostgreSQL {server}, schema {SCHEMA_VERSION}");
                Ok(Self { version, postgres: Some(store.clone()), ..Self::of(store) })
            }
        }
    }

    fn of<S>(store: Arc<S>) -> Self
    where
        S: RunStore + ExecutionStore + HealthStore + AgentStore + MailStore + WaitStore,
        S: CustomSkillStore
            + HubStore
            + KeyStore
            + PersonStore
            + ScanStore
            + AuditStore
            + TrailStore
            + GenerationStore
            + 'static,
    {
        Self {
            runs: store.clone(),
            executions: store.clone(),
            health: store.clone(),
            agents: store.clone(),
            mail: store.clone(),
            waits: store.clone(),
            catalog: CatalogStore::of(store),
            version: String::new(),
            file: None,
            postgres: None,
        }
    }

    /// Writes something small and durable: says whether the store can be written.
    pub(crate) async fn check_writable(&self) -> Result<(), StoreError> {
        match (&self.file, &self.postgres) {
            (Some(file), _) => file.check_writable().await,
            (None, Some(postgres)) => postgres.check_writable().await,
            (None, None) => self.runs.sync().await,
        }
    }

    /// Returns when the store may have lost what was written last: this process cannot go on then. On PostgreSQL it keeps
    /// that unlikely, as what was written is synced once a second.
    pub(crate) async fn lost(&self) {
        let mut looks = tokio::time::interval(LOOK);
        loop {
            looks.tick().await;
            let is_lost = self.file.as_ref().is_some_and(|file| file.is_lost())
                || self.postgres.as_ref().is_some_and(|postgres| postgres.is_lost());
            if is_lost {
                return;
            }
            if let Some(postgres) = &self.postgres {
                // A server that is away is noticed and told by who needs it.
                let _ = postgres.sync_if_needed().await;
            }
        }
    }

    /// Opens the store if there is one; to look at something makes none.
    pub(crate) async fn open_existing(config: &Config) -> Result<Option<Self>, Failure> {
        match &config.store.value {
            StoreChoice::File(path) if !path.exists() => Ok(None),
            StoreChoice::File(_) | StoreChoice::Postgres(_) => Self::open(config).await.map(Some),
        }
    }
}

fn cannot_open(config: &Config, error: &StoreError) -> Failure {
    let failure = Failure::unavailable(error);
    match error {
        StoreError::Unavailable { .. } => {
            let (place, origin) = (&config.store.value, &config.store.origin);
            failure.hint(format!("the store is `{place}` (from {origin}); `artel doctor` checks it"))
        }
        StoreError::Corrupt { .. } => failure.hint("`artel db check` says what is wrong"),
        StoreError::Full { .. }
        | StoreError::Lost { .. }
        | StoreError::TooNew { .. }
        | StoreError::UnknownCursor { .. } => failure,
    }
}

/// Makes a folder that only its owner can look into, unless there is one.
pub(crate) fn make_private(folder: &Utf8Path) -> Result<(), Failure> {
    if folder.as_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| Failure::missing(format!("cannot make the folder `{folder}`: {error}")))
}
