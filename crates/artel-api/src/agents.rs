//! Agents: what is asked for, and what is said about them.

use artel_model::access::UserId;
use artel_model::agent::{AgentDocument, DriverKind, PolicyDocument, RoleName, Thinking};
use artel_model::limit::{
    AGENT_CHILDREN_MAX, AGENT_METADATA_KEYS_MAX, AGENT_TASK_BYTES_MAX, AGENT_WORD_BYTES_MAX,
    API_PAGE_ITEMS_MAX, COMMAND_WORDS_MAX, TIMEOUT_S_MAX, TOOL_NAME_BYTES_MAX,
};
use artel_model::name::SkillName;
use artel_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::shapes;

/// An agent that is wanted. Everything is optional; what makes it act follows from what is said.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(transform = shapes::agent)]
#[schemars(example = json!({"skill": "navigate", "params": {"location": "kitchen"}, "name": "scout"}))]
pub struct AgentRequest {
    /// What it is for.
    #[serde(default)]
    #[schemars(length(min = 1, max = AGENT_TASK_BYTES_MAX), regex(pattern = r"\S"))]
    pub task: Option<String>,
    /// The skills it gets; nothing for what is configured, none for an agent that may do nothing.
    #[serde(default)]
    #[schemars(schema_with = "shapes::skill_names")]
    pub skills: Option<Vec<String>>,
    /// The skill it runs.
    #[serde(default)]
    #[schemars(with = "Option<SkillName>")]
    pub skill: Option<String>,
    /// The parameters of that skill.
    #[serde(default)]
    pub params: Option<Map<String, Value>>,
    /// Whether everything that the skill depends on runs first.
    #[serde(default)]
    pub chain: Option<bool>,
    /// The plan it runs.
    #[serde(default)]
    pub plan: Option<Map<String, Value>>,
    /// The program that works on its task, with its arguments.
    #[serde(default)]
    #[schemars(length(max = COMMAND_WORDS_MAX))]
    pub command: Option<Vec<String>>,
    /// The known client that works on its task.
    #[serde(default)]
    #[schemars(length(min = 1, max = AGENT_WORD_BYTES_MAX), regex(pattern = r"\S"))]
    pub client: Option<String>,
    /// Its role in a team.
    #[serde(default)]
    #[schemars(with = "Option<RoleName>")]
    pub role: Option<String>,
    /// The workspace it works in.
    #[serde(default)]
    #[schemars(length(min = 1, max = AGENT_WORD_BYTES_MAX), regex(pattern = r"\S"))]
    pub workspace_id: Option<String>,
    /// What people call it.
    #[serde(default)]
    #[schemars(schema_with = "shapes::agent_name")]
    pub name: Option<String>,
    /// Another name of `name`.
    #[serde(default)]
    #[schemars(schema_with = "shapes::agent_name")]
    pub label: Option<String>,
    /// The model it should use.
    #[serde(default)]
    #[schemars(schema_with = "shapes::model_name")]
    pub model: Option<String>,
    /// How long the model should think.
    #[serde(default)]
    pub thinking: Option<Thinking>,
    /// Who spawns it.
    #[serde(default)]
    pub parent: Option<Uuid>,
    /// What makes it act.
    #[serde(default)]
    pub driver: Option<DriverKind>,
    /// Seconds that one piece of its work may take.
    #[serde(default)]
    #[schemars(range(min = 1, max = TIMEOUT_S_MAX))]
    pub timeout: Option<u64>,
    /// What somebody wants to remember about it.
    #[serde(default)]
    #[schemars(extend("maxProperties" = AGENT_METADATA_KEYS_MAX))]
    pub metadata: Option<Map<String, Value>>,
    /// How many living children it may have.
    #[serde(default)]
    #[schemars(range(min = 0, max = AGENT_CHILDREN_MAX))]
    pub max_children: Option<u32>,
}

/// An agent that was spawned.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SpawnedAgent {
    /// The agent.
    pub agent: AgentDocument,
    /// What is odd about what it was given.
    pub warnings: Vec<String>,
}

/// Which agents a list holds; everything that is not said fits.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AgentsQuery {
    /// States, with commas between: `idle,running`.
    #[serde(default)]
    #[schemars(schema_with = "shapes::agent_states")]
    pub state: Option<String>,
    /// Spawned by this agent.
    #[serde(default)]
    pub parent: Option<Uuid>,
    /// With exactly this name.
    #[serde(default)]
    pub name: Option<String>,
    /// Spawned at this time or later.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Spawned before this time.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// Whose; an administrator's to say, everybody else sees their own.
    #[serde(default)]
    #[schemars(with = "Option<UserId>")]
    pub owner: Option<String>,
    /// The `next` of the page before.
    #[serde(default)]
    #[schemars(schema_with = "shapes::cursor")]
    pub after: Option<String>,
    /// Items on one page.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}

/// A tool to be called for an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"operation": "navigate", "params": {"location": "kitchen"}}))]
pub struct Operation {
    /// The tool: a skill, `skill/script`, or a tool of artel itself.
    #[schemars(length(min = 1, max = TOOL_NAME_BYTES_MAX))]
    pub operation: String,
    /// What goes in.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// Why a tool came to nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct OperationFailure {
    /// The typed code.
    pub code: String,
    /// For a person.
    pub message: String,
}

/// What came of a tool that was called for an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct OperationAnswer {
    /// The agent.
    pub agent_id: Uuid,
    /// The tool.
    pub operation: String,
    /// Whether it did what it should.
    pub ok: bool,
    /// What came out; nothing when it failed.
    pub output: Option<Map<String, Value>>,
    /// Why it failed.
    pub error: Option<OperationFailure>,
}

/// How an agent does.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct AgentMetrics {
    /// The agent.
    pub agent_id: Uuid,
    /// Calls it tried.
    pub operation_count: u64,
    /// Those that went well.
    pub success_count: u64,
    /// Those that did not, and those it was not allowed to make.
    pub error_count: u64,
    /// The part that went well; nothing when none was tried.
    pub success_rate: Option<f64>,
    /// Seconds that what was run for it took on average; nothing when nothing has ended.
    pub average_operation_time: Option<f64>,
}

/// What somebody wants to know about an agent's policy.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyQuery {
    /// Tools, with commas between, of which is to be said whether the agent may call them, and who decided.
    #[serde(default)]
    pub tools: Option<String>,
}

/// What an agent's policy says about a tool.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Decision {
    /// The tool.
    pub tool: String,
    /// Whether the agent may call it.
    pub allowed: bool,
    /// Why not, as a typed code.
    pub code: Option<String>,
    /// Who decided, in words: for a tool that may be called, a line for every layer.
    pub why: Vec<String>,
}

/// What an agent may call: its policy, and what that says about tools that were asked for.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct PolicyAnswer {
    /// The policy, with who brought each rule in.
    pub policy: PolicyDocument,
    /// What it says, in the order in which the tools were named.
    pub decisions: Vec<Decision>,
}

/// Agents that are at work and to whom nobody alive sees.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct LeftOver {
    /// Their ids, the latest first.
    pub agent_ids: Vec<Uuid>,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct PrunedAgents {
    /// How many agents.
    pub removed: u64,
    /// How many folders that agents which are gone worked in.
    pub folders: usize,
}
