//! Talking to language models, in one of two protocols, with or without tools.
//!
//! `conversation` is what is said, in no provider's words; `openai` and `anthropic` write and read it as they want it;
//! `client` is the only part that uses the network. The key of the endpoint is never shown. Knows nothing of plans, of
//! agents, and of where settings come from.

mod anthropic;
mod client;
mod config;
mod conversation;
mod error;
mod openai;
mod parse;

#[cfg(test)]
pub(crate) mod server;
#[cfg(test)]
mod tests;

pub use client::LlmClient;
pub use config::{ApiKey, LlmConfig, LlmConfigError, LlmProtocol};
pub use conversation::{
    Arguments, Conversation, Reply, StopReason, ToolCallRequest, ToolResult, ToolSpec, Turn, Usage,
};
pub use error::LlmError;
