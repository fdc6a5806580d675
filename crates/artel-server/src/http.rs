//! What requests use beside the application: who is calling, how often, live streams, sessions of MCP, and what is counted
//! and logged about them.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use artel_app::App;
use axum::extract::FromRef;
use tokio::sync::Semaphore;

use crate::auth::{Authenticator, Network};
use crate::config::ServerConfig;
use crate::limit::Limits;
use crate::mcp::McpSessions;
use crate::metrics::HttpMeters;
use crate::request_id::RequestIds;
use crate::request_log::RequestLog;

/// What the HTTP side of a server is made of.
pub struct HttpParts {
    /// How it behaves.
    pub config: ServerConfig,
    /// Knows who is calling.
    pub authenticator: Authenticator,
    /// Writes all numbers about this process as Prometheus reads them.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

/// The application as it is reached over HTTP. Clones are the same.
#[derive(Clone)]
pub struct Http {
    app: App,
    shared: Arc<Shared>,
}

/// What can be changed while the server runs.
pub(crate) struct LiveSettings {
    pub(crate) limits: Limits,
    pub(crate) trusted_proxies: Vec<Network>,
    pub(crate) slow_request: Duration,
}

impl LiveSettings {
    fn of(config: &ServerConfig) -> Self {
        Self {
            limits: Limits::new(config),
            trusted_proxies: config.trusted_proxies.clone(),
            slow_request: config.slow_request,
        }
    }
}

struct Shared {
    parts: HttpParts,
    live: ArcSwap<LiveSettings>,
    meters: HttpMeters,
    /// Room for live streams.
    streams: Arc<Semaphore>,
    mcp_sessions: McpSessions,
    request_ids: RequestIds,
    request_log: RequestLog,
}

impl Http {
    /// Puts the parts together.
    pub fn new(app: App, parts: HttpParts) -> Self {
        let shared = Shared {
            live: ArcSwap::from_pointee(LiveSettings::of(&parts.config)),
            meters: HttpMeters::new(),
            streams: Arc::new(Semaphore::new(parts.config.streams_max)),
            mcp_sessions: McpSessions::default(),
            request_ids: RequestIds::new(),
            request_log: RequestLog::new(),
            parts,
        };
        Self { app, shared: Arc::new(shared) }
    }

    /// Returns the application.
    pub fn app(&self) -> &App {
        &self.app
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.shared.parts.config
    }

    pub(crate) fn authenticator(&self) -> &Authenticator {
        &self.shared.parts.authenticator
    }

    pub(crate) fn metrics(&self) -> String {
        (self.shared.parts.metrics)()
    }

    /// Returns what can be changed while the server runs, as it is at this moment.
    pub(crate) fn live(&self) -> Arc<LiveSettings> {
        self.shared.live.load_full()
    }

    /// Takes over what can be changed while the server runs: limits on requests, trusted proxies, what counts as slow, and
    /// whether skills are published. Requests are counted afresh.
    pub fn reload(&self, config: &ServerConfig, publishes_skills: bool) {
        self.shared.live.store(Arc::new(LiveSettings::of(config)));
        self.app.publish_skills(publishes_skills);
    }

    pub(crate) fn meters(&self) -> &HttpMeters {
        &self.shared.meters
    }

    /// Returns the room for live streams.
    pub(crate) fn streams(&self) -> &Arc<Semaphore> {
        &self.shared.streams
    }

    pub(crate) fn mcp_sessions(&self) -> &McpSessions {
        &self.shared.mcp_sessions
    }

    pub(crate) fn request_ids(&self) -> &RequestIds {
        &self.shared.request_ids
    }

    pub(crate) fn request_log(&self) -> &RequestLog {
        &self.shared.request_log
    }

    /// Ends all live streams; clients reconnect to the next server process and miss nothing.
    pub(crate) fn close_streams(&self) {
        self.app.close_streams();
        self.shared.mcp_sessions.close();
    }
}

impl FromRef<Http> for App {
    fn from_ref(http: &Http) -> Self {
        http.app.clone()
    }
}
