//! artel over HTTP: who may call, what is answered, live events, and one catalog for everybody.
//!
//! A request passes: the accept loop and its caps ([`Server`]), an id and the envelope of errors (`envelope`), the
//! check of who calls and what the endpoint needs (`route`), and one handler, which calls one method and converts.
//! Knows nothing of SQL and starts no processes.

mod app;
mod assistant;
mod audit;
mod auditor;
mod auth;
mod body_budget;
mod catalog;
mod clock;
mod config;
mod connections;
mod convert;
mod envelope;
mod error;
mod extract;
mod idempotency;
mod limit;
mod listen;
mod mcp;
mod metrics;
mod operations;
mod panic;
mod patience;
mod precondition;
mod probe;
mod pulse;
mod quota_turns;
mod request_id;
mod request_log;
mod route;
mod routes;
mod standing;
mod stream;
mod tls;
mod traced;
mod trail;

pub use app::{App, AppParts, NamedPlanners, RunSettings, Storeroom, Stores};
pub use assistant::Assistant;
pub use audit::audit;
pub use auth::{
    AuthRefused, Authenticator, Network, NetworkError, OidcAnswer, OidcConfig, OidcConfigError,
    fresh_admin_token, probe_oidc,
};
pub use catalog::{
    AudienceError, AudienceRule, CatalogConfig, CatalogParts, CatalogShelves, Catalogs, FileChange,
    FolderWatch, FolderWatching, HubAudience, HubError, HubWish, Hubs, ImportFailed, ImportWish, LoadDefault,
    RefreshFailed, Reread, Rescanned, SaveError, Saved, SupervisorStatus, SyncStatus,
};
pub use config::ServerConfig;
pub use error::ApiError;
pub use listen::{Entrance, ListenError, Server};
pub use mcp::{StdioError, serve_stdio};
pub use metrics::METRICS;
pub use operations::{KeyDesk, SettingsDesk, SettingsRefused, SettingsRules, all_problems};
pub use precondition::IfMatch;
pub use probe::Probe;
pub use route::{Route, endpoints};
pub use routes::{apply_hub_change, crawl_step, hub_view};
pub use tls::{Certificate, CertificateFacts, ServedCertificate, TlsError};
pub use trail::{TrailQuestion, read_trail};
