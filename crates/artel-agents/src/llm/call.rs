//! One round of a model's calls: each passes the gate, one after another, and what comes of it is kept.

use std::time::Duration;

use artel_engine::llm::{Arguments, Reply, StopReason, ToolCallRequest, ToolResult};
use artel_model::agent::DenialCode;
use serde_json::{Map, Value, json};

use super::halt::Halt;
use super::prompt::cut;
use super::said::{Begun, TOOL, ToolSaid, error, interrupted};
use super::talk::Talk;
use super::timer::AtEnd;
use crate::error::CallError;

/// Calls of one answer that are made.
const CALLS_MAX: usize = 32;
/// Bytes of an error that a model reads.
const ERROR_BYTES_MAX: usize = 4000;
/// Times that a call is made again which came while the agent was being made to stand still.
const STATE_RETRIES_MAX: u32 = 3;
/// How long to wait for what the agent is told, before each of them.
const STATE_WAIT: Duration = Duration::from_secs(1);

impl Talk<'_> {
    /// Makes the calls of an answer and returns what came of each.
    pub(super) async fn calls(&mut self, reply: &Reply) -> Result<Vec<ToolResult>, Halt> {
        let mut results = Vec::with_capacity(reply.calls.len());
        for (place, call) in reply.calls.iter().enumerate() {
            self.timer.may_go_on().await?;
            let result = if reply.stop == StopReason::Length {
                // Its arguments may have been cut, and be well-formed all the same.
                error(
                    &call.id,
                    "CUT_OFF",
                    "the answer was cut off, so none of its calls is made; say less at once",
                )
            } else if place >= CALLS_MAX {
                let message = format!("only the first {CALLS_MAX} calls of an answer are made");
                error(&call.id, "TOO_MANY_CALLS", &message)
            } else {
                self.call(call).await?
            };
            self.keep(call, &result).await;
            results.push(result);
        }
        Ok(results)
    }

    /// Returns what came of the calls of an answer whose work was interrupted. None of them is made again.
    pub(super) async fn interrupted_calls(&mut self, reply: &Reply, known: &[ToolResult]) -> Vec<ToolResult> {
        let mut results = Vec::with_capacity(reply.calls.len());
        // Calls are made one after another, so only the first without a result can have been begun.
        let mut begun = Begun::Perhaps;
        for call in &reply.calls {
            if let Some(result) = known.iter().find(|result| result.id == call.id) {
                results.push(result.clone());
                continue;
            }
            let result = interrupted(&call.id, std::mem::replace(&mut begun, Begun::No));
            self.keep(call, &result).await;
            results.push(result);
        }
        results
    }

    async fn keep(&self, call: &ToolCallRequest, result: &ToolResult) {
        let tool = self.names.real(&call.name).to_owned();
        self.agent_tools.say(TOOL, json!(ToolSaid { tool, result: result.clone() })).await;
    }

    async fn call(&mut self, call: &ToolCallRequest) -> Result<ToolResult, Halt> {
        let params = match &call.arguments {
            Arguments::Object(params) => params,
            Arguments::Unreadable { why, .. } => {
                let message = format!("the arguments cannot be read: {why}");
                return Ok(error(&call.id, "INVALID_PARAMETERS", &message));
            }
        };
        let tool = self.names.real(&call.name);
        let mut tries = 0;
        loop {
            let made = self.agent_tools.call(tool, params.clone());
            match self.timer.bound(made, AtEnd::Wait).await? {
                Err(CallError::Denied(denial))
                    if denial.code == DenialCode::InvalidState && tries < STATE_RETRIES_MAX =>
                {
                    tries += 1;
                    self.timer.hear(STATE_WAIT).await;
                    self.timer.may_go_on().await?;
                }
                came => return Ok(told(&call.id, came, self.config.result_bytes_max)),
            }
        }
    }
}

/// Returns what the model hears about a call.
fn told(id: &str, came: Result<Map<String, Value>, CallError>, bytes_max: usize) -> ToolResult {
    match came {
        Ok(output) => {
            let content = cut(&Value::Object(output).to_string(), bytes_max);
            ToolResult { id: id.to_owned(), content, is_error: false }
        }
        Err(came) => error(id, came.code(), &cut(&came.to_string(), ERROR_BYTES_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_errors_are_cut() {
        let output = Map::from_iter([("text".to_owned(), json!("x".repeat(100)))]);
        let result = told("a", Ok(output), 20);
        let expected = "{\"text\":\"xxxxxxxxxxx\n[cut: these are the first 20 of 111 bytes]";
        assert_eq!((result.content.as_str(), result.is_error), (expected, false));
        let result = told("a", Err(CallError::Failed("x".repeat(10_000))), 20);
        assert!(result.is_error && result.content.len() < 5000);
        assert!(result.content.starts_with(r#"{"code":"OPERATION_FAILED","message":"xxx"#));
    }
}
