//! The tools that the assistant behind the chat calls: those that find, read and run skills, in the words that clients of the
//! protocol get.

use artel_app::{App, ChatTools, OperationError, ToolAnswer, ToolOutcome};
use artel_engine::llm::ToolSpec;
use artel_model::access::Principal;
use artel_model::id::RunId;
use async_trait::async_trait;
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::Value;

use super::call::read;
use super::run_answer::{of_run, run_answer};
use super::tools::OwnTool;
use super::{answer, reading};

/// What the assistant may call.
const TOOLS: [OwnTool; 4] =
    [OwnTool::SearchSkills, OwnTool::ReadSkill, OwnTool::ReadSkillFile, OwnTool::RunSkill];

/// The tools of the assistant.
pub struct McpChatTools;

#[async_trait]
impl ChatTools for McpChatTools {
    fn specs(&self) -> Vec<ToolSpec> {
        assistant_tools()
    }

    async fn call(&self, app: &App, caller: &Principal, tool: &str, arguments: JsonObject) -> ToolOutcome {
        match attempt(app, caller, tool, arguments).await {
            Ok(outcome) => outcome,
            Err(error) => ToolOutcome::Answered(refused(&error)),
        }
    }

    async fn tell_run(&self, app: &App, caller: &Principal, run: RunId) -> ToolAnswer {
        match run_answer(app, caller, run).await {
            Ok(answer) => told(&of_run(&answer)),
            Err(error) => refused(&error),
        }
    }

    fn refused(&self, error: &OperationError) -> ToolAnswer {
        refused(error)
    }
}

/// Returns the tools as a model is told of them.
fn assistant_tools() -> Vec<ToolSpec> {
    let spec = |own: OwnTool| {
        let tool = own.tool();
        ToolSpec {
            name: own.name().to_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            parameters: Value::Object((*tool.input_schema).clone()),
        }
    };
    TOOLS.into_iter().map(spec).collect()
}

async fn attempt(
    app: &App,
    caller: &Principal,
    tool: &str,
    arguments: JsonObject,
) -> Result<ToolOutcome, OperationError> {
    let own = OwnTool::named(tool).filter(|own| TOOLS.contains(own));
    let own = own.ok_or_else(|| OperationError::not_found("tool"))?;
    answer::allow(caller, own.scope())?;
    let result = match own {
        OwnTool::SearchSkills => reading::search(app, caller, read(arguments)?).await?,
        OwnTool::ReadSkill => reading::read_skill(app, caller, &read(arguments)?)?,
        OwnTool::ReadSkillFile => reading::read_file(app, caller, &read(arguments)?).await?,
        OwnTool::RunSkill => {
            return Ok(ToolOutcome::Run(Box::new(read::<super::arguments::RunSkill>(arguments)?.request())));
        }
        OwnTool::RunPlan
        | OwnTool::GetRun
        | OwnTool::SpawnAgent
        | OwnTool::SendMessage
        | OwnTool::ReadMessages => return Err(OperationError::not_found("tool")),
    };
    Ok(ToolOutcome::Answered(told(&result)))
}

/// Tells why something was not done.
fn refused(error: &OperationError) -> ToolAnswer {
    told(&answer::failure(error))
}

fn told(result: &CallToolResult) -> ToolAnswer {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let texts: Vec<&str> = texts.map(|content| content.text.as_str()).collect();
    ToolAnswer { text: texts.join("\n"), is_error: result.is_error == Some(true) }
}
