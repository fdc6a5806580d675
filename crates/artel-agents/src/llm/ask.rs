//! One question to the model: asked again when an error may pass, as long as there is time.

use std::time::Duration;

use artel_engine::llm::{LlmError, Reply, Usage};
use serde_json::json;

use super::halt::Halt;
use super::said::{MODEL, ModelSaid, estimated_tokens};
use super::talk::Talk;
use super::timer::AtEnd;

impl Talk<'_> {
    /// Asks what the model says next, and keeps it.
    pub(super) async fn ask(&mut self) -> Result<Reply, Halt> {
        let reply = self.request().await?;
        self.asked += 1;
        let estimated = || estimated_tokens(&self.conversation.system, &self.conversation.turns);
        let tokens = reply.usage.map_or_else(estimated, Usage::total);
        self.tokens = self.tokens.saturating_add(tokens);
        let agent = self.agent_tools.agent().agent_id;
        tracing::debug!(%agent, turn = self.asked, calls = reply.calls.len(), tokens, "the model answered");
        self.agent_tools.say(MODEL, json!(ModelSaid { reply: reply.clone(), tokens })).await;
        Ok(reply)
    }

    async fn request(&mut self) -> Result<Reply, Halt> {
        let mut tries = 0;
        loop {
            self.timer.may_go_on().await?;
            let error = match self.request_once().await? {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let agent = self.agent_tools.agent().agent_id;
            if self.conversation.thinking.is_some() && is_about_thinking(&error) {
                tracing::warn!(%agent, %error, "the model cannot be told how long to think");
                self.conversation.thinking = None;
                continue;
            }
            // Waiting past the deadline would only hide why there is no answer.
            let wait = self.config.wait(tries, &error).filter(|wait| *wait < self.timer.left());
            let Some(wait) = wait else { return Err(Halt::Silent(error)) };
            tracing::warn!(%agent, %error, wait_ms = wait.as_millis(), "the model is asked again");
            self.timer.bound(tokio::time::sleep(wait), AtEnd::Drop).await?;
            tries += 1;
        }
    }

    async fn request_once(&mut self) -> Result<Result<Reply, LlmError>, Halt> {
        let deadline_ms = self.config.request_ms;
        let answer = self.client.converse(&self.conversation);
        let answer = tokio::time::timeout(Duration::from_millis(deadline_ms), answer);
        let answer = self.timer.bound(answer, AtEnd::Drop).await?;
        Ok(answer.unwrap_or(Err(LlmError::Deadline { deadline_ms })))
    }
}

/// Not every model can be told how long to think; it can work all the same.
fn is_about_thinking(error: &LlmError) -> bool {
    match error {
        LlmError::Refused { status: 400 | 422, message, .. } => {
            message.contains("reasoning") || message.contains("thinking")
        }
        LlmError::Refused { .. }
        | LlmError::Deadline { .. }
        | LlmError::Unreachable { .. }
        | LlmError::TooLarge { .. }
        | LlmError::BrokenOff { .. }
        | LlmError::Protocol { .. } => false,
    }
}
