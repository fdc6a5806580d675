//! artel over HTTP: who may call, what is answered, live events, and one catalog for everybody.
//!
//! A request passes: the accept loop and its caps ([`Server`]), an id and the envelope of errors (`envelope`), the
//! check of who calls and what the endpoint needs (`route`), and one handler, which calls one method and converts.
//! Knows nothing of SQL and starts no processes.

mod app;
mod audit;
mod auditor;
mod auth;
mod catalog;
mod clock;
mod config;
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
mod probe;
mod pulse;
mod route;
mod routes;
mod stream;
mod tls;

pub use app::{App, AppParts, RunSettings, Stores};
pub use audit::audit;
pub use auth::{
    AuthRefused, Authenticator, Network, NetworkError, OidcConfig, OidcConfigError, fresh_admin_token,
};
pub use catalog::{
    CatalogConfig, CatalogParts, CatalogShelves, Catalogs, HubError, HubWish, Hubs, LoadDefault,
    RefreshFailed, Reread, SaveError, Saved, SupervisorStatus, SyncStatus,
};
pub use config::ServerConfig;
pub use error::ApiError;
pub use listen::{Entrance, ListenError, Server};
pub use mcp::{StdioError, serve_stdio};
pub use metrics::METRICS;
pub use operations::KeyDesk;
pub use probe::Probe;
pub use route::{Route, endpoints};
pub use routes::hub_view;
pub use tls::{Certificate, TlsError};
