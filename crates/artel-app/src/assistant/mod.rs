//! The assistant behind the chat when a model is configured for it: it finds, reads and runs skills as whoever it talks to,
//! through the same operations, checks and limits as everybody else.
//!
//! `conversations` is what it remembers, `prompt` what it reads first, `tools` what it may call, `talk` the loop. Knows
//! nothing of HTTP.

mod chat_tools;
mod conversations;
mod model;
mod prompt;
mod talk;
mod tools;

pub use chat_tools::{ChatTools, ToolAnswer, ToolOutcome};
pub(crate) use conversations::Conversations;
pub use model::Assistant;
pub(crate) use talk::converse;
