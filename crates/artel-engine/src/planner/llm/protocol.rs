//! How a plan is asked for, in each protocol, and where it is in a reply. Pure.

use serde_json::{Value, json};

use super::prompt::{SYSTEM, reply_schema};
use crate::llm::{Arguments, LlmConfig, LlmError, LlmProtocol, Reply, StopReason};
use crate::quote::quote;

/// The name under which Anthropic's models give a plan.
const TOOL_NAME: &str = "make_plan";
/// Characters of a model's excuse.
const EXCUSE_CHARS_MAX: usize = 200;

/// Something that was said.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Turn {
    pub(super) by: Speaker,
    pub(super) text: String,
}

/// Who said it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Speaker {
    Artel,
    Model,
}

/// Whether the endpoint is told the schema of the reply. Some refuse to hear it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ReplyFormat {
    Told,
    Untold,
}

/// Returns the body of a request.
pub(super) fn body(config: &LlmConfig, turns: &[Turn], format: ReplyFormat) -> Value {
    match config.protocol {
        LlmProtocol::OpenAi => {
            let system = json!({"role": "system", "content": SYSTEM});
            let messages: Vec<Value> = std::iter::once(system).chain(turns.iter().map(message)).collect();
            let mut body = json!({"model": config.model, "messages": messages});
            if format == ReplyFormat::Told {
                // The input of a tool is any object, which strict mode does not know.
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {"name": "plan", "strict": false, "schema": reply_schema()},
                });
            }
            body
        }
        LlmProtocol::Anthropic => json!({
            "model": config.model,
            "max_tokens": config.output_tokens_max,
            "system": SYSTEM,
            "messages": turns.iter().map(message).collect::<Vec<_>>(),
            "tools": [{
                "name": TOOL_NAME,
                "description": "Gives the plan to artel.",
                "input_schema": reply_schema(),
            }],
            "tool_choice": {"type": "tool", "name": TOOL_NAME},
        }),
    }
}

/// Returns what the model wrote. A plan may come as the input of the tool; a model that was not made for tools writes it
/// as text.
pub(super) fn written(reply: Reply) -> Result<String, LlmError> {
    if let Some(call) = reply.calls.into_iter().next() {
        return Ok(match call.arguments {
            Arguments::Object(input) => Value::Object(input).to_string(),
            Arguments::Unreadable { text, .. } => text,
        });
    }
    let text = reply.text;
    match reply.stop {
        StopReason::Refused => {
            Err(LlmError::protocol(format!("the model refuses: {}", quote(&text, EXCUSE_CHARS_MAX))))
        }
        stop if text.trim().is_empty() => {
            Err(LlmError::protocol(format!("the model wrote nothing (it ended with `{}`)", stop.as_str())))
        }
        StopReason::Finished | StopReason::ToolCalls | StopReason::Length | StopReason::Other(_) => Ok(text),
    }
}

fn message(turn: &Turn) -> Value {
    let role = match turn.by {
        Speaker::Artel => "user",
        Speaker::Model => "assistant",
    };
    json!({"role": role, "content": turn.text})
}
