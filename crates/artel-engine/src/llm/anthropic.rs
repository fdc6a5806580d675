//! The protocol of Anthropic: `/v1/messages`. Pure.

use artel_model::agent::Thinking;
use serde_json::{Value, json};

use super::conversation::{Conversation, Reply, StopReason, ToolCallRequest, ToolResult, Turn, Usage};
use super::error::LlmError;
use super::parse::{arguments_of, description, parameters, text_of, with_own_ids, word};

/// What stands where the protocol wants a text and there is none.
const NOTHING: &str = "(nothing)";

/// Returns the body of a request. What is thought comes on top of what may be written.
pub(super) fn body(model: &str, output_tokens_max: u32, conversation: &Conversation) -> Value {
    let budget = conversation.thinking.and_then(budget_tokens);
    let mut body = json!({
        "model": model,
        "max_tokens": output_tokens_max.saturating_add(budget.unwrap_or(0)),
        "system": conversation.system,
        "messages": messages(&conversation.turns),
    });
    if !conversation.tools.is_empty() {
        let tools = conversation.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": description(tool), "input_schema": parameters(tool)})
        });
        body["tools"] = tools.collect();
    }
    if let Some(budget) = budget {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": budget});
    }
    body
}

/// Reads a reply.
pub(super) fn reply(body: &Value) -> Result<Reply, LlmError> {
    let blocks = body.get("content").and_then(Value::as_array);
    let blocks = blocks.ok_or_else(|| LlmError::protocol("it has no `content`"))?;
    let of_kind = |kind: &'static str| {
        blocks.iter().filter(move |block| block.get("type").and_then(Value::as_str) == Some(kind))
    };
    let is_thought = |block: &&Value| {
        matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
    };
    Ok(Reply {
        text: of_kind("text").map(|block| text_of(block.get("text"))).collect(),
        calls: with_own_ids(of_kind("tool_use").map(call).collect()),
        stop: stop(body.get("stop_reason").and_then(Value::as_str)),
        usage: usage(body.get("usage")),
        thoughts: blocks.iter().filter(is_thought).cloned().collect(),
    })
}

/// The same speaker never speaks twice in a row, and results of tools come before anything else that is said with them.
fn messages(turns: &[Turn]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let (role, blocks) = match turn {
            Turn::User(text) => ("user", vec![text_block(text)]),
            Turn::Model(reply) => ("assistant", said(reply)),
            Turn::Tools(results) => ("user", results.iter().map(result).collect()),
        };
        match messages.last_mut() {
            Some((last, said)) if *last == role => said.extend(blocks),
            Some(_) | None => messages.push((role, blocks)),
        }
    }
    messages.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn said(reply: &Reply) -> Vec<Value> {
    let mut blocks = reply.thoughts.clone();
    if !reply.text.trim().is_empty() || reply.calls.is_empty() {
        blocks.push(text_block(&reply.text));
    }
    blocks.extend(reply.calls.iter().map(|call| {
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments.repeated()})
    }));
    blocks
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": if text.trim().is_empty() { NOTHING } else { text }})
}

fn result(result: &ToolResult) -> Value {
    json!({
        "type": "tool_result",
        "tool_use_id": result.id,
        "content": result.content,
        "is_error": result.is_error,
    })
}

fn budget_tokens(thinking: Thinking) -> Option<u32> {
    match thinking {
        Thinking::Off => None,
        Thinking::Minimal => Some(1024),
        Thinking::Low => Some(2048),
        Thinking::Medium => Some(8192),
        Thinking::High => Some(16_384),
        Thinking::Xhigh => Some(32_768),
    }
}

fn call(block: &Value) -> ToolCallRequest {
    ToolCallRequest {
        id: text_of(block.get("id")),
        name: text_of(block.get("name")),
        arguments: arguments_of(block.get("input").cloned().unwrap_or_default()),
    }
}

fn stop(reason: Option<&str>) -> StopReason {
    match reason {
        None | Some("end_turn" | "stop_sequence") => StopReason::Finished,
        Some("tool_use") => StopReason::ToolCalls,
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("refusal") => StopReason::Refused,
        Some(other) => StopReason::Other(word(other)),
    }
}

/// What was read from a cache, or written into one, was read all the same.
fn usage(usage: Option<&Value>) -> Option<Usage> {
    let count = |name: &str| usage.and_then(|usage| usage.get(name)).and_then(Value::as_u64);
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    let cached: u64 = cached.into_iter().filter_map(count).fold(0, u64::saturating_add);
    let (input, output) = (count("input_tokens")?, count("output_tokens").unwrap_or(0));
    Some(Usage { input_tokens: input.saturating_add(cached), output_tokens: output })
}
