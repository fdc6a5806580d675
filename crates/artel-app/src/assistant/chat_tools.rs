//! The tools that the assistant behind the chat calls. They are those of MCP, so the MCP side of the server hands them in.

use artel_api::runs::RunRequest;
use artel_engine::llm::ToolSpec;
use artel_model::access::Principal;
use artel_model::id::RunId;
use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::app::App;
use crate::error::OperationError;

/// What becomes of a call.
pub enum ToolOutcome {
    /// It is answered.
    Answered(ToolAnswer),
    /// Something is to be run first.
    Run(Box<RunRequest>),
}

/// What a model reads as the answer to a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolAnswer {
    /// The answer.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// The tools that the assistant calls, each as the principal it talks to.
#[async_trait]
pub trait ChatTools: Send + Sync {
    /// Returns the tools as a model is told of them.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Makes a call for a principal.
    async fn call(
        &self,
        app: &App,
        caller: &Principal,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> ToolOutcome;

    /// Tells what came of a run that a call asked for.
    async fn tell_run(&self, app: &App, caller: &Principal, run: RunId) -> ToolAnswer;

    /// Tells why something was not done.
    fn refused(&self, error: &OperationError) -> ToolAnswer;
}
