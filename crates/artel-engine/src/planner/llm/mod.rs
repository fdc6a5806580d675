//! The planner that asks a language model, behind one of two protocols; the pattern planner takes over when it fails.
//!
//! `prompt` is what the model reads, `protocol` how that is said and heard in each protocol, `reply` what a reply must be,
//! `client` the only part that uses the network. The key of the endpoint is never shown.

mod client;
mod config;
mod error;
mod planner;
mod prompt;
mod protocol;
mod reply;

#[cfg(test)]
mod server;
#[cfg(test)]
mod tests;

pub use config::{ApiKey, LlmConfig, LlmConfigError, LlmProtocol};
pub use planner::LlmPlanner;
