//! The tools that artel itself has for agents: reading a skill's file, sending a message, spawning an agent below.

use std::sync::Arc;

use artel_engine::SkillShelf;
use artel_model::agent::{AgentEvent, AgentRecord, CallOrigin, Cause, OperationEnd, SpawnRequest, ToolUse};
use artel_model::message::{MessageDraft, Sender};
use artel_model::name::SkillName;
use serde_json::{Map, Value, json};

use crate::agent_tools::may_read;
use crate::agents::Shared;
use crate::call::call_error;
use crate::error::{CallError, SpawnFailed};
use crate::spawn::SpawnCaller;

/// Reads a file of a skill that the agent was given.
pub(crate) const READ_SKILL_FILE: &str = "read_skill_file";
/// Sends a message.
pub(crate) const SEND_MESSAGE: &str = "send_message";
/// Spawns an agent below.
pub(crate) const SPAWN_AGENT: &str = "spawn_agent";
/// What an agent may say of one that it spawns.
const SPAWN_FIELDS: &[&str] =
    &["task", "label", "name", "skills", "skill", "params", "chain", "driver", "timeout"];
/// Bytes of a skill's file that are shown to an agent.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// One of artel's own tools.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OwnTool {
    ReadSkillFile,
    SendMessage,
    SpawnAgent,
}

impl OwnTool {
    /// Returns the tool of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            READ_SKILL_FILE => Some(Self::ReadSkillFile),
            SEND_MESSAGE => Some(Self::SendMessage),
            SPAWN_AGENT => Some(Self::SpawnAgent),
            _ => None,
        }
    }
}

impl Shared {
    /// Does what artel itself does for agents, and keeps what came of it.
    pub(crate) async fn use_own_tool(
        self: &Arc<Self>,
        record: &AgentRecord,
        used: &ToolUse,
        tool: OwnTool,
        params: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        let came = match tool {
            OwnTool::ReadSkillFile => {
                read_skill_file(&self.parts.shelves.shelf(record.viewer()), record, &params)
            }
            OwnTool::SendMessage => self.send_message(record, params).await,
            OwnTool::SpawnAgent => Box::pin(self.spawn_below(record, params)).await,
        };
        let error = came.as_ref().err().map(ToString::to_string);
        let end =
            OperationEnd { operation: used.to_string(), results: Map::new(), error, entities: Vec::new() };
        let event = AgentEvent::Called(end);
        self.change(record.agent_id, |_| vec![event.clone()]).await.map_err(call_error)?;
        came
    }

    async fn send_message(
        &self,
        record: &AgentRecord,
        mut params: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        // An agent speaks for itself only.
        params.insert("sender_id".to_owned(), Value::String(Sender::Agent(record.agent_id).to_string()));
        let draft = MessageDraft::read(&params).map_err(|problems| {
            let list: Vec<String> =
                problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
            CallError::Invalid(list.join("; "))
        })?;
        let sent = self.parts.announce.send(draft).await.map_err(CallError::Failed)?;
        Ok(Map::from_iter([
            ("message_id".to_owned(), json!(sent.id)),
            ("correlation_id".to_owned(), json!(sent.correlation)),
        ]))
    }

    async fn spawn_below(
        self: &Arc<Self>,
        record: &AgentRecord,
        params: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        // What is not offered is not taken: an agent cannot give another a role, a workspace or a program.
        if let Some(field) = params.keys().find(|field| !SPAWN_FIELDS.contains(&field.as_str())) {
            return Err(CallError::Invalid(format!("an agent cannot say `{field}` of an agent below it")));
        }
        let mut request = SpawnRequest::read(&params).map_err(|errors| {
            let list: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            CallError::Invalid(list.join("; "))
        })?;
        // Whatever it says, the agent below is its own.
        request.parent = Some(record.agent_id);
        let cause = Cause::by(record.agent_id.to_string());
        let caller = SpawnCaller { viewer: record.viewer(), origin: CallOrigin::Remote };
        match self.clone().spawn(&request, caller, cause).await {
            Ok(spawned) => Ok(Map::from_iter([
                ("agent_id".to_owned(), json!(spawned.record.agent_id)),
                ("state".to_owned(), json!(spawned.record.state())),
                ("warnings".to_owned(), json!(spawned.warnings)),
            ])),
            Err(SpawnFailed::Refused(refused)) => Err(CallError::Invalid(refused.to_string())),
            Err(SpawnFailed::Failed(error)) => Err(CallError::Agents(error)),
        }
    }
}

/// Reads a file of a skill that the agent may read.
fn read_skill_file(
    shelf: &SkillShelf,
    record: &AgentRecord,
    params: &Map<String, Value>,
) -> Result<Map<String, Value>, CallError> {
    let text = |name: &str| {
        let missing = || CallError::Invalid(format!("`{name}` is missing, or not a text"));
        params.get(name).and_then(Value::as_str).ok_or_else(missing)
    };
    let (skill, path) = (text("skill")?, text("path")?);
    let none = || CallError::Invalid(format!("you have no skill `{skill}`"));
    let name: SkillName = skill.parse().map_err(|_| none())?;
    let entry = shelf.catalog().find(&name, None).map_err(|_| none())?;
    if !entry.skill.as_deref().is_some_and(|skill| may_read(&record.spec, skill)) {
        return Err(none());
    }
    let tree = entry.location.tree().ok_or_else(|| CallError::Invalid(format!("`{skill}` has no files")))?;
    // Only what the listing holds can be read: nothing outside the skill's folder.
    if tree.listing().file(path).is_none() {
        return Err(CallError::Invalid(format!("`{skill}` has no file `{path}`")));
    }
    let read = tree.read(path.as_ref(), FILE_BYTES_MAX);
    let bytes = read.map_err(|error| CallError::Invalid(error.to_string()))?;
    let content =
        String::from_utf8(bytes).map_err(|_| CallError::Invalid(format!("`{path}` is not text")))?;
    Ok(Map::from_iter([
        ("skill".to_owned(), json!(skill)),
        ("path".to_owned(), json!(path)),
        ("content".to_owned(), json!(content)),
    ]))
}
