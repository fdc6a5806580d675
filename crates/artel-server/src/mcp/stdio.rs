//! The protocol over stdin and stdout, for a client that starts artel itself. Nothing else may be written to stdout.

use artel_app::App;
use artel_model::access::Principal;
use rmcp::ServiceExt as _;
use rmcp::transport::io::stdio_pipes;

use super::server::McpServer;

/// Why the protocol is not spoken any more.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The client did not begin as the protocol wants.
    #[error("the client did not begin a conversation")]
    Begin(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The conversation ended with an error of ours.
    #[error("the conversation broke off")]
    Broken(#[source] tokio::task::JoinError),
}

/// Speaks with the client at stdin and stdout, as that principal, until the client goes away.
pub async fn serve_stdio(app: App, principal: Principal) -> Result<(), StdioError> {
    let server = McpServer::new(app, principal);
    let running = server.serve(stdio_pipes()).await.map_err(|error| StdioError::Begin(Box::new(error)))?;
    running.waiting().await.map(drop).map_err(StdioError::Broken)
}
