//! The Model Context Protocol: the same catalog, runs, agents and messages as over HTTP, for clients of models.
//!
//! One handler, [`server::McpServer`], speaks for one principal; stdio and streamable HTTP only carry it. Everything goes
//! through the operations that the routes use, so that nobody sees or does more this way. Knows nothing of credentials:
//! the check in front of the route, or whoever starts the process, has settled who calls.

mod announce;
mod answer;
mod arguments;
mod assist;
mod call;
mod cursor;
mod follow;
mod http;
mod mail;
mod prompts;
mod reading;
mod resources;
mod run_answer;
mod server;
mod sessions;
mod skill_tools;
mod skills;
mod stdio;
mod tools;
mod uri;

pub use assist::McpChatTools;
pub(crate) use http::routes;
pub(crate) use sessions::McpSessions;
pub use stdio::{StdioError, serve_stdio};
