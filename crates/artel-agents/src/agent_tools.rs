//! What an agent at work can do: see its tools, call them, and leave word of what it said.

use std::sync::Arc;

use artel_engine::SkillShelf;
use artel_model::agent::{AgentEvent, AgentRecord, AgentSpec, Policy, StampedAgentEvent, ToolUse};
use artel_model::schema::Schema;
use artel_model::skill::Skill;
use serde_json::{Map, Value, json};

use crate::agents::Shared;
use crate::driver::Control;
use crate::error::{CallError, chain};
use crate::own_tool::{READ_SKILL_FILE, SEND_MESSAGE, SPAWN_AGENT};

/// An agent's place at work.
pub struct AgentTools {
    shared: Arc<Shared>,
    record: AgentRecord,
    control: Control,
}

/// A tool that an agent may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOffer {
    /// Its name: `skill`, `skill/script`, or one of artel's own.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of what goes in.
    pub parameters: Value,
}

impl AgentTools {
    pub(crate) fn new(shared: Arc<Shared>, record: AgentRecord, control: Control) -> Self {
        Self { shared, record, control }
    }

    /// Returns the agent as it was when its work began.
    pub fn agent(&self) -> &AgentRecord {
        &self.record
    }

    /// Returns the skills that the agent sees.
    pub fn shelf(&self) -> Arc<SkillShelf> {
        self.shared.parts.shelves.shelf(self.record.viewer())
    }

    /// Returns the skills that the agent was given and may read, in their order.
    pub fn skills(&self) -> Vec<Arc<Skill>> {
        let shelf = self.shelf();
        let names = self.record.spec.skills.iter().flatten();
        let skills = names.filter_map(|name| shelf.catalog().registry().get(name, None).ok());
        skills.filter(|skill| may_read(&self.record.spec, skill)).cloned().collect()
    }

    /// Returns exactly the tools that the agent may call, by name.
    pub fn tools(&self) -> Vec<ToolOffer> {
        tools(&self.shelf(), &self.record.spec.policy)
    }

    /// Calls a tool. The call passes the gate and is kept, whatever comes of it.
    pub async fn call(
        &self,
        tool: &str,
        params: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        self.shared.call_at_work(&self.record, tool, params, self.control.clone()).await
    }

    /// Keeps what was said. What cannot be kept is logged, and the work goes on.
    pub async fn say(&self, by: &str, what: Value) {
        let id = self.record.agent_id;
        let at = self.shared.parts.clock.now();
        let event = StampedAgentEvent { at, event: AgentEvent::Said { by: by.to_owned(), what } };
        if let Err(error) = self.shared.parts.stores.agents.append_said(id, vec![event]).await {
            tracing::warn!(agent = %id, error = chain(&error), "what the agent said is not kept");
        }
    }
}

/// Says whether an agent may read the files of a skill.
pub(crate) fn may_read(spec: &AgentSpec, skill: &Skill) -> bool {
    if spec.policy.forbids(ToolUse::skill(&skill.name).names()) {
        return false;
    }
    match &spec.readable {
        Some(readable) => readable.contains(&skill.name),
        None => is_allowed(&spec.policy, skill),
    }
}

/// Says whether anything of a skill may be called.
pub(crate) fn is_allowed(policy: &Policy, skill: &Skill) -> bool {
    uses(skill).into_iter().any(|(tool, _)| policy.allows(tool.names()))
}

fn uses(skill: &Skill) -> Vec<(ToolUse, Option<&artel_model::skill::Script>)> {
    let is_entrypoint = |script: &artel_model::skill::Script| skill.entrypoint.as_ref() == Some(&script.name);
    let scripts = skill.scripts.iter().filter(|script| script.is_executable);
    let mut uses: Vec<_> = scripts
        .map(|script| (ToolUse::script(&skill.name, &script.name, is_entrypoint(script)), Some(script)))
        .collect();
    if skill.composite.is_some() {
        uses.push((ToolUse::skill(&skill.name), None));
    }
    uses
}

fn tools(shelf: &SkillShelf, policy: &Policy) -> Vec<ToolOffer> {
    let mut offers = Vec::new();
    let catalog = shelf.catalog();
    for skill in catalog.registry().list(&[]) {
        for (tool, script) in uses(skill).into_iter().filter(|(tool, _)| policy.allows(tool.names())) {
            let own = script.and_then(|script| script.parameters_schema.as_ref());
            let schema: &Schema = own.unwrap_or(&skill.interface.parameters);
            let about = script.and_then(|script| script.description.as_deref()).unwrap_or(&skill.description);
            offers.push(ToolOffer {
                name: tool.to_string(),
                description: about.to_owned(),
                parameters: schema.document().clone(),
            });
        }
    }
    let own = own_tools()
        .into_iter()
        .filter(|tool| ToolUse::named(&tool.name).is_ok_and(|tool| policy.allows(tool.names())));
    offers.extend(own);
    offers.sort_by(|a, b| a.name.cmp(&b.name));
    offers
}

/// The tools that artel itself has for agents.
fn own_tools() -> [ToolOffer; 3] {
    let text = |about: &str| json!({"type": "string", "description": about});
    let object = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    [
        ToolOffer {
            name: READ_SKILL_FILE.to_owned(),
            description: "Reads a file of one of your skills.".to_owned(),
            parameters: object(
                json!({"skill": text("The skill's name."), "path": text("The file, inside the skill's folder.")}),
                &["skill", "path"],
            ),
        },
        ToolOffer {
            name: SEND_MESSAGE.to_owned(),
            description: "Sends a message to another agent, to everybody, or about a topic.".to_owned(),
            parameters: object(
                json!({
                    "recipient_id": text("An agent's id, or `broadcast`."),
                    "topic": text("What it is about, instead of a recipient."),
                    "message_type": {"type": "string", "enum": ["event", "request", "response", "error", "broadcast"]},
                    "payload": {"type": "object"},
                    "correlation_id": text("Of the request that is answered."),
                    "priority": {"type": "integer", "minimum": 1, "maximum": 10},
                    "ttl": {"type": "integer", "minimum": 1, "maximum": 3600},
                }),
                &["message_type", "payload"],
            ),
        },
        ToolOffer {
            name: SPAWN_AGENT.to_owned(),
            description: "Spawns an agent below you, which may do at most what you may.".to_owned(),
            parameters: object(
                json!({
                    "task": text("What it is for."),
                    "label": text("What to call it."),
                    "skills": {"type": "array", "items": {"type": "string"}},
                    "skill": text("A skill for it to run."),
                    "params": {"type": "object"},
                    "driver": {"type": "string", "enum": ["skill", "plan", "llm", "external"]},
                    "timeout": {"type": "integer", "minimum": 1},
                }),
                &[],
            ),
        },
    ]
}
