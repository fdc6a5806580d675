//! Everything that handlers use, shared by all of them.

use std::sync::Arc;

use artel_agents::{Agents, Office};
use artel_engine::planner::Planner;
use artel_engine::{Clock, Engine, Shelves};
use artel_store::{
    AgentStore, AuditStore, CustomSkillStore, ExecutionStore, GenerationStore, HealthStore, HubStore,
    KeyStore, MailStore, RunStore, ScanStore,
};
use tokio::sync::{Semaphore, watch};

use crate::auth::Authenticator;
use crate::catalog::{Catalogs, Hubs};
use crate::config::ServerConfig;
use crate::idempotency::Remembered;
use crate::limit::Limits;
use crate::mcp::McpSessions;
use crate::metrics::HttpMeters;
use crate::operations::{Asks, Publishing};
use crate::probe::Probe;
use crate::pulse::Pulse;

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
    /// Verdicts and findings.
    pub scans: Arc<dyn ScanStore>,
    /// The audit log.
    pub audit: Arc<dyn AuditStore>,
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
    /// How runs go on.
    pub runs: RunSettings,
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

struct Shared {
    parts: AppParts,
    /// Whether live streams go on; a stream that never ends would hold up the end of the server.
    closing: watch::Sender<bool>,
    limits: Limits,
    meters: HttpMeters,
    /// Room for live streams.
    streams: Arc<Semaphore>,
    /// Says when something was written.
    pulse: Pulse,
    asks: Asks,
    publishing: Publishing,
    remembered: Remembered,
    mcp_sessions: McpSessions,
}

impl App {
    /// Puts the parts together.
    pub fn new(parts: AppParts) -> Self {
        let shared = Shared {
            closing: watch::Sender::new(false),
            limits: Limits::new(&parts.config),
            meters: HttpMeters::new(),
            streams: Arc::new(Semaphore::new(parts.config.streams_max)),
            pulse: Pulse::new(parts.stores.runs.clone()),
            asks: Asks::default(),
            publishing: Publishing::default(),
            remembered: Remembered::default(),
            mcp_sessions: McpSessions::default(),
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

    pub(crate) fn run_settings(&self) -> RunSettings {
        self.shared.parts.runs
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

    pub(crate) fn authenticator(&self) -> &Authenticator {
        &self.shared.parts.authenticator
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    pub(crate) fn meters(&self) -> &HttpMeters {
        &self.shared.meters
    }

    pub(crate) fn metrics(&self) -> String {
        (self.shared.parts.metrics)()
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
