//! How the tests let agents work: skills in a folder, an engine and agents on a store in memory, and real processes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex, PoisonError};

use artel_agents::{
    Agents, AgentsConfig, AgentsParts, Announce, AtLimit, SpawnCaller, SpawnFailed, Spawned, Stores,
    WorkDriver,
};
use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions};
use artel_engine::planner::PatternPlanner;
use artel_engine::process::{Launcher, LauncherConfig, LauncherProgram, ProcessLimits};
use artel_engine::{
    AssetStore, Clock, DataFolders, Engine, EngineConfig, Grants, OneShelf, OwnEnvironment, SandboxMode,
    ScriptHands, ScriptRules, Shelves, SkillShelf,
};
use artel_model::access::{UserId, Viewer};
use artel_model::agent::{AgentRecord, AgentState, CallOrigin, Cause, Layer, SpawnLimits, SpawnRequest};
use artel_model::data_scope::SkillOrigin;
use artel_model::id::{AgentId, RunId};
use artel_model::message::{Address, Message, MessageDraft};
use artel_model::plan::resolve_text;
use artel_model::run::{Deadlines, Run, RunEvent, StampedEvent, Submission, SubmissionKind};
use artel_model::setting::EnvAllowList;
use artel_model::skill::SkillPin;
use artel_store::{MemoryStore, NewRun, OwnerId, RunStore as _};
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// Agents with skills of their own.
pub(crate) struct Workplace {
    pub(crate) agents: Agents,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) heard: Arc<Heard>,
    engine: Engine,
    config: AgentsConfig,
    parts: AgentsParts,
    root: TempDir,
    shelves: Arc<Everybodys>,
}

/// A shelf for everybody, and one for each user who has skills of their own.
struct Everybodys {
    common: OneShelf,
    own: Mutex<BTreeMap<UserId, OneShelf>>,
}

impl Shelves for Everybodys {
    fn shelf(&self, viewer: Option<&Viewer>) -> Arc<SkillShelf> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let of_viewer = viewer.and_then(|viewer| own.get(&viewer.user));
        of_viewer.unwrap_or(&self.common).shelf(viewer)
    }

    fn holding(&self, skill: &SkillPin, content_hash: &str) -> Option<Arc<SkillShelf>> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shelves = std::iter::once(&self.common).chain(own.values());
        shelves.find_map(|shelf| shelf.holding(skill, content_hash))
    }
}

/// Returns somebody who looks at skills.
pub(crate) fn viewer(user: &str) -> Viewer {
    Viewer { user: user.parse().unwrap(), teams: BTreeSet::new() }
}

/// A skill for a test: its name, what its manifest says beside name and version, and its script.
pub(crate) struct TestSkill<'a>(pub(crate) &'a str, pub(crate) Value, pub(crate) &'a str);

/// A script that says that all is well, with `output` as JSON.
pub(crate) fn done(output: &str) -> String {
    format!(r#"echo '{{"version":"0","type":"done","ok":true,"output":{output}}}'"#)
}

/// What was announced and sent.
#[derive(Default)]
pub(crate) struct Heard {
    events: Mutex<Vec<Message>>,
    sent: Mutex<Vec<MessageDraft>>,
}

impl Heard {
    /// Returns the topics of what was announced, without those about agents, and the payloads.
    pub(crate) fn events(&self) -> Vec<(String, Value)> {
        let events = self.events.lock().unwrap();
        let told = events.iter().filter_map(|event| match &event.address {
            Address::Topic(topic) if !topic.as_str().starts_with("agents.") => {
                Some((topic.to_string(), Value::Object(event.payload.object().clone())))
            }
            Address::Topic(_) | Address::Agent(_) | Address::Broadcast => None,
        });
        told.collect()
    }

    pub(crate) fn sent(&self) -> Vec<MessageDraft> {
        self.sent.lock().unwrap().clone()
    }
}

#[async_trait]
impl Announce for Heard {
    async fn announce(&self, event: Message) {
        self.events.lock().unwrap().push(event);
    }

    async fn send(&self, draft: MessageDraft) -> Result<Message, String> {
        self.sent.lock().unwrap().push(draft.clone());
        let id = artel_model::id::MessageId(uuid::Uuid::new_v4());
        Ok(draft.send(id, Clock::system().now()))
    }
}

#[derive(Debug)]
struct NoVariables;

impl OwnEnvironment for NoVariables {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

impl Workplace {
    /// Makes skills, and agents that may use them.
    pub(crate) async fn new(skills: &[TestSkill<'_>]) -> Self {
        Self::with(skills, |_| {}, |_, _| {}).await
    }

    /// Makes agents with another configuration and other drivers.
    pub(crate) async fn with(
        skills: &[TestSkill<'_>],
        configure: impl FnOnce(&mut AgentsConfig),
        equip: impl FnOnce(&mut AgentsParts, &Launcher),
    ) -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(root.path().canonicalize().unwrap()).unwrap();
        for folder in ["skills", "data", "work"] {
            fs::create_dir(base.join(folder)).unwrap();
        }
        for TestSkill(name, manifest, script) in skills {
            write_skill(&base.join("skills").join(name), name, manifest, script);
        }
        let common = OneShelf::new(shelf(&base, &["skills".to_owned()]));
        let shelves = Arc::new(Everybodys { common, own: Mutex::default() });
        let launcher = launcher().await;
        let assets = AssetStore::new(base.join("assets"));
        let hands = ScriptHands::new(launcher.clone(), shelves.clone(), assets, rules(&base));
        let store = Arc::new(MemoryStore::default());
        let engine = Engine::start(engine_config(), store.clone(), Arc::new(hands), Clock::system());
        let heard = Arc::new(Heard::default());
        let mut parts = AgentsParts {
            stores: Stores { agents: store.clone(), runs: store.clone() },
            engine: engine.clone(),
            is_alive: Arc::new(|owner: &OwnerId| owner.0 != "dead"),
            shelves: shelves.clone(),
            planner: Arc::new(PatternPlanner),
            roles: Arc::new(()),
            llm: None,
            command: None,
            announce: heard.clone(),
            clock: Clock::system(),
        };
        equip(&mut parts, &launcher);
        let mut config = config();
        configure(&mut config);
        let agents = Agents::new(config.clone(), parts.clone());
        Self { agents, store, heard, engine, config, parts, root, shelves }
    }

    /// Gives a user skills of their own, in place of those they had, beside those of everybody. They lie in a folder that
    /// nobody had before.
    pub(crate) fn give(&self, user: &str, skills: &[TestSkill<'_>]) {
        let mut own = self.shelves.own.lock().unwrap();
        let folder = format!("skills-{}", uuid::Uuid::new_v4());
        for TestSkill(name, manifest, script) in skills {
            write_skill(&self.path(&folder).join(name), name, manifest, script);
        }
        let shelf = shelf(&self.path(""), &["skills".to_owned(), folder]);
        match own.get(&user.parse().unwrap()) {
            Some(known) => known.replace(shelf),
            None => drop(own.insert(user.parse().unwrap(), OneShelf::new(shelf))),
        }
    }

    /// Leaves a run of an agent behind, as a process does that died when it had just begun it.
    pub(crate) async fn leave_run(&self, agent: AgentId, skill: &str) -> RunId {
        let tool = serde_json::json!({"toolId": "a", "skill": skill});
        let plan = serde_json::json!({"requestId": "123e4567-e89b-42d3-a456-426614174000", "tools": [tool]});
        let submission = Submission {
            kind: SubmissionKind::Plan,
            plan: resolve_text(&plan.to_string(), &*self.shelves.shelf(None)).unwrap(),
            state: Map::new(),
            deadlines: Deadlines { run_ms: 60_000 },
            slots: 1,
            agent: Some(agent),
            policy: None,
            viewer: None,
            trace_parent: None,
        };
        let (id, at) = (RunId(uuid::Uuid::now_v7()), Clock::system().now());
        let event = RunEvent::Submitted(Box::new(submission.clone()));
        let new = NewRun {
            summary: Run::begin(id, submission, at).0.summary(),
            events: vec![StampedEvent { at, event }],
            owner: Some(OwnerId("dead".to_owned())),
            idempotency_key: None,
        };
        self.store.create(new).await.unwrap();
        id
    }

    /// Makes the folder of the data that the scripts of a skill see in runs of an owner, and returns it.
    pub(crate) fn data_of(&self, skill: &str, owner: Option<&Viewer>) -> Utf8PathBuf {
        let origin = SkillOrigin::default_source(&skill.parse().unwrap());
        let folder = DataFolders::new(&self.path("data")).of_owner(&origin, owner);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Makes further agents on the same store, as another process would.
    pub(crate) fn another(&self, owner: &str) -> Agents {
        let owner = OwnerId(owner.to_owned());
        Agents::new(AgentsConfig { owner, ..self.config.clone() }, self.parts.clone())
    }

    pub(crate) fn path(&self, relative: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.root.path()).unwrap().join(relative)
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) async fn try_spawn(&self, request: Value) -> Result<Spawned, SpawnFailed> {
        self.try_spawn_as(None, request).await
    }

    /// Spawns an agent that sees what somebody sees.
    pub(crate) async fn try_spawn_as(
        &self,
        viewer: Option<&Viewer>,
        request: Value,
    ) -> Result<Spawned, SpawnFailed> {
        let request = SpawnRequest::read(request.as_object().unwrap()).unwrap();
        let caller = SpawnCaller { viewer, origin: CallOrigin::Local };
        self.agents.spawn(&request, caller, cause()).await
    }

    pub(crate) async fn spawn(&self, request: Value) -> AgentRecord {
        self.try_spawn(request).await.unwrap().record
    }

    /// Spawns an agent and waits for the end of its work.
    pub(crate) async fn run(&self, request: Value) -> AgentRecord {
        let id = self.spawn(request).await.agent_id;
        self.agents.wait(id).await.unwrap().unwrap()
    }

    pub(crate) async fn state(&self, id: AgentId) -> AgentState {
        self.record(id).await.state()
    }

    pub(crate) async fn record(&self, id: AgentId) -> AgentRecord {
        self.agents.agent(id).await.unwrap().unwrap().record
    }

    pub(crate) async fn execute(
        &self,
        id: AgentId,
        tool: &str,
        params: Value,
    ) -> Result<Value, (String, String)> {
        let Value::Object(params) = params else { panic!("an object") };
        let called = self.agents.execute(id, tool, params, cause()).await;
        called.map(Value::Object).map_err(|error| (error.code().to_owned(), error.to_string()))
    }

    /// Returns the causes of what happened to an agent, in order: `event by why`.
    pub(crate) async fn history(&self, id: AgentId) -> Vec<String> {
        let events = self.agents.events(id, artel_store::Revision(0), 1000).await.unwrap();
        let told = events.iter().map(|logged| {
            let event = serde_json::to_value(&logged.event.event).unwrap();
            let by = event["cause"]["by"].as_str().unwrap_or_default();
            format!("{} {by}", event["type"].as_str().unwrap()).trim_end().to_owned()
        });
        told.collect()
    }
}

pub(crate) fn cause() -> Cause {
    Cause::by("somebody")
}

/// Returns the results of an agent as an object.
pub(crate) fn results(record: &AgentRecord) -> Value {
    Value::Object(Map::from_iter(
        record.results.iter().map(|entry| (entry.name.clone(), entry.value.clone())),
    ))
}

fn config() -> AgentsConfig {
    AgentsConfig {
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
    }
}

fn shelf(base: &Utf8Path, folders: &[String]) -> Arc<SkillShelf> {
    let catalog = Catalog::load(&CatalogRequest {
        roots: folders.iter().map(|folder| base.join(folder)).collect(),
        options: LoadOptions::from(Keep::Descriptions),
        disabled: BTreeSet::new(),
        chosen: Vec::new(),
    });
    Arc::new(SkillShelf::new(catalog, Vec::new(), base.to_owned(), base.join("data")))
}

fn write_skill(folder: &Utf8Path, name: &str, manifest: &Value, script: &str) {
    fs::create_dir_all(folder.join("scripts")).unwrap();
    fs::create_dir(folder.join("data")).unwrap();
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

/// Starts a launcher.
pub(crate) async fn launcher() -> Launcher {
    let program = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-agents-launcher"));
    Launcher::start(LauncherConfig { program, guard: None }).await.unwrap()
}

fn limits() -> ProcessLimits {
    ProcessLimits {
        cpu_s: 60,
        memory_bytes: 512 << 20,
        open_files: 256,
        processes: 64,
        file_bytes: 64 << 20,
        folder_bytes: 256 << 20,
    }
}

fn rules(base: &Utf8Path) -> ScriptRules {
    ScriptRules {
        sandbox: SandboxMode::Enforce,
        users: None,
        limits: limits(),
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

fn engine_config() -> EngineConfig {
    EngineConfig {
        node: "node".to_owned(),
        owner: OwnerId("owner".to_owned()),
        processes_max: 4,
        runs_max: 100,
        poll_ms: 20,
        closing_grace_ms: 500,
        kill_grace_ms: 500,
    }
}

/// Gives a driver a name that the parts understand.
pub(crate) fn driver(driver: impl WorkDriver + 'static) -> Option<Arc<dyn WorkDriver>> {
    Some(Arc::new(driver))
}
