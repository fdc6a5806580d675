//! Talks to an artel server: a request, a typed answer, and streams of events that resume where they broke off.
//!
//! Knows what travels, not what it is for: commands decide what to ask and what to print.

mod caller;
mod credential;
mod error;
mod events;
mod lines;
mod mcp;
mod path;
mod server_url;
mod sse;

pub use caller::{Client, ClientConfig};
pub use credential::ServerToken;
pub use error::ClientError;
pub use events::{Event, Events};
pub use lines::Lines;
pub use mcp::{McpAnswer, McpLink, McpListener};
pub use path::ApiPath;
pub use server_url::{ServerUrl, ServerUrlError};
