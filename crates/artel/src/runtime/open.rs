//! A place where runs are driven: the store, a lock that says we are alive, the launcher, hands, the engine.

use std::sync::Arc;

use artel_agents::IsAlive;
use artel_app::operations::SettingsRules;
use artel_engine::process::{Launcher, LauncherConfig, LauncherProgram, ProcessMark, end_orphans};
use artel_engine::{
    AssetStore, Clock, Engine, EngineConfig, Grants, OneShelf, OwnEnvironment, OwnerLock, ScriptHands,
    ScriptRules, Shelves, gone, keep_files_private, make_private_folder, remove_folder,
};
use artel_model::run::Origin;
use artel_model::setting::EnvAllowList;
use artel_model::tool::Glob;
use artel_store::OwnerId;
use camino::{Utf8Path, Utf8PathBuf};

use super::owners::{owners, tenancy};
use super::shelf::{Shelf, absolute};
use super::store::{Store, make_private};
use super::users::sandbox_users;
use crate::command::Context;
use crate::config::{Config, Environment};
use crate::failure::Failure;

/// How often to look for what other processes wrote, in milliseconds.
pub(super) const POLL_MS: u64 = 25;
/// The folder for what attempts work on, inside the data folder.
const WORK: &str = "work";
/// The folder for what scripts made and is kept, inside the data folder.
pub(super) const ASSETS: &str = "assets";

/// Returns the program that starts processes: this one.
pub(crate) fn launcher_program(config: &Config) -> LauncherProgram {
    LauncherProgram::this_program().with_cgroup(&config.cgroup.value)
}

/// A place where runs are driven.
pub(crate) struct Runtime {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) launcher: Launcher,
    hands: ScriptHands,
    shelves: Arc<dyn Shelves>,
    work: Utf8PathBuf,
    data: Utf8PathBuf,
    is_alive: IsAlive,
    // Dropped last: as long as it is there, nobody else takes our runs.
    lock: OwnerLock,
}

impl Runtime {
    /// Opens a runtime with the skills on a shelf.
    pub(crate) async fn open(context: Context<'_>, shelf: Shelf) -> Result<Self, Failure> {
        let shelves = Arc::new(OneShelf::new(shelf.skills.clone()));
        let closing_grace_ms = context.config.run.value.grace_ms;
        Self::open_on(context, shelf, shelves, closing_grace_ms).await
    }

    /// Opens a runtime for viewers who see something else than what is on the shelf. When it closes, running steps may go on
    /// for `closing_grace_ms`.
    pub(super) async fn open_on(
        context: Context<'_>,
        shelf: Shelf,
        shelves: Arc<dyn Shelves>,
        closing_grace_ms: u64,
    ) -> Result<Self, Failure> {
        let config = context.config;
        let data = absolute(&config.data.value)?;
        keep_files_private();
        make_private_folder(&data)
            .map_err(|error| Failure::missing(format!("cannot make the folder `{data}`: {error}")))?;
        let lock = OwnerLock::take(&data, tenancy(config)?).map_err(|error| Failure::unavailable(&error))?;
        let guard =
            lock.guard().map_err(|error| Failure::missing(format!("cannot keep the lock: {error}")))?;
        let mark = ProcessMark::of_owner(&lock.id().0);
        // Before anything is started again, what an owner that was killed left running has to end.
        if !gone(&data, &data.join(WORK)).is_empty() {
            let ended = end_orphans(mark);
            if ended > 0 {
                tracing::warn!(processes = ended, "ended processes that outlived artel and its launcher");
            }
        }
        // The launcher becomes ready while the store is opened.
        let launcher = tokio::spawn(Launcher::start(LauncherConfig {
            program: launcher_program(config).with_mark(mark),
            guard: Some(guard),
        }));
        let store = match shelf.store {
            Some(store) => store,
            None => Store::open(config).await?,
        };
        let is_alive = owners(config)?;
        let work = make_work_folder(&data, lock.id())?;
        let launcher = launcher.await.expect("starting a launcher does not panic");
        let launcher = launcher.map_err(|error| Failure::unavailable(&error))?;
        let hands = ScriptHands::new(
            launcher.clone(),
            shelves.clone(),
            AssetStore::new(data.join(ASSETS)),
            rules(config, data.clone(), work.clone())?,
        );
        #[cfg(debug_assertions)]
        let runs = super::crash_injection::crash_injection(store.runs.clone(), &config.environment);
        #[cfg(not(debug_assertions))]
        let runs = store.runs.clone();
        let engine = Engine::start(
            EngineConfig { closing_grace_ms, ..engine_config(config, lock.id().clone()) },
            runs,
            Arc::new(hands.clone()),
            Clock::system(),
        );
        let engine = engine.with_health(store.health.clone());
        Ok(Self { engine, store, launcher, hands, shelves, work, data, is_alive, lock })
    }

    /// Returns who drives what is begun here.
    pub(super) fn owner(&self) -> &OwnerId {
        self.lock.id()
    }

    /// Returns the skills, as whoever works here sees them.
    pub(super) fn shelves(&self) -> Arc<dyn Shelves> {
        self.shelves.clone()
    }

    /// Returns the folder for what is worked on here.
    pub(super) fn work(&self) -> &Utf8Path {
        &self.work
    }

    /// Returns artel's data folder.
    pub(super) fn data(&self) -> &Utf8Path {
        &self.data
    }

    /// Returns who is alive.
    pub(crate) fn owners(&self) -> IsAlive {
        self.is_alive.clone()
    }

    /// Says whether somebody alive drives the runs of an owner.
    pub(crate) fn is_alive(&self, owner: &OwnerId) -> bool {
        (self.is_alive)(owner)
    }

    /// Tidies up. What still runs is ended, and can be recovered.
    pub(crate) async fn close(self) {
        self.engine.close().await;
        self.hands.tidied().await;
        // What is left there is removed by whoever comes next.
        let _ = remove_folder(&self.work);
        if !self.engine.has_runs() {
            self.lock.remove();
        }
    }
}

/// Makes a folder for the attempts of this process, and removes those of processes that are gone.
fn make_work_folder(data: &Utf8Path, owner: &OwnerId) -> Result<Utf8PathBuf, Failure> {
    let all = data.join(WORK);
    for left in gone(data, &all) {
        // It may be removed by somebody else at the same time.
        let _ = remove_folder(&left);
    }
    let own = all.join(&owner.0);
    make_private(&own)?;
    own.canonicalize_utf8().map_err(|error| Failure::missing(format!("cannot find `{own}`: {error}")))
}

pub(super) fn engine_config(config: &Config, owner: OwnerId) -> EngineConfig {
    let run = config.run.value;
    EngineConfig {
        node: node(),
        owner,
        processes_max: run.processes,
        runs_max: run.runs,
        poll_ms: POLL_MS,
        closing_grace_ms: run.grace_ms,
        kill_grace_ms: run.grace_ms,
    }
}

/// Returns the machine's name, for records.
fn node() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "local".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns who gives commands here.
pub(crate) fn person(environment: &Environment) -> Origin {
    Origin(environment.get("USER").unwrap_or("cli").to_owned())
}

fn rules(config: &Config, data: Utf8PathBuf, work_folder: Utf8PathBuf) -> Result<ScriptRules, Failure> {
    let grants = &config.grants.value;
    let globs = |texts: &[String]| texts.iter().map(|text| Glob::new(text)).collect();
    Ok(ScriptRules {
        sandbox: config.sandbox.value,
        users: sandbox_users(config)?,
        limits: config.script_limits.value,
        grants: Grants {
            network: globs(&grants.network),
            read: grants.read.clone(),
            write: grants.write.clone(),
            env: globs(&grants.env),
            shared_data: grants.shared_data.clone(),
        },
        grace_ms: config.run.value.grace_ms,
        data_bytes_max: config.quotas.value.each.data_bytes,
        data,
        work_folder,
        path: grants.path.clone(),
        settings_env: EnvAllowList::new(&config.skill_env.value),
        environment: Arc::new(Variables(config.environment.clone())),
    })
}

/// The environment that artel was started with.
#[derive(Debug)]
struct Variables(Environment);

impl OwnEnvironment for Variables {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).map(str::to_owned)
    }
}

/// Returns which variables the settings of skills may name.
pub(crate) fn settings_rules(config: &Config) -> SettingsRules {
    SettingsRules {
        allowed: EnvAllowList::new(&config.skill_env.value),
        environment: Arc::new(Variables(config.environment.clone())),
    }
}
