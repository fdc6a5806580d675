//! A model that answers in the chat, and how much of it one message may take.

use std::sync::Arc;

use artel_engine::llm::LlmClient;

/// A model that answers in the chat.
#[derive(Clone)]
pub struct Assistant {
    /// How it is reached.
    pub client: Arc<LlmClient>,
    /// Times that it is asked for one message.
    pub turns_max: u32,
    /// Tokens that the answer to one message may take.
    pub tokens_max: u64,
    /// Skills that it is told of before it searches.
    pub skills_max: usize,
}
