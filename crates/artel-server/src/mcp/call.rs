//! Calls of tools: the arguments are read, one operation is called, its answer is converted.

use std::time::Duration;

use artel_api::messages::MailRequest;
use artel_api::plans::RunQuery;
use artel_api::runs::RunRequest;
use artel_api::runs::StartedRun;
use artel_app::operations::{publish, run_plan, send, spawn, start_run};
use artel_app::{App, IdempotencyKey, OperationError};
use artel_model::access::{Principal, Scope};
use artel_model::agent::CallOrigin;
use artel_model::id::RunId;
use artel_model::limit::MCP_WAIT_MS_MAX;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer;
use super::arguments::{GetRun, RunPlan, RunSkill};
use super::follow::{WhenCancelled, wait_for};
use super::run_answer::{of_run, of_skill, run_answer};
use super::tools::OwnTool;
use super::{mail, reading, skill_tools};

/// One call, and who makes it.
pub(super) struct Call<'a> {
    pub(super) app: &'a App,
    pub(super) caller: &'a Principal,
    pub(super) context: &'a RequestContext<RoleServer>,
}

impl Call<'_> {
    /// Calls a tool of artel itself.
    pub(super) async fn own(
        &self,
        tool: OwnTool,
        arguments: JsonObject,
    ) -> Result<CallToolResult, OperationError> {
        let Self { app, caller, .. } = *self;
        answer::allow(caller, tool.scope())?;
        match tool {
            OwnTool::SearchSkills => reading::search(app, caller, read(arguments)?).await,
            OwnTool::ReadSkill => reading::read_skill(app, caller, &read(arguments)?),
            OwnTool::ReadSkillFile => reading::read_file(app, caller, &read(arguments)?).await,
            OwnTool::RunSkill => self.run_skill(read(arguments)?).await,
            OwnTool::RunPlan => self.run_plan(read(arguments)?).await,
            OwnTool::GetRun => self.get_run(&read(arguments)?).await,
            OwnTool::SpawnAgent => {
                Ok(answer::document(&spawn(app, caller, CallOrigin::Remote, &arguments).await?))
            }
            OwnTool::SendMessage if is_about_a_topic(&arguments) => {
                Ok(answer::document(&publish(app, caller, arguments).await?))
            }
            OwnTool::SendMessage => Ok(answer::document(&send(app, caller, &arguments).await?)),
            OwnTool::ReadMessages => mail::read(app, caller, read::<MailRequest>(arguments)?).await,
        }
    }

    /// Calls a skill as a tool; nothing when there is none of that name.
    pub(super) async fn skill(
        &self,
        tool: &str,
        arguments: JsonObject,
    ) -> Option<Result<CallToolResult, OperationError>> {
        if !self.caller.may(Scope::CatalogRead) {
            return None;
        }
        let request = {
            let view = match reading::seen(self.app, self.caller) {
                Ok(view) => view,
                Err(error) => return Some(Err(error)),
            };
            skill_tools::request(skill_tools::named(&view, tool)?, arguments)
        };
        if let Err(error) = answer::allow(self.caller, Scope::RunsWrite) {
            return Some(Err(error));
        }
        Some(self.run_as_tool(request).await)
    }

    async fn run_as_tool(&self, request: RunRequest) -> Result<CallToolResult, OperationError> {
        let run = start_run(self.app, self.caller, request, &IdempotencyKey::none()).await?;
        self.wait(&run, None).await?;
        Ok(of_skill(&run_answer(self.app, self.caller, run.run_id).await?))
    }

    async fn run_skill(&self, asked: RunSkill) -> Result<CallToolResult, OperationError> {
        let wait_ms = asked.wait_ms;
        let run = start_run(self.app, self.caller, asked.request(), &IdempotencyKey::none()).await?;
        self.wait(&run, wait_ms).await?;
        Ok(of_run(&run_answer(self.app, self.caller, run.run_id).await?))
    }

    async fn run_plan(&self, asked: RunPlan) -> Result<CallToolResult, OperationError> {
        let RunPlan { plan, timeout_ms, wait_ms } = asked;
        let key = IdempotencyKey::none();
        let how = RunQuery { timeout_ms, slots: None };
        let run = run_plan(self.app, self.caller, Value::Object(plan), how, &key).await?;
        self.wait(&run, wait_ms).await?;
        Ok(of_run(&run_answer(self.app, self.caller, run.run_id).await?))
    }

    async fn wait(&self, run: &StartedRun, wait_ms: Option<u64>) -> Result<(), OperationError> {
        let when = WhenCancelled::CancelRun;
        wait_for(self.app, self.caller, run.run_id, patience(wait_ms, MCP_WAIT_MS_MAX), self.context, when)
            .await
    }

    async fn get_run(&self, asked: &GetRun) -> Result<CallToolResult, OperationError> {
        let run = RunId(asked.run_id);
        let before = run_answer(self.app, self.caller, run).await?;
        let patience = patience(asked.wait_ms, 0);
        if before.is_over || patience.is_zero() {
            return Ok(answer::document(&before));
        }
        wait_for(self.app, self.caller, run, patience, self.context, WhenCancelled::LeaveRun).await?;
        Ok(answer::document(&run_answer(self.app, self.caller, run).await?))
    }
}

fn patience(wait_ms: Option<u64>, usual_ms: u64) -> Duration {
    Duration::from_millis(wait_ms.unwrap_or(usual_ms).min(MCP_WAIT_MS_MAX))
}

fn is_about_a_topic(document: &JsonObject) -> bool {
    document.get("topic").is_some_and(|topic| !topic.is_null())
}

/// Reads the arguments of a call. What is wrong with them is told as an answer, so that a model can correct itself.
pub(super) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, OperationError> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| OperationError::unprocessable("invalid_arguments", error.to_string()))
}
