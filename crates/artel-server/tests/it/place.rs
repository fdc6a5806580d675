//! Where the tests take place: a server on loopback with skills in a folder, an engine and agents on a store in memory, and
//! real processes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use artel_agents::{
    Agents, AgentsConfig, AgentsParts, AtLimit, DeadLetterBox, Office, OfficeConfig, OfficeParts,
};
use artel_api::plans::PlannerWord;
use artel_app::operations::SettingsRules;
use artel_app::{
    App, AppParts, ArtifactDirs, CatalogConfig, CatalogParts, CatalogShelves, Catalogs, Hubs, Reread,
    RunSettings, Stores,
};
use artel_bus::{BusConfig, InProcessBus};
use artel_catalog::hub::CredentialsRef;
use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions};
use artel_engine::hub::{HubFetcher, HubFetcherConfig, HubSecrets, HubToken};
use artel_engine::planner::{PatternPlanner, Planner};
use artel_engine::process::{Launcher, LauncherConfig, LauncherProgram, ProcessLimits, can_run_as};
use artel_engine::{
    AssetStore, Clock, DataFolders, Engine, EngineConfig, Grants, OwnEnvironment, SandboxMode, ScriptHands,
    ScriptRules, Shelves,
};
use artel_model::access::Viewer;
use artel_model::agent::{Layer, SpawnLimits};
use artel_model::catalog::{Gate, Severity};
use artel_model::data_scope::SkillOrigin;
use artel_model::quota::Quotas;
use artel_model::setting::EnvAllowList;
use artel_model::user_range::UserRange;
use artel_server::{Authenticator, Http, HttpParts, McpChatTools, Server, ServerConfig};
use artel_store::{MemoryStore, OwnerId};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::client::Client;

/// The administrator's token of every place.
pub(crate) const ADMIN_TOKEN: &str = "Xk2PqL9vRt7WzNb4Hs8JcYd3MfGa6UeT1oQi5KxBwVnE";

/// A server that runs.
pub(crate) struct Place {
    /// Calls the server as its administrator.
    pub(crate) admin: Client,
    pub(crate) address: SocketAddr,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) agents: Agents,
    /// What the server serves.
    pub(crate) catalogs: Catalogs,
    root: TempDir,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

/// What a server of a test is made of.
pub(crate) struct ServerParts {
    pub(crate) app: AppParts,
    pub(crate) http: HttpParts,
}

/// A skill for a test: its name, what its manifest says beside name and version, and its script.
pub(crate) struct TestSkill<'a>(pub(crate) &'a str, pub(crate) Value, pub(crate) &'a str);

/// A script that says that all is well, with `output` as JSON.
pub(crate) fn done(output: &str) -> String {
    format!(r#"echo '{{"version":"0","type":"done","ok":true,"output":{output}}}'"#)
}

/// A script that waits until [`Place::go`], and then says that all is well.
pub(crate) fn done_when_told() -> String {
    format!("until [ -e \"$ARTEL_DATA_DIR/go\" ]; do sleep 0.02; done\n{}", done("{\"waited\":true}"))
}

impl Place {
    /// Opens a place with these skills.
    pub(crate) async fn open(skills: &[TestSkill<'_>]) -> Self {
        Self::open_with(skills, |_| {}).await
    }

    /// Opens a place whose server is configured otherwise.
    pub(crate) async fn open_with(
        skills: &[TestSkill<'_>],
        configure: impl FnOnce(&mut ServerConfig),
    ) -> Self {
        Self::open_with_parts(skills, |mut parts| {
            configure(&mut parts.http.config);
            parts
        })
        .await
    }

    /// Opens a place where each user may have only so much.
    pub(crate) async fn open_with_quotas(skills: &[TestSkill<'_>], quotas: Quotas) -> Self {
        Self::opened(skills, quotas, |mut parts| {
            parts.app.quotas = quotas;
            parts
        })
        .await
    }

    /// Opens a place whose server is made of other parts.
    pub(crate) async fn open_with_parts(
        skills: &[TestSkill<'_>],
        change: impl FnOnce(ServerParts) -> ServerParts,
    ) -> Self {
        Self::opened(skills, Quotas::default(), change).await
    }

    async fn opened(
        skills: &[TestSkill<'_>],
        quotas: Quotas,
        change: impl FnOnce(ServerParts) -> ServerParts,
    ) -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = real(&root);
        for folder in ["skills", "data", "work"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        for TestSkill(name, manifest, script) in skills {
            write_skill(&base.join("skills").join(name), name, manifest, script);
        }
        let store = Arc::new(MemoryStore::new());
        let stores = stores(&store);
        let catalogs = catalogs(&base, &stores, quotas);
        catalogs.refresh(Reread::Folders).await.unwrap();
        let shelves: Arc<dyn Shelves> = Arc::new(CatalogShelves::new(catalogs.clone(), None));
        let program = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-server-launcher"));
        let launcher = Launcher::start(LauncherConfig { program, guard: None }).await.unwrap();
        let engine = engine(&base, &launcher, &store, &shelves);
        let office = office(&store);
        let agents = agents(&store, &engine, &shelves, &office);
        let token = ADMIN_TOKEN.parse().unwrap();
        let (authenticator, _) = Authenticator::open(&stores, Some(&token), String::new).await.unwrap();
        let config =
            ServerConfig { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..ServerConfig::default() };
        let keys = authenticator.keys().clone();
        let app = AppParts {
            quotas: Quotas::default(),
            prompt_skills_max: None,
            publishes_skills: false,
            clock: Clock::system(),
            stores,
            engine,
            agents: agents.clone(),
            office,
            shelves,
            hubs: Some(hubs(&base, &catalogs, launcher)),
            catalogs: catalogs.clone(),
            planner: Arc::new(PatternPlanner),
            named_planners: [(PlannerWord::Pattern, Ok(Arc::new(PatternPlanner) as Arc<dyn Planner>))].into(),
            artifact_dirs: ArtifactDirs {
                assets: AssetStore::new(base.join("assets")),
                work: base.join("agents-work"),
                data: DataFolders::new(&base.join("data")),
            },
            assistant: None,
            runs: RunSettings { deadline_ms: 60_000, planning_ms: 10_000, slots: 4 },
            settings: SettingsRules {
                allowed: EnvAllowList::new(&[] as &[String]),
                environment: Arc::new(NoVariables),
            },
            keys,
            chat_tools: Arc::new(McpChatTools),
            probes: Vec::new(),
        };
        let http = HttpParts { config, authenticator, metrics: Arc::new(String::new) };
        let ServerParts { app, http } = change(ServerParts { app, http });
        let server = Server::bind(Http::new(App::new(app), http)).await.unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        let admin = Client::new(format!("http://{address}"), Some(ADMIN_TOKEN));
        Self { admin, address, store, agents, catalogs, root, stop: Some(stop), serving: Some(serving) }
    }

    /// Returns a path in the place's folder.
    pub(crate) fn path(&self, relative: &str) -> Utf8PathBuf {
        real(&self.root).join(relative)
    }

    /// Lets the script of a skill go on that the administrator started and that waits to be told.
    pub(crate) fn go(&self, skill: &str) {
        let origin = SkillOrigin::default_source(&skill.parse().unwrap());
        let admin = Viewer { user: "admin".parse().unwrap(), teams: [].into() };
        let folder = DataFolders::new(&self.path("data")).of_owner(&origin, Some(&admin));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("go"), "").unwrap();
    }

    /// Returns a client that calls as somebody with a key that has these scopes.
    pub(crate) async fn somebody(&self, user: &str, scopes: &[&str]) -> Client {
        let wish = json!({"label": "test", "owner_user_id": user, "scopes": scopes});
        let made = self.admin.post("/api/catalog-api-keys", wish).await.expect(201);
        self.admin.with(made["key"].as_str())
    }

    /// Returns a client that may do what people usually may.
    pub(crate) async fn person(&self, user: &str) -> Client {
        self.somebody(user, &["catalog:read", "runs:write", "agents:write"]).await
    }

    /// Stops the server and waits until it has ended.
    pub(crate) async fn stop(&mut self) {
        self.stop.take();
        if let Some(serving) = self.serving.take() {
            serving.await.unwrap();
        }
    }
}

/// Returns the real path of a folder.
fn real(folder: &TempDir) -> Utf8PathBuf {
    Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap()
}

fn stores(store: &Arc<MemoryStore>) -> Stores {
    Stores {
        runs: store.clone(),
        executions: store.clone(),
        health: store.clone(),
        agents: store.clone(),
        mail: store.clone(),
        skills: store.clone(),
        hubs: store.clone(),
        keys: store.clone(),
        people: store.clone(),
        scans: store.clone(),
        audit: store.clone(),
        trail: store.clone(),
        generation: store.clone(),
    }
}

/// Makes a catalog that was not read.
pub(crate) fn catalogs(base: &Utf8Path, stores: &Stores, quotas: Quotas) -> Catalogs {
    let root = base.join("skills");
    let load_default = move || {
        Ok(Catalog::load(&CatalogRequest {
            roots: vec![root.clone()],
            options: LoadOptions::from(Keep::Instructions),
            disabled: BTreeSet::new(),
            chosen: Vec::new(),
        }))
    };
    Catalogs::new(CatalogParts {
        config: CatalogConfig {
            quotas,
            shared_data: Vec::new(),
            gate: Gate::Off,
            fail_on: Severity::High,
            check: Duration::from_secs(1),
            data: base.join("data"),
        },
        stores: stores.clone(),
        clock: Clock::system(),
        load_default: Arc::new(load_default),
    })
}

struct NoSecrets;

impl HubSecrets for NoSecrets {
    fn secret(&self, _: &CredentialsRef) -> Option<HubToken> {
        None
    }
}

fn hubs(base: &Utf8Path, catalogs: &Catalogs, launcher: Launcher) -> Hubs {
    let fetcher =
        HubFetcher::new(launcher, HubFetcherConfig::new("/usr/bin/git", base.join("work"))).unwrap();
    Hubs::new(catalogs.clone(), fetcher, Arc::new(NoSecrets), Duration::from_secs(3600))
}

fn engine(
    base: &Utf8Path,
    launcher: &Launcher,
    store: &Arc<MemoryStore>,
    shelves: &Arc<dyn Shelves>,
) -> Engine {
    let assets = AssetStore::new(base.join("assets"));
    let hands = ScriptHands::new(launcher.clone(), shelves.clone(), assets, rules(base));
    let config = EngineConfig {
        node: "node".to_owned(),
        owner: OwnerId("owner".to_owned()),
        processes_max: 4,
        runs_max: 100,
        poll_ms: 20,
        closing_grace_ms: 500,
        kill_grace_ms: 500,
    };
    Engine::start(config, store.clone(), Arc::new(hands), Clock::system()).with_health(store.clone())
}

fn office(store: &Arc<MemoryStore>) -> Office {
    let clock = Clock::system();
    let dead = DeadLetterBox::open(store.clone());
    let bus_clock = artel_bus::Clock::new(move || clock.now());
    let bus = InProcessBus::new(BusConfig { clock: bus_clock, dead_letters: Arc::new(dead.clone()) });
    let parts = OfficeParts {
        mail: store.clone(),
        waits: store.clone(),
        agents: store.clone(),
        runs: store.clone(),
        bus: Arc::new(bus),
        clock,
    };
    Office::with_dead_letters(OfficeConfig { poll_ms: 20, ..OfficeConfig::default() }, parts, dead)
}

fn agents(store: &Arc<MemoryStore>, engine: &Engine, shelves: &Arc<dyn Shelves>, office: &Office) -> Agents {
    let config = AgentsConfig {
        owner: OwnerId("owner".to_owned()),
        agents_max: 100,
        at_limit: AtLimit::Reject,
        limits: SpawnLimits::default(),
        default: Layer::configured(&["*".parse().unwrap()], &[]),
        clients: Vec::new(),
        deadline_ms: 60_000,
        slots: 2,
        poll_ms: 20,
        grace_ms: 2000,
    };
    let parts = AgentsParts {
        stores: artel_agents::Stores { agents: store.clone(), runs: store.clone() },
        engine: engine.clone(),
        is_alive: Arc::new(|_| true),
        shelves: shelves.clone(),
        planner: Arc::new(PatternPlanner),
        roles: Arc::new(()),
        llm: None,
        command: None,
        announce: Arc::new(office.clone()),
        clock: Clock::system(),
    };
    Agents::new(config, parts)
}

fn write_skill(folder: &Utf8Path, name: &str, manifest: &Value, script: &str) {
    fs::create_dir_all(folder.join("scripts")).unwrap();
    fs::create_dir_all(folder.join("data")).unwrap();
    let mut document = manifest.as_object().cloned().unwrap_or_default();
    document.insert("name".to_owned(), name.into());
    document.insert("version".to_owned(), "1.0.0".into());
    document.entry("description").or_insert_with(|| "A test.".into());
    if !script.is_empty() {
        document.entry("entrypoint").or_insert_with(|| "run".into());
        let file = folder.join("scripts/run");
        fs::write(&file, format!("#!/bin/bash\n{script}\n")).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(folder.join("skill.json"), serde_json::to_string_pretty(&document).unwrap()).unwrap();
}

#[derive(Debug)]
struct NoVariables;

impl OwnEnvironment for NoVariables {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

fn rules(base: &Utf8Path) -> ScriptRules {
    ScriptRules {
        sandbox: SandboxMode::Enforce,
        users: can_run_as(1_900_000_000..=1_900_999_999).ok().map(|()| UserRange::USUAL),
        limits: ProcessLimits {
            cpu_s: 60,
            memory_bytes: 512 << 20,
            open_files: 256,
            processes: 64,
            file_bytes: 64 << 20,
            folder_bytes: 256 << 20,
        },
        grants: Grants::default(),
        grace_ms: 500,
        data_bytes_max: 4 << 20,
        data: base.join("data"),
        work_folder: base.join("work"),
        path: Vec::new(),
        settings_env: EnvAllowList::new(&[] as &[String]),
        environment: Arc::new(NoVariables),
    }
}
