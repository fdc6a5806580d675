//! The protocol of OpenAI, Ollama, llama.cpp, vLLM and others: `/chat/completions`. Pure.

use artel_model::agent::Thinking;
use serde_json::{Value, json};

use super::conversation::{Conversation, Reply, StopReason, ToolCallRequest, ToolResult, Turn, Usage};
use super::error::LlmError;
use super::parse::{arguments, arguments_of, description, parameters, text_of, with_own_ids, word};

/// Returns the body of a request.
pub(super) fn body(model: &str, conversation: &Conversation) -> Value {
    let mut messages = vec![json!({"role": "system", "content": conversation.system})];
    for turn in &conversation.turns {
        match turn {
            Turn::User(text) => messages.push(json!({"role": "user", "content": text})),
            Turn::Model(reply) => messages.push(said(reply)),
            Turn::Tools(results) => messages.extend(results.iter().map(result)),
        }
    }
    let mut body = json!({"model": model, "messages": messages});
    if !conversation.tools.is_empty() {
        let tools = conversation.tools.iter().map(|tool| {
            json!({
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": description(tool),
                    "parameters": parameters(tool),
                },
            })
        });
        body["tools"] = tools.collect();
    }
    if let Some(thinking) = conversation.thinking {
        body["reasoning_effort"] = json!(effort(thinking));
    }
    body
}

/// Reads a reply.
pub(super) fn reply(body: &Value) -> Result<Reply, LlmError> {
    let choice = body.pointer("/choices/0").ok_or_else(|| LlmError::protocol("it has no `choices`"))?;
    let message = choice.get("message").ok_or_else(|| LlmError::protocol("it has no `message`"))?;
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let mut reply = Reply {
        text: content(message.get("content")),
        calls: with_own_ids(calls.map(call).collect()),
        stop: stop(choice.get("finish_reason").and_then(Value::as_str)),
        usage: usage(body.get("usage")),
        thoughts: Vec::new(),
    };
    let refusal = message.get("refusal").and_then(Value::as_str);
    if let Some(refusal) = refusal.filter(|_| reply.text.trim().is_empty()) {
        refusal.clone_into(&mut reply.text);
        reply.stop = StopReason::Refused;
    }
    Ok(reply)
}

fn said(reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|call| {
            let arguments = call.arguments.repeated().to_string();
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        });
        message["tool_calls"] = calls.collect();
        if reply.text.is_empty() {
            message["content"] = Value::Null;
        }
    }
    message
}

fn result(result: &ToolResult) -> Value {
    json!({"role": "tool", "tool_call_id": result.id, "content": result.content})
}

fn effort(thinking: Thinking) -> &'static str {
    match thinking {
        Thinking::Off => "none",
        Thinking::Minimal => "minimal",
        Thinking::Low => "low",
        Thinking::Medium => "medium",
        Thinking::High => "high",
        Thinking::Xhigh => "xhigh",
    }
}

fn content(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text_of(part.get("text"))).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => String::new(),
    }
}

fn call(call: &Value) -> ToolCallRequest {
    let arguments = match call.pointer("/function/arguments") {
        Some(Value::String(text)) => arguments(text),
        other => arguments_of(other.cloned().unwrap_or_default()),
    };
    ToolCallRequest { id: text_of(call.get("id")), name: text_of(call.pointer("/function/name")), arguments }
}

fn stop(reason: Option<&str>) -> StopReason {
    match reason {
        None | Some("stop") => StopReason::Finished,
        Some("tool_calls" | "function_call") => StopReason::ToolCalls,
        Some("length") => StopReason::Length,
        Some("content_filter") => StopReason::Refused,
        Some(other) => StopReason::Other(word(other)),
    }
}

fn usage(usage: Option<&Value>) -> Option<Usage> {
    let count = |name: &str| usage.and_then(|usage| usage.get(name)).and_then(Value::as_u64);
    let (input, output) = (count("prompt_tokens")?, count("completion_tokens").unwrap_or(0));
    Some(Usage { input_tokens: input, output_tokens: output })
}
