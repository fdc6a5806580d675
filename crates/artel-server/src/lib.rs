//! artel over HTTP and MCP: who may call, what is answered, live events.
//!
//! A request passes: the accept loop and its caps ([`Server`]), an id and the envelope of errors (`envelope`), the
//! check of who calls and what the endpoint needs (`route`), and one handler, which calls one operation of the application and converts.
//! Knows nothing of SQL and starts no processes.

mod auditor;
mod auth;
mod body_budget;
mod config;
mod connections;
mod envelope;
mod error;
mod extract;
mod http;
mod idempotency;
mod limit;
mod listen;
mod mcp;
mod metrics;
mod panic;
mod patience;
mod precondition;
mod request_id;
mod request_log;
mod route;
mod routes;
mod stream;
mod tls;
mod traced;

pub use auth::{
    AuthRefused, Authenticator, Network, NetworkError, OidcAnswer, OidcConfig, OidcConfigError, probe_oidc,
};
pub use config::ServerConfig;
pub use http::{Http, HttpParts};
pub use listen::{Entrance, ListenError, Server};
pub use mcp::{McpChatTools, StdioError, serve_stdio};
pub use metrics::METRICS;
pub use route::{Route, endpoints};
pub use routes::{apply_hub_change, crawl_step, hub_view};
pub use tls::{Certificate, CertificateFacts, ServedCertificate, TlsError};
