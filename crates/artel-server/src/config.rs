//! What an operator can say about the server, and the limits of one connection.

use std::net::SocketAddr;
use std::time::Duration;

use artel_model::quota::Quotas;

use crate::auth::Network;
use crate::tls::Certificate;

/// How the server behaves.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Connections at once; for another one an address that has clearly more gives one up, or it waits.
    pub connections_max: usize,
    /// Connections at once from one address that is no trusted proxy; more are closed at once.
    pub connections_per_address_max: usize,
    /// How long a client may take to send the head of a request.
    pub header_timeout: Duration,
    /// Bytes of the head of a request.
    pub header_bytes_max: usize,
    /// Bytes of a body.
    pub body_bytes_max: usize,
    /// Bytes of all bodies that are in memory at once.
    pub bodies_bytes_max: usize,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a client may leave an answer unread before the connection is given up.
    pub write_timeout: Duration,
    /// How long requests that are under way may take to end when the server stops.
    pub closing_grace: Duration,
    /// Live streams at once.
    pub streams_max: usize,
    /// Requests a second of one principal, on average.
    pub requests_per_second: u32,
    /// Requests of one principal at once, before the average counts.
    pub request_burst: u32,
    /// Attempts without an accepted credential, a minute, of one address.
    pub refused_per_minute: u32,
    /// How long a request may take before the log says that it was slow.
    pub slow_request: Duration,
    /// How much each user may have of what is kept and what runs.
    pub quotas: Quotas,
    /// Skills that an MCP client is told about as tools or prompts, each by priority; all within the usual limits when absent.
    pub prompt_skills_max: Option<usize>,
    /// Proxies that are believed when they say on whose behalf they call.
    pub trusted_proxies: Vec<Network>,
    /// What connections are encrypted with; nothing when they are not, because the server is reached on its own machine
    /// only or a proxy encrypts.
    pub certificate: Option<Certificate>,
    /// Whether anybody, without a credential, may fetch the skills that every caller sees.
    pub publishes_skills: bool,
}

impl ServerConfig {
    /// The fewest bytes that can be asked of `header_bytes_max`.
    pub const HEADER_BYTES_MIN: usize = 8 * 1024;
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7420)),
            connections_max: 4096,
            connections_per_address_max: 512,
            header_timeout: Duration::from_secs(10),
            header_bytes_max: 32 * 1024,
            body_bytes_max: 16 * 1024 * 1024,
            bodies_bytes_max: 256 * 1024 * 1024,
            body_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            closing_grace: Duration::from_secs(10),
            streams_max: 1000,
            requests_per_second: 200,
            request_burst: 1000,
            refused_per_minute: 60,
            slow_request: Duration::from_secs(5),
            quotas: Quotas::default(),
            prompt_skills_max: None,
            trusted_proxies: Vec::new(),
            certificate: None,
            publishes_skills: false,
        }
    }
}
