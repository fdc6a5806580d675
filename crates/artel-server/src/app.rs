//! Everything that handlers use, shared by all of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use artel_agents::{Agents, Office};
use artel_api::plans::PlannerWord;
use artel_engine::planner::Planner;
use artel_engine::{AssetStore, Clock, DataFolders, Engine, Shelves};
use artel_model::catalog::AuditAction;
use artel_store::{
    AgentStore, AuditStore, CustomSkillStore, ExecutionStore, GenerationStore, HealthStore, HubStore,
    KeyStore, MailStore, PersonStore, RunStore, ScanStore, StoreError, TrailStore,
};
use camino::Utf8PathBuf;
use tokio::sync::{Mutex, Semaphore, watch};

use crate::assistant::{Assistant, Conversations};
use crate::audit::audit;
use crate::auth::{Authenticator, Network};
use crate::catalog::{Catalogs, Hubs};
use crate::config::ServerConfig;
use crate::idempotency::Remembered;
use crate::limit::Limits;
use crate::mcp::McpSessions;
use crate::metrics::HttpMeters;
use crate::operations::{Asks, Publishing, Rendered, SettingsRules};
use crate::probe::{Probe, ReadinessLog};
use crate::pulse::Pulse;
use crate::quota_turns::QuotaTurns;
use crate::request_id::RequestIds;
use crate::request_log::RequestLog;
use crate::trail::Trail;

/// What is kept, by noun.
#[derive(Clone)]
pub struct Stores {
    /// Runs.
    pub runs: Arc<dyn RunStore>,
    /// Executions.
    pub executions: Arc<dyn ExecutionStore>,
    /// How well skills do.
    pub health: Arc<dyn HealthStore>,
    /// Agents.
    pub agents: Arc<dyn AgentStore>,
    /// Mailboxes and topics.
    pub mail: Arc<dyn MailStore>,
    /// Skills that people saved.
    pub skills: Arc<dyn CustomSkillStore>,
    /// Hubs.
    pub hubs: Arc<dyn HubStore>,
    /// Keys.
    pub keys: Arc<dyn KeyStore>,
    /// People whom an identity provider knows.
    pub people: Arc<dyn PersonStore>,
    /// Verdicts and findings.
    pub scans: Arc<dyn ScanStore>,
    /// The audit log.
    pub audit: Arc<dyn AuditStore>,
    /// The trails of skills.
    pub trail: Arc<dyn TrailStore>,
    /// The number of the catalog.
    pub generation: Arc<dyn GenerationStore>,
}

/// How runs that are asked for over HTTP go on, when nobody says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct RunSettings {
    /// Milliseconds that one run may take.
    pub deadline_ms: u64,
    /// Milliseconds that making one plan may take.
    pub planning_ms: u64,
    /// Steps of one run that may run at once.
    pub slots: usize,
}

/// Where files lie that runs and agents made, to be removed with them.
#[derive(Clone)]
pub struct Storeroom {
    /// What scripts made.
    pub assets: AssetStore,
    /// The folders that programs of agents work in.
    pub work: Utf8PathBuf,
    /// What scripts keep.
    pub data: DataFolders,
}

/// Who makes plans when somebody is asked for by name; of those who cannot, why.
pub type NamedPlanners = BTreeMap<PlannerWord, Result<Arc<dyn Planner>, String>>;

/// What a server is made of.
pub struct AppParts {
    /// How it behaves.
    pub config: ServerConfig,
    /// What time it is.
    pub clock: Clock,
    /// What is kept.
    pub stores: Stores,
    /// Drives runs.
    pub engine: Engine,
    /// Drives agents.
    pub agents: Agents,
    /// Delivers messages.
    pub office: Office,
    /// Who sees which skills.
    pub shelves: Arc<dyn Shelves>,
    /// The catalog that is served.
    pub catalogs: Catalogs,
    /// Where further skills come from.
    pub hubs: Hubs,
    /// Makes plans of words.
    pub planner: Arc<dyn Planner>,
    /// Those that may be asked for by name.
    pub named_planners: NamedPlanners,
    /// What can be removed with runs and agents.
    pub storeroom: Storeroom,
    /// Answers in the chat; plans are made and run for what is said when there is none.
    pub assistant: Option<Assistant>,
    /// How runs go on.
    pub runs: RunSettings,
    /// Which variables the settings of skills may name.
    pub settings: SettingsRules,
    /// Knows who is calling.
    pub authenticator: Authenticator,
    /// Writes all numbers about this process as Prometheus reads them.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// What must be there for the server to be ready, beside the store.
    pub probes: Vec<Arc<dyn Probe>>,
}

/// Everything that handlers use. Clones are the same.
#[derive(Clone)]
pub struct App {
    shared: Arc<Shared>,
}

/// What can be changed while the server runs.
pub(crate) struct LiveSettings {
    pub(crate) limits: Limits,
    pub(crate) trusted_proxies: Vec<Network>,
    pub(crate) slow_request: Duration,
    pub(crate) publishes_skills: bool,
}

impl LiveSettings {
    fn of(config: &ServerConfig) -> Self {
        Self {
            limits: Limits::new(config),
            trusted_proxies: config.trusted_proxies.clone(),
            slow_request: config.slow_request,
            publishes_skills: config.publishes_skills,
        }
    }
}

struct Shared {
    parts: AppParts,
    /// Whether live streams go on; a stream that never ends would hold up the end of the server.
    closing: watch::Sender<bool>,
    live: ArcSwap<LiveSettings>,
    meters: HttpMeters,
    /// Room for live streams.
    streams: Arc<Semaphore>,
    /// Says when something was written.
    pulse: Pulse,
    asks: Asks,
    conversations: Conversations,
    run_turns: QuotaTurns,
    agent_turns: QuotaTurns,
    publishing: Publishing,
    remembered: Remembered,
    mcp_sessions: McpSessions,
    rendered: Rendered,
    trail: Trail,
    request_ids: RequestIds,
    request_log: RequestLog,
    readiness_log: ReadinessLog,
    /// Held by whoever changes settings or switches: they are files, read and written as a whole.
    operating: Mutex<()>,
    /// Held while a caller changes their own settings.
    changing_personal_settings: Mutex<()>,
}

impl App {
    /// Puts the parts together.
    pub fn new(parts: AppParts) -> Self {
        let shared = Shared {
            closing: watch::Sender::new(false),
            live: ArcSwap::from_pointee(LiveSettings::of(&parts.config)),
            meters: HttpMeters::new(),
            streams: Arc::new(Semaphore::new(parts.config.streams_max)),
            pulse: Pulse::new(parts.stores.runs.clone()),
            asks: Asks::default(),
            conversations: Conversations::default(),
            run_turns: QuotaTurns::default(),
            agent_turns: QuotaTurns::default(),
            publishing: Publishing::default(),
            remembered: Remembered::default(),
            mcp_sessions: McpSessions::default(),
            operating: Mutex::default(),
            changing_personal_settings: Mutex::default(),
            rendered: Rendered::default(),
            trail: Trail::begin(&parts.stores.trail, &parts.catalogs, parts.clock),
            request_ids: RequestIds::new(),
            request_log: RequestLog::new(),
            readiness_log: ReadinessLog::default(),
            parts,
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.shared.parts.config
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.parts.clock
    }

    pub(crate) fn stores(&self) -> &Stores {
        &self.shared.parts.stores
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.shared.parts.engine
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.shared.parts.agents
    }

    pub(crate) fn office(&self) -> &Office {
        &self.shared.parts.office
    }

    pub(crate) fn shelves(&self) -> &dyn Shelves {
        self.shared.parts.shelves.as_ref()
    }

    pub(crate) fn catalogs(&self) -> &Catalogs {
        &self.shared.parts.catalogs
    }

    pub(crate) fn hubs(&self) -> &Hubs {
        &self.shared.parts.hubs
    }

    pub(crate) fn planner(&self) -> &Arc<dyn Planner> {
        &self.shared.parts.planner
    }

    /// Returns where it is noted what happens to skills.
    pub(crate) fn trail(&self) -> &Trail {
        &self.shared.trail
    }

    /// Returns those who may be asked for plans by name.
    pub(crate) fn named_planners(&self) -> &NamedPlanners {
        &self.shared.parts.named_planners
    }

    pub(crate) fn storeroom(&self) -> &Storeroom {
        &self.shared.parts.storeroom
    }

    /// Returns the model that answers in the chat.
    pub(crate) fn assistant(&self) -> Option<&Assistant> {
        self.shared.parts.assistant.as_ref()
    }

    /// Returns what it remembers.
    pub(crate) fn conversations(&self) -> &Conversations {
        &self.shared.conversations
    }

    pub(crate) fn run_settings(&self) -> RunSettings {
        self.shared.parts.runs
    }

    pub(crate) fn settings_rules(&self) -> &SettingsRules {
        &self.shared.parts.settings
    }

    /// Returns what is held while settings or switches are changed.
    pub(crate) fn operating(&self) -> &Mutex<()> {
        &self.shared.operating
    }

    pub(crate) fn changing_personal_settings(&self) -> &Mutex<()> {
        &self.shared.changing_personal_settings
    }

    /// Returns the room for live streams.
    pub(crate) fn streams(&self) -> &Arc<Semaphore> {
        &self.shared.streams
    }

    pub(crate) fn pulse(&self) -> &Pulse {
        &self.shared.pulse
    }

    /// Returns what people asked in words, as long as it is remembered.
    pub(crate) fn asks(&self) -> &Asks {
        &self.shared.asks
    }

    /// Returns whose turn it is to start a run.
    pub(crate) fn run_turns(&self) -> &QuotaTurns {
        &self.shared.run_turns
    }

    /// Returns whose turn it is to spawn an agent.
    pub(crate) fn agent_turns(&self) -> &QuotaTurns {
        &self.shared.agent_turns
    }

    /// Returns what is published at the well-known address, once it was asked for.
    pub(crate) fn publishing(&self) -> &Publishing {
        &self.shared.publishing
    }

    /// Returns what was answered to requests that may be repeated.
    pub(crate) fn remembered(&self) -> &Remembered {
        &self.shared.remembered
    }

    pub(crate) fn mcp_sessions(&self) -> &McpSessions {
        &self.shared.mcp_sessions
    }

    /// Returns the pages of the catalog that were answered before.
    pub(crate) fn rendered(&self) -> &Rendered {
        &self.shared.rendered
    }

    pub(crate) fn request_log(&self) -> &RequestLog {
        &self.shared.request_log
    }

    pub(crate) fn request_ids(&self) -> &RequestIds {
        &self.shared.request_ids
    }

    pub(crate) fn authenticator(&self) -> &Authenticator {
        &self.shared.parts.authenticator
    }

    /// Returns what can be changed while the server runs, as it is at this moment.
    pub(crate) fn live(&self) -> Arc<LiveSettings> {
        self.shared.live.load_full()
    }

    /// Takes over what can be changed while the server runs: limits on requests, trusted proxies, what counts as slow, and
    /// whether skills are published. Requests are counted afresh.
    pub fn reload(&self, config: &ServerConfig) {
        self.shared.live.store(Arc::new(LiveSettings::of(config)));
    }

    /// Writes down what the operator of the machine did to the server itself.
    pub async fn note_operator(&self, subject: &str, summary: &str) -> Result<(), StoreError> {
        let (store, now) = (&*self.stores().audit, self.clock().now());
        let operator = crate::auth::administrator();
        audit(store, now, &operator, None, AuditAction::SettingChanged, subject, summary).await
    }

    pub(crate) fn meters(&self) -> &HttpMeters {
        &self.shared.meters
    }

    pub(crate) fn metrics(&self) -> String {
        (self.shared.parts.metrics)()
    }

    /// Returns what the log was told of readiness.
    pub(crate) fn readiness_log(&self) -> &ReadinessLog {
        &self.shared.readiness_log
    }

    pub(crate) fn probes(&self) -> &[Arc<dyn Probe>] {
        &self.shared.parts.probes
    }

    /// Ends all live streams; clients come back to whoever serves next and miss nothing.
    pub(crate) fn close_streams(&self) {
        self.shared.closing.send_replace(true);
        self.shared.mcp_sessions.close();
    }

    /// Returns when live streams are to end.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.shared.closing.subscribe()
    }
}
