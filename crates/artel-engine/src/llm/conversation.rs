//! A conversation with a model that may call tools, in no provider's words. Pure.

use artel_model::agent::Thinking;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a model is given to answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// The model; nothing for the one that is configured.
    pub model: Option<String>,
    /// What it is and how it shall work.
    pub system: String,
    /// What was said so far, in order.
    pub turns: Vec<Turn>,
    /// What it may call.
    pub tools: Vec<ToolSpec>,
    /// How long it shall think; nothing for what is usual for it.
    pub thinking: Option<Thinking>,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// By whoever it works for.
    User(String),
    /// By the model.
    Model(Reply),
    /// By the tools that it called, in the order of its calls.
    Tools(Vec<ToolResult>),
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name, of letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of what goes in.
    pub parameters: Value,
}

/// What came of a call.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ToolResult {
    /// Which call.
    pub id: String,
    /// What the model reads.
    pub content: String,
    /// Whether the call came to nothing.
    #[serde(default)]
    pub is_error: bool,
}

/// What a model says next.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Reply {
    /// What it writes.
    pub text: String,
    /// What it wants to call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCallRequest>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it took, when the endpoint says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What it thought, in the provider's own words: some want to hear it again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<Value>,
}

/// A call that a model wants to be made.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ToolCallRequest {
    /// How its result is told apart from others; unique within a reply.
    pub id: String,
    /// The tool, as the model names it.
    pub name: String,
    /// What goes in.
    pub arguments: Arguments,
}

/// What a model wants to go into a tool.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// An object, as it should be.
    Object(Map<String, Value>),
    /// Something else.
    Unreadable {
        /// What it wrote.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Why a model stopped.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It has said what it had to say.
    Finished,
    /// It waits for its calls.
    ToolCalls,
    /// It may not write more.
    Length,
    /// It does not want to, or is not let.
    Refused,
    /// Something else, in the provider's word.
    Other(String),
}

/// Tokens that a reply took.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Usage {
    /// Read.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
}

impl Usage {
    /// Returns all tokens together.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl StopReason {
    /// Returns the word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Finished => "finished",
            Self::ToolCalls => "tool calls",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Other(word) => word,
        }
    }
}

impl Arguments {
    /// Returns the object that a provider is told when the reply is repeated to it. Not all of them can read what their
    /// models wrote.
    pub(super) fn repeated(&self) -> Value {
        match self {
            Self::Object(object) => Value::Object(object.clone()),
            Self::Unreadable { text, .. } => serde_json::json!({ "unreadable": text }),
        }
    }
}
