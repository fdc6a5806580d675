//! The tools of artel itself: what they are called, what they are for, what they take and who may use them.

use std::sync::Arc;

use artel_api::agents::{AgentRequest, SpawnedAgent};
use artel_api::messages::{MailRequest, MessageRequest, SentMessage};
use artel_model::access::Scope;
use rmcp::handler::server::tool::schema_for_output;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::Value;

use super::arguments::{
    FilePart, FoundSkills, GetRun, Mail, ReadSkill, ReadSkillFile, RunAnswer, RunPlan, RunSkill,
    SearchSkills, SkillText,
};

/// A tool of artel itself. Every name has an underscore, which no skill has, so that no skill can pass for one of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum OwnTool {
    SearchSkills,
    ReadSkill,
    ReadSkillFile,
    RunSkill,
    RunPlan,
    GetRun,
    SpawnAgent,
    SendMessage,
    ReadMessages,
}

impl OwnTool {
    /// Every tool, in the order in which they are listed.
    pub(super) const ALL: [Self; 9] = [
        Self::SearchSkills,
        Self::ReadSkill,
        Self::ReadSkillFile,
        Self::RunSkill,
        Self::RunPlan,
        Self::GetRun,
        Self::SpawnAgent,
        Self::SendMessage,
        Self::ReadMessages,
    ];

    /// Returns the tool of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns what it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SearchSkills => "search_skills",
            Self::ReadSkill => "read_skill",
            Self::ReadSkillFile => "read_skill_file",
            Self::RunSkill => "run_skill",
            Self::RunPlan => "run_plan",
            Self::GetRun => "get_run",
            Self::SpawnAgent => "spawn_agent",
            Self::SendMessage => "send_message",
            Self::ReadMessages => "read_messages",
        }
    }

    /// Returns what a credential must be for to use it.
    pub(super) fn scope(self) -> Scope {
        match self {
            Self::SearchSkills | Self::ReadSkill | Self::ReadSkillFile => Scope::CatalogRead,
            Self::RunSkill | Self::RunPlan | Self::GetRun => Scope::RunsWrite,
            Self::SpawnAgent | Self::SendMessage | Self::ReadMessages => Scope::AgentsWrite,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::SearchSkills => "Search skills",
            Self::ReadSkill => "Read a skill",
            Self::ReadSkillFile => "Read a file of a skill",
            Self::RunSkill => "Run a skill",
            Self::RunPlan => "Run a plan",
            Self::GetRun => "Read a run",
            Self::SpawnAgent => "Spawn an agent",
            Self::SendMessage => "Send a message",
            Self::ReadMessages => "Read messages",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::SearchSkills => {
                "Finds skills by what is to be done. Search first; then read the best match with read_skill, or run it with \
                 run_skill when it is runnable."
            }
            Self::ReadSkill => {
                "Returns the instructions of a skill, its parameters and the list of its files. Long instructions come in \
                 parts: call again with offset = next_offset."
            }
            Self::ReadSkillFile => {
                "Returns a file of a skill, like a reference that its instructions name. Long files come in parts: call \
                 again with offset = next_offset."
            }
            Self::RunSkill => {
                "Runs a skill and returns what came of it. Cancelling the call cancels the run. A run that takes longer than \
                 wait_ms goes on; ask for it with get_run."
            }
            Self::RunPlan => {
                "Runs several skills as one plan, in the order of their dependencies, and returns what came of it. \
                 Cancelling the call cancels the run."
            }
            Self::GetRun => {
                "Says where a run stands and what came of it so far; waits for its end when asked to."
            }
            Self::SpawnAgent => {
                "Spawns an agent that acts under a policy: it runs a skill or a plan, or works on a task with the skills it \
                 is given."
            }
            Self::SendMessage => {
                "Sends a message from one of your agents to another, or publishes an event about a topic."
            }
            Self::ReadMessages => {
                "Returns messages in the mailbox of one of your agents; they count as read from then on."
            }
        }
    }

    fn annotations(self) -> ToolAnnotations {
        let annotations = ToolAnnotations::with_title(self.title());
        match self {
            Self::SearchSkills | Self::ReadSkill | Self::ReadSkillFile | Self::GetRun => {
                annotations.read_only(true).open_world(false)
            }
            Self::RunSkill | Self::RunPlan | Self::SpawnAgent => {
                annotations.read_only(false).open_world(true)
            }
            Self::SendMessage | Self::ReadMessages => {
                annotations.read_only(false).destructive(false).open_world(false)
            }
        }
    }

    fn input(self) -> Arc<JsonObject> {
        match self {
            Self::SearchSkills => schema::<SearchSkills>(),
            Self::ReadSkill => schema::<ReadSkill>(),
            Self::ReadSkillFile => schema::<ReadSkillFile>(),
            Self::RunSkill => schema::<RunSkill>(),
            Self::RunPlan => schema::<RunPlan>(),
            Self::GetRun => schema::<GetRun>(),
            Self::SpawnAgent => schema::<AgentRequest>(),
            Self::SendMessage => schema::<MessageRequest>(),
            Self::ReadMessages => schema::<MailRequest>(),
        }
    }

    /// Returns the tool as clients see it.
    pub(super) fn tool(self) -> Tool {
        let tool = Tool::new(self.name(), self.description(), self.input())
            .with_title(self.title())
            .with_annotations(self.annotations());
        tool.with_raw_output_schema(self.output())
    }

    fn output(self) -> Arc<JsonObject> {
        match self {
            Self::SearchSkills => schema::<FoundSkills>(),
            Self::ReadSkill => schema::<SkillText>(),
            Self::ReadSkillFile => schema::<FilePart>(),
            Self::RunSkill | Self::RunPlan | Self::GetRun => schema::<RunAnswer>(),
            Self::SpawnAgent => schema::<SpawnedAgent>(),
            Self::SendMessage => schema::<SentMessage>(),
            Self::ReadMessages => schema::<Mail>(),
        }
    }
}

/// Returns the schema of a type without formats of numbers, which are Rust's and which clients complain about.
fn schema<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    let mut schema = Value::Object((*schema_for_output::<T>()).clone());
    strip(&mut schema);
    match schema {
        Value::Object(object) => Arc::new(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Arc::default()
        }
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(object) => {
            let is_numeric =
                |format: &str| format.starts_with("int") || format.starts_with("uint") || format == "double";
            if object.get("format").and_then(Value::as_str).is_some_and(is_numeric) {
                object.remove("format");
            }
            object.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_it_takes_and_gives_and_has_a_name_that_no_skill_has() {
        for own in OwnTool::ALL {
            let tool = own.tool();
            assert!(own.name().contains('_') && own.name().parse::<artel_model::name::SkillName>().is_err());
            assert_eq!(OwnTool::named(own.name()), Some(own));
            assert_eq!(tool.input_schema["type"], "object", "{}", own.name());
            assert_eq!(tool.output_schema.as_ref().unwrap()["type"], "object", "{}", own.name());
            let text = serde_json::to_string(&tool).unwrap();
            assert!(!text.contains("\"uint"), "{text}");
        }
    }
}
