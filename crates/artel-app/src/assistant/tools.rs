//! One round of the model's calls: each is made for the person it talks to, one after another, and runs are told while they
//! go on.

use artel_api::chat::ChatEvent;
use artel_api::runs::RunRequest;
use artel_engine::llm::{Arguments, Reply, StopReason, ToolCallRequest, ToolResult};
use artel_model::id::RunId;
use artel_model::limit::CHAT_CALLS_MAX;
use artel_store::Revision;

use super::chat_tools::{ToolAnswer, ToolOutcome};
use super::talk::Talk;
use crate::error::OperationError;
use crate::idempotency::IdempotencyKey;
use crate::operations::{RunTelling, start_run};

impl Talk {
    /// Makes the calls of an answer and returns what came of each.
    pub(super) async fn calls(&mut self, reply: &Reply) -> Vec<ToolResult> {
        let mut results = Vec::with_capacity(reply.calls.len());
        for (place, call) in reply.calls.iter().enumerate() {
            let told = if reply.stop == StopReason::Length {
                // Its arguments may have been cut, and be well-formed all the same.
                error("the answer was cut off, so none of its calls is made; say less at once")
            } else if place >= CHAT_CALLS_MAX {
                error(&format!("only the first {CHAT_CALLS_MAX} calls of an answer are made"))
            } else {
                self.call(call).await
            };
            results.push(ToolResult { id: call.id.clone(), content: told.text, is_error: told.is_error });
        }
        results
    }

    async fn call(&mut self, call: &ToolCallRequest) -> ToolAnswer {
        let arguments = match &call.arguments {
            Arguments::Object(object) => object.clone(),
            Arguments::Unreadable { why, .. } => {
                return error(&format!("the arguments cannot be read: {why}"));
            }
        };
        let tools = self.app.chat_tools().clone();
        match tools.call(&self.app, &self.caller, &call.name, arguments).await {
            ToolOutcome::Answered(answer) => answer,
            ToolOutcome::Run(request) => match self.run(*request).await {
                Ok(run) => tools.tell_run(&self.app, &self.caller, run).await,
                Err(error) => tools.refused(&error),
            },
        }
    }

    /// Runs something to its end. What is not offered in the chat is not run from it either.
    async fn run(&mut self, request: RunRequest) -> Result<RunId, OperationError> {
        if request.skill.as_ref().is_none_or(|name| self.view.by_name(name).is_none()) {
            return Err(OperationError::not_found("skill"));
        }
        let run = start_run(&self.app, &self.caller, request, &IdempotencyKey::none()).await?.run_id;
        self.last_run = Some(run.0);
        self.tell(ChatEvent::Run { run_id: run.0 }).await;
        let mut follow = self.app.engine().follow(run, Revision(0));
        let mut telling = RunTelling::new(run);
        loop {
            // What cannot be followed any further is told by what came of it.
            let events = follow.next().await.unwrap_or_default();
            for event in telling.tell(&events) {
                self.tell(event).await;
            }
            if events.is_empty() {
                return Ok(run);
            }
        }
    }
}

fn error(message: &str) -> ToolAnswer {
    ToolAnswer { text: message.to_owned(), is_error: true }
}
