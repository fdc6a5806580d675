//! Everything that operations use, shared by all of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use artel_agents::{Agents, Office};
use artel_api::plans::PlannerWord;
use artel_engine::planner::Planner;
use artel_engine::{AssetStore, Clock, DataFolders, Engine, Shelves};
use artel_model::access::Principal;
use artel_model::catalog::AuditAction;
use artel_model::quota::Quotas;
use artel_store::{
    AgentStore, AuditStore, CustomSkillStore, ExecutionStore, GenerationStore, HealthStore, HubStore,
    KeyStore, MailStore, PersonStore, RunStore, ScanStore, StoreError, TrailStore,
};
use camino::Utf8PathBuf;
use tokio::sync::{Mutex, watch};

use crate::assistant::{Assistant, ChatTools, Conversations};
use crate::audit::audit;
use crate::catalog::{Catalogs, Hubs};
use crate::error::OperationError;
use crate::idempotency::Remembered;
use crate::keys::KeyRing;
use crate::operations::{Asks, Publishing, Rendered, SettingsRules};
use crate::poller::Poller;
use crate::probe::{Probe, ReadinessLog};
use crate::quota_turns::QuotaTurns;
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
pub struct ArtifactDirs {
    /// What scripts made.
    pub assets: AssetStore,
    /// The folders that programs of agents work in.
    pub work: Utf8PathBuf,
    /// What scripts keep.
    pub data: DataFolders,
}

/// Who makes plans when somebody is asked for by name; of those who cannot, why.
pub type NamedPlanners = BTreeMap<PlannerWord, Result<Arc<dyn Planner>, String>>;

/// What the application is made of.
pub struct AppParts {
    /// How much each user may have of what is kept and what runs.
    pub quotas: Quotas,
    /// Skills that an MCP client is told about as tools or prompts, each by priority; all within the usual limits when absent.
    pub prompt_skills_max: Option<usize>,
    /// Whether everyone, without a credential, may fetch the skills that every caller sees.
    pub publishes_skills: bool,
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
    /// Where further skills come from; nothing in a process that fetches no hubs.
    pub hubs: Option<Hubs>,
    /// Makes plans of words.
    pub planner: Arc<dyn Planner>,
    /// Those that may be asked for by name.
    pub named_planners: NamedPlanners,
    /// What can be removed with runs and agents.
    pub artifact_dirs: ArtifactDirs,
    /// Answers in the chat; plans are made and run for what is said when there is none.
    pub assistant: Option<Assistant>,
    /// How runs go on.
    pub runs: RunSettings,
    /// Which variables the settings of skills may name.
    pub settings: SettingsRules,
    /// Makes and proves API keys.
    pub keys: KeyRing,
    /// The tools that the assistant behind the chat calls.
    pub chat_tools: Arc<dyn ChatTools>,
    /// What must be there for the application to be ready, beside the store.
    pub probes: Vec<Arc<dyn Probe>>,
}

/// The application. Clones are the same.
#[derive(Clone)]
pub struct App {
    shared: Arc<Shared>,
}

struct Shared {
    parts: AppParts,
    publishes_skills: AtomicBool,
    /// Whether what is followed live is to end; a stream that never ends would hold up the end of the process.
    closing: watch::Sender<bool>,
    /// Says when something was written.
    poller: Poller,
    asks: Asks,
    conversations: Conversations,
    run_turns: QuotaTurns,
    agent_turns: QuotaTurns,
    publishing: Publishing,
    remembered: Remembered,
    rendered: Rendered,
    trail: Trail,
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
            publishes_skills: AtomicBool::new(parts.publishes_skills),
            poller: Poller::new(parts.stores.runs.clone()),
            asks: Asks::default(),
            conversations: Conversations::default(),
            run_turns: QuotaTurns::default(),
            agent_turns: QuotaTurns::default(),
            publishing: Publishing::default(),
            remembered: Remembered::default(),
            operating: Mutex::default(),
            changing_personal_settings: Mutex::default(),
            rendered: Rendered::default(),
            trail: Trail::begin(&parts.stores.trail, &parts.catalogs, parts.clock),
            readiness_log: ReadinessLog::default(),
            parts,
        };
        Self { shared: Arc::new(shared) }
    }

    pub fn quotas(&self) -> Quotas {
        self.shared.parts.quotas
    }

    /// Returns how many skills an MCP client is told about.
    pub fn prompt_skills_max(&self) -> Option<usize> {
        self.shared.parts.prompt_skills_max
    }

    /// Returns who makes and proves API keys.
    pub fn keys(&self) -> &KeyRing {
        &self.shared.parts.keys
    }

    /// Returns the tools that the assistant behind the chat calls.
    pub fn chat_tools(&self) -> &Arc<dyn ChatTools> {
        &self.shared.parts.chat_tools
    }

    /// Returns whether everyone may fetch the skills that every caller sees.
    pub fn publishes_skills(&self) -> bool {
        self.shared.publishes_skills.load(Ordering::Relaxed)
    }

    /// Says from now on whether everyone may fetch the skills that every caller sees.
    pub fn publish_skills(&self, publishes: bool) {
        self.shared.publishes_skills.store(publishes, Ordering::Relaxed);
    }

    pub fn clock(&self) -> &Clock {
        &self.shared.parts.clock
    }

    pub fn stores(&self) -> &Stores {
        &self.shared.parts.stores
    }

    pub fn engine(&self) -> &Engine {
        &self.shared.parts.engine
    }

    pub fn agents(&self) -> &Agents {
        &self.shared.parts.agents
    }

    pub fn office(&self) -> &Office {
        &self.shared.parts.office
    }

    pub fn shelves(&self) -> &dyn Shelves {
        self.shared.parts.shelves.as_ref()
    }

    pub fn catalogs(&self) -> &Catalogs {
        &self.shared.parts.catalogs
    }

    /// Returns where further skills come from.
    pub fn hubs(&self) -> Result<&Hubs, OperationError> {
        let hubs = self.shared.parts.hubs.as_ref();
        hubs.ok_or_else(|| OperationError::unavailable("hubs_unavailable", "This process fetches no hubs."))
    }

    pub fn planner(&self) -> &Arc<dyn Planner> {
        &self.shared.parts.planner
    }

    /// Returns where it is noted what happens to skills.
    pub fn trail(&self) -> &Trail {
        &self.shared.trail
    }

    /// Returns those who may be asked for plans by name.
    pub fn named_planners(&self) -> &NamedPlanners {
        &self.shared.parts.named_planners
    }

    pub fn artifact_dirs(&self) -> &ArtifactDirs {
        &self.shared.parts.artifact_dirs
    }

    /// Returns the model that answers in the chat.
    pub fn assistant(&self) -> Option<&Assistant> {
        self.shared.parts.assistant.as_ref()
    }

    /// Returns what it remembers.
    pub fn conversations(&self) -> &Conversations {
        &self.shared.conversations
    }

    pub fn run_settings(&self) -> RunSettings {
        self.shared.parts.runs
    }

    pub fn settings_rules(&self) -> &SettingsRules {
        &self.shared.parts.settings
    }

    /// Returns what is held while settings or switches are changed.
    pub fn operating(&self) -> &Mutex<()> {
        &self.shared.operating
    }

    pub fn changing_personal_settings(&self) -> &Mutex<()> {
        &self.shared.changing_personal_settings
    }

    pub fn poller(&self) -> &Poller {
        &self.shared.poller
    }

    /// Returns what people asked in words, as long as it is remembered.
    pub fn asks(&self) -> &Asks {
        &self.shared.asks
    }

    /// Returns whose turn it is to start a run.
    pub fn run_turns(&self) -> &QuotaTurns {
        &self.shared.run_turns
    }

    /// Returns whose turn it is to spawn an agent.
    pub fn agent_turns(&self) -> &QuotaTurns {
        &self.shared.agent_turns
    }

    /// Returns what is published at the well-known address, once it was asked for.
    pub fn publishing(&self) -> &Publishing {
        &self.shared.publishing
    }

    /// Returns what was answered to requests that may be repeated.
    pub fn remembered(&self) -> &Remembered {
        &self.shared.remembered
    }

    /// Returns the pages of the catalog that were answered before.
    pub fn rendered(&self) -> &Rendered {
        &self.shared.rendered
    }

    /// Writes down what the operator of the machine did to the server itself.
    pub async fn note_operator(&self, subject: &str, summary: &str) -> Result<(), StoreError> {
        let (store, now) = (&*self.stores().audit, self.clock().now());
        let operator = Principal::administrator();
        audit(store, now, &operator, None, AuditAction::SettingChanged, subject, summary).await
    }

    /// Returns what the log was told of readiness.
    pub fn readiness_log(&self) -> &ReadinessLog {
        &self.shared.readiness_log
    }

    pub fn probes(&self) -> &[Arc<dyn Probe>] {
        &self.shared.parts.probes
    }

    /// Ends everything that is followed live; readers come back to the next process and miss nothing.
    pub fn close_streams(&self) {
        self.shared.closing.send_replace(true);
    }

    /// Returns when what is followed live is to end.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.shared.closing.subscribe()
    }
}
