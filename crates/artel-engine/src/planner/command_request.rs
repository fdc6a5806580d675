//! What a planner that is a program reads from its standard input: one JSON object, with a schema of its own.

use artel_model::id::PlanId;
use artel_model::name::{LocalName, SkillName};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ask::PlanningRequest;
use super::clock;
use super::offer::{Runs, ScriptOffer, SkillOffer};

/// The version of the document.
const VERSION: &str = "0";

/// A wish for a plan, as a program reads it.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "PlanningRequest")]
pub struct CommandRequest {
    /// The version of this document: `"0"`.
    pub version: &'static str,
    /// What a person asked for, in words.
    pub request: String,
    /// The id that the plan gets, whatever `requestId` it says.
    #[schemars(with = "uuid::Uuid")]
    pub plan_id: PlanId,
    /// Which try it is, from 1.
    pub attempt: u32,
    /// The plan that failed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<uuid::Uuid>")]
    pub parent_plan_id: Option<PlanId>,
    /// What was wrong with the attempts before.
    pub feedback: Vec<String>,
    /// Skills that the plan must not use; they are not among `skills`.
    #[schemars(with = "Vec<String>")]
    pub disabled_skills: Vec<SkillName>,
    /// Milliseconds until the plan must be there.
    pub deadline_ms: u64,
    /// The skills that the plan may use, by name.
    pub skills: Vec<CommandSkill>,
}

/// A skill that the plan may use.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandSkill {
    /// Its name, for `skill` in the plan.
    #[schemars(with = "String")]
    pub name: SkillName,
    /// Its version.
    pub version: String,
    /// What it does and when to use it.
    pub description: String,
    /// Its instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The JSON Schema of its input when no script is named; nothing when a script must be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters_schema: Option<Value>,
    /// Its scripts, for `script` in the plan.
    pub scripts: Vec<CommandScript>,
}

/// A script of a skill.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandScript {
    /// Its name.
    #[schemars(with = "String")]
    pub name: LocalName,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its input.
    pub parameters_schema: Value,
}

impl CommandRequest {
    /// Returns the document for a request.
    pub fn new(ask: &PlanningRequest) -> Self {
        let left = clock::left_until(ask.deadline).as_millis();
        Self {
            version: VERSION,
            request: ask.text.clone(),
            plan_id: ask.plan_id,
            attempt: ask.attempt,
            parent_plan_id: ask.parent,
            feedback: ask.feedback.clone(),
            disabled_skills: ask.disabled.iter().cloned().collect(),
            deadline_ms: u64::try_from(left).unwrap_or(u64::MAX),
            skills: ask.usable().map(CommandSkill::new).collect(),
        }
    }

    /// Returns the JSON Schema of the document.
    pub fn json_schema() -> Value {
        schemars::schema_for!(Self).to_value()
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("texts and numbers are JSON");
        bytes.push(b'\n');
        bytes
    }
}

impl CommandSkill {
    fn new(offer: &SkillOffer) -> Self {
        let runs = match offer.runs {
            Runs::Steps | Runs::Script(_) => Some(offer.parameters.document().clone()),
            Runs::Nothing => None,
        };
        Self {
            name: offer.name.clone(),
            version: offer.version.to_string(),
            description: offer.description.clone(),
            instructions: offer.instructions.as_deref().map(str::to_owned),
            parameters_schema: runs,
            scripts: offer.scripts.iter().map(CommandScript::new).collect(),
        }
    }
}

impl CommandScript {
    fn new(script: &ScriptOffer) -> Self {
        Self {
            name: script.name.clone(),
            description: script.description.clone(),
            parameters_schema: script.parameters.document().clone(),
        }
    }
}
