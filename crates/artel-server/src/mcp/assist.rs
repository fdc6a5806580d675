//! The tools that the assistant behind the chat calls: those that find, read and run skills, in the words that clients of the
//! protocol get.

use artel_api::runs::RunRequest;
use artel_engine::llm::ToolSpec;
use artel_model::access::Principal;
use artel_model::id::RunId;
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::Value;

use super::call::read;
use super::run_answer::{of_run, run_answer};
use super::tools::OwnTool;
use super::{answer, reading};
use crate::app::App;
use crate::error::ApiError;

/// What the assistant may call.
const TOOLS: [OwnTool; 4] =
    [OwnTool::SearchSkills, OwnTool::ReadSkill, OwnTool::ReadSkillFile, OwnTool::RunSkill];

/// What becomes of a call.
pub(crate) enum Assisted {
    /// It is answered.
    Answered(Told),
    /// Something is to be run first.
    Run(Box<RunRequest>),
}

/// What a model reads as the answer to a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// Returns the tools as a model is told of them.
pub(crate) fn assistant_tools() -> Vec<ToolSpec> {
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

/// Makes a call for somebody.
pub(crate) async fn assist(app: &App, caller: &Principal, tool: &str, arguments: JsonObject) -> Assisted {
    match attempt(app, caller, tool, arguments).await {
        Ok(assisted) => assisted,
        Err(error) => Assisted::Answered(refused(&error)),
    }
}

async fn attempt(
    app: &App,
    caller: &Principal,
    tool: &str,
    arguments: JsonObject,
) -> Result<Assisted, ApiError> {
    let own = OwnTool::named(tool).filter(|own| TOOLS.contains(own));
    let own = own.ok_or_else(|| ApiError::not_found("tool"))?;
    answer::allow(caller, own.scope())?;
    let result = match own {
        OwnTool::SearchSkills => reading::search(app, caller, read(arguments)?).await?,
        OwnTool::ReadSkill => reading::read_skill(app, caller, &read(arguments)?)?,
        OwnTool::ReadSkillFile => reading::read_file(app, caller, &read(arguments)?).await?,
        OwnTool::RunSkill => {
            return Ok(Assisted::Run(Box::new(read::<super::arguments::RunSkill>(arguments)?.request())));
        }
        OwnTool::RunPlan
        | OwnTool::GetRun
        | OwnTool::SpawnAgent
        | OwnTool::SendMessage
        | OwnTool::ReadMessages => return Err(ApiError::not_found("tool")),
    };
    Ok(Assisted::Answered(told(&result)))
}

/// Tells what came of a run.
pub(crate) async fn tell_run(app: &App, caller: &Principal, run: RunId) -> Told {
    match run_answer(app, caller, run).await {
        Ok(answer) => told(&of_run(&answer)),
        Err(error) => refused(&error),
    }
}

/// Tells why something was not done.
pub(crate) fn refused(error: &ApiError) -> Told {
    told(&answer::failure(error))
}

fn told(result: &CallToolResult) -> Told {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let texts: Vec<&str> = texts.map(|content| content.text.as_str()).collect();
    Told { text: texts.join("\n"), is_error: result.is_error == Some(true) }
}
