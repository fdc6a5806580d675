//! How a conversation is written and how a reply is read, in each protocol. Pure.

use serde_json::{Value, json};

use super::config::{ApiKey, LlmConfig, LlmProtocol};
use super::error::LlmError;
use super::prompt::{SYSTEM, reply_schema};

/// The name under which Anthropic's models give a plan.
const TOOL_NAME: &str = "make_plan";
/// The version of Anthropic's protocol.
const ANTHROPIC_VERSION: &str = "2023-06-01";

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

/// Returns the headers of a request; the key is in one of them.
pub(super) fn headers(protocol: LlmProtocol, key: Option<&ApiKey>) -> Vec<(&'static str, String)> {
    match protocol {
        LlmProtocol::OpenAi => {
            key.map(|key| ("authorization", format!("Bearer {}", key.reveal()))).into_iter().collect()
        }
        LlmProtocol::Anthropic => {
            let key = key.map(|key| ("x-api-key", key.reveal().to_owned()));
            let version = ("anthropic-version", ANTHROPIC_VERSION.to_owned());
            std::iter::once(version).chain(key).collect()
        }
    }
}

/// Returns what the model wrote.
pub(super) fn reply(protocol: LlmProtocol, body: &Value) -> Result<String, LlmError> {
    match protocol {
        LlmProtocol::OpenAi => openai_reply(body),
        LlmProtocol::Anthropic => anthropic_reply(body),
    }
}

/// Returns what the endpoint says about an error; both protocols say it alike.
pub(super) fn error_message(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let message = parsed.as_ref().and_then(|body| {
        let places = ["/error/message", "/error", "/message", "/detail"];
        places.iter().find_map(|place| body.pointer(place)?.as_str())
    });
    message.unwrap_or(body).to_owned()
}

fn message(turn: &Turn) -> Value {
    let role = match turn.by {
        Speaker::Artel => "user",
        Speaker::Model => "assistant",
    };
    json!({"role": role, "content": turn.text})
}

fn openai_reply(body: &Value) -> Result<String, LlmError> {
    let choice = body.pointer("/choices/0").ok_or_else(|| protocol("it has no `choices`"))?;
    let content = choice.pointer("/message/content");
    let text = match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        Some(_) | None => String::new(),
    };
    if !text.trim().is_empty() {
        return Ok(text);
    }
    if let Some(refusal) = choice.pointer("/message/refusal").and_then(Value::as_str) {
        return Err(protocol(&format!("the model refuses: {}", cut(refusal))));
    }
    Err(protocol(&format!("the model wrote nothing{}", ended(choice.get("finish_reason")))))
}

/// A plan comes as the input of the tool; a model that was not made for tools writes it as text.
fn anthropic_reply(body: &Value) -> Result<String, LlmError> {
    let blocks =
        body.get("content").and_then(Value::as_array).ok_or_else(|| protocol("it has no `content`"))?;
    let is = |block: &&Value, kind: &str| block.get("type").and_then(Value::as_str) == Some(kind);
    if let Some(input) =
        blocks.iter().find(|block| is(block, "tool_use")).and_then(|block| block.get("input"))
    {
        return Ok(input.to_string());
    }
    let texts = blocks.iter().filter(|block| is(block, "text"));
    let text: String = texts.filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
    if text.trim().is_empty() {
        return Err(protocol(&format!("the model wrote nothing{}", ended(body.get("stop_reason")))));
    }
    Ok(text)
}

fn protocol(why: &str) -> LlmError {
    LlmError::Protocol { why: why.to_owned() }
}

fn ended(reason: Option<&Value>) -> String {
    match reason.and_then(Value::as_str) {
        Some(reason) => format!(" (it ended with `{}`)", cut(reason)),
        None => String::new(),
    }
}

fn cut(text: &str) -> String {
    crate::planner::quote::quote(text, 200)
}
