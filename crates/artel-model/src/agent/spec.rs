//! What an agent is, from its spawning to its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::client_rule::CallOrigin;
use super::policy::Policy;
use super::role::RoleName;
use crate::access::Viewer;
use crate::id::AgentId;
use crate::name::SkillName;

/// What an agent is; nothing of it changes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct AgentSpec {
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The skills it was given, in order; nothing when none were said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<SkillName>>,
    /// The skills whose files it may read: those it was given, as far as everyone above it may read them too. Nothing when
    /// neither it nor anyone above was given a list: then those of which it may call something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readable: Option<Vec<SkillName>>,
    /// Its role in a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The workspace it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Who spawned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// Whose eyes its skills are seen with; nothing for somebody who has the data folder in hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewer: Option<Viewer>,
    /// Where the call came from that spawned it. A record that does not say is taken for one from the network.
    #[serde(default, rename = "call_origin", skip_serializing_if = "CallOrigin::is_remote")]
    pub origin: CallOrigin,
    /// How many agents are above it.
    #[serde(default)]
    pub depth: u32,
    /// How many living children it may have.
    pub max_children: u32,
    /// What makes it act.
    pub driver: Driver,
    /// The model it should use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long the model should think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Milliseconds that one piece of its work may take; what is configured when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What it may call.
    pub policy: Policy,
    /// The steps that its skills ask it to follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub execution_protocol: Vec<String>,
    /// What its skills ask for and promise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contracts: Vec<SkillContract>,
    /// What somebody wants to remember about it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// What a skill asks for and promises.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SkillContract {
    /// The skill.
    pub skill: SkillName,
    /// What must hold before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<String>,
    /// What holds after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub postconditions: Vec<String>,
    /// The type of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_type: Option<String>,
    /// The JSON Schema of its output, checked when the agent completes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

/// What makes an agent act.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "driver", rename_all = "snake_case")]
pub enum Driver {
    /// It runs a skill.
    Skill {
        /// The skill.
        skill: SkillName,
        /// Its parameters; with `chain`, an object for each skill.
        #[serde(default)]
        params: Map<String, Value>,
        /// Whether everything the skill depends on runs first.
        #[serde(default)]
        chain: bool,
    },
    /// It runs a plan, or plans for its task.
    Plan {
        /// The plan; nothing when a planner makes one for the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<Value>,
    },
    /// A model calls its tools.
    Llm,
    /// A program of somebody else works on the task.
    Command(CommandLine),
    /// Somebody drives it from outside.
    External,
}

/// A program to start, of a known client or any other.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CommandLine {
    /// The client: `claude`, `codex`, `goose`, `opencode`; nothing for a command line of one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The program and its arguments; `{task}`, `{model}`, `{work}` and `{skills}` stand for what they name. Nothing when
    /// the client's usual one is meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

/// The kinds of drivers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriverKind {
    /// Runs a skill.
    Skill,
    /// Runs a plan.
    Plan,
    /// A model calls tools.
    Llm,
    /// A program of somebody else.
    Command,
    /// Somebody outside.
    External,
}

/// How long a model should think.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// Not at all.
    Off,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// A lot.
    High,
    /// As much as it can.
    Xhigh,
}

impl Driver {
    /// Returns what kind it is.
    pub fn kind(&self) -> DriverKind {
        match self {
            Self::Skill { .. } => DriverKind::Skill,
            Self::Plan { .. } => DriverKind::Plan,
            Self::Llm => DriverKind::Llm,
            Self::Command(_) => DriverKind::Command,
            Self::External => DriverKind::External,
        }
    }
}

impl DriverKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::Skill, Self::Plan, Self::Llm, Self::Command, Self::External];

    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Plan => "plan",
            Self::Llm => "llm",
            Self::Command => "command",
            Self::External => "external",
        }
    }
}

impl Thinking {
    /// Every level, the least first.
    pub const ALL: &[Self] = &[Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh];

    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
        }
    }
}
