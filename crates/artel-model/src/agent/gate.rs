//! The gate: the one function that every tool call, operation and nested spawn of an agent passes, in one order: the agent
//! exists, its state allows it, nothing forbids the tool, everything allows it, the parameters fit, the workspace is its
//! own.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::policy::{Policy, Verdict};
use super::record::{AgentRecord, AgentState, cut_error};
use crate::id::AgentId;
use crate::name::{LocalName, SkillName};
use crate::schema::{Quote, Schema};
use crate::skill::{Script, Skill};
use crate::tool::{ToolCall, ToolCallError};

/// Characters of a tool and its argument that are shown.
const SHOWN_CHARS_MAX: usize = 300;

/// A tool as it is about to be used, under every name it goes by.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolUse {
    names: Vec<ToolCall>,
}

impl ToolUse {
    /// A script of a skill. The one that a skill runs by itself goes by the skill's name as well.
    pub fn script(skill: &SkillName, script: &LocalName, is_entrypoint: bool) -> Self {
        let own = named(&format!("{skill}/{script}"));
        let names = if is_entrypoint { vec![own, named(skill.as_str())] } else { vec![own] };
        Self { names }
    }

    /// Finds what a name means among skills: `skill`, or `skill/script`; nothing when it means neither. The one place that
    /// reads such names, so that a gate and what runs behind it agree.
    pub fn resolve<'s>(
        text: &str,
        find: impl FnOnce(&SkillName) -> Option<&'s Skill>,
    ) -> Option<SkillTool<'s>> {
        let (skill, script) = match text.split_once('/') {
            Some((skill, script)) => (skill, Some(script)),
            None => (text, None),
        };
        let skill = find(&skill.parse().ok()?)?;
        let script = match script {
            Some(script) => Some(skill.script(&script.parse().ok()?)?),
            None if skill.composite.is_some() => None,
            None => Some(skill.script(skill.entrypoint.as_ref()?)?),
        };
        let tool = match script {
            Some(script) => {
                Self::script(&skill.name, &script.name, skill.entrypoint.as_ref() == Some(&script.name))
            }
            None => Self::skill(&skill.name),
        };
        Some(SkillTool { tool, skill, script })
    }

    /// A skill that is made of others.
    pub fn skill(skill: &SkillName) -> Self {
        Self { names: vec![named(skill.as_str())] }
    }

    /// Anything else by its name: an operation, a tool of a server or a client, with an argument where one is known.
    pub fn named(text: &str) -> Result<Self, ToolCallError> {
        Ok(Self { names: vec![text.parse()?] })
    }

    /// Returns the names, the most exact first.
    pub fn names(&self) -> &[ToolCall] {
        &self.names
    }
}

/// A tool of a skill that was found by its name.
#[derive(Clone, Debug)]
pub struct SkillTool<'s> {
    /// What it is called.
    pub tool: ToolUse,
    /// The skill.
    pub skill: &'s Skill,
    /// The script; nothing for a skill that is made of others.
    pub script: Option<&'s Script>,
}

impl fmt::Display for ToolUse {
    /// An argument may hold anything and be long; what is shown is printable and short.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.names[0].to_string();
        for (place, character) in text.chars().enumerate() {
            match character {
                _ if place == SHOWN_CHARS_MAX => return f.write_str("…"),
                control if control.is_control() => write!(f, "{}", control.escape_default())?,
                plain => write!(f, "{plain}")?,
            }
        }
        Ok(())
    }
}

fn named(text: &str) -> ToolCall {
    text.parse().expect("the names of skills and scripts are names of tools")
}

/// What the gate has to know about an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentView<'a> {
    /// Its id.
    pub id: AgentId,
    /// Where it stands.
    pub state: AgentState,
    /// What it may call.
    pub policy: &'a Policy,
    /// Its own workspace, when it has one.
    pub workspace: Option<&'a str>,
}

impl<'a> From<&'a AgentRecord> for AgentView<'a> {
    fn from(record: &'a AgentRecord) -> Self {
        Self {
            id: record.agent_id,
            state: record.state(),
            policy: &record.spec.policy,
            workspace: record.spec.workspace_id.as_deref(),
        }
    }
}

/// What an agent wants to do.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The tool.
    pub tool: &'a ToolUse,
    /// What goes in, and what it must fit; nothing when whoever runs the tool checks that.
    pub parameters: Option<(&'a Map<String, Value>, &'a Schema)>,
    /// The workspace that the call names.
    pub workspace: Option<WorkspaceAccess<'a>>,
}

/// A workspace that a call names.
#[derive(Clone, Copy, Debug)]
pub struct WorkspaceAccess<'a> {
    /// The workspace.
    pub id: &'a str,
    /// Whether the agent's role lets it into the workspaces of others.
    pub may_visit: bool,
}

/// Why an agent may not do what it wants.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Denial {
    /// What kind of refusal.
    pub code: DenialCode,
    /// For a person: the tool, the agent, and who decided.
    pub message: String,
    /// The tool.
    pub tool: String,
    /// The agent.
    pub agent_id: AgentId,
}

/// The kinds of refusals.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DenialCode {
    /// There is no such agent.
    UnknownAgent,
    /// It is not in a state in which it may call anything.
    InvalidState,
    /// Something forbids the tool.
    ToolForbidden,
    /// Something does not allow it.
    ToolNotAllowed,
    /// What goes in does not fit.
    InvalidParameters,
    /// The workspace is another agent's.
    WorkspaceError,
}

impl DenialCode {
    /// Returns the code as documents write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownAgent => "UNKNOWN_AGENT",
            Self::InvalidState => "INVALID_STATE",
            Self::ToolForbidden => "TOOL_FORBIDDEN",
            Self::ToolNotAllowed => "TOOL_NOT_ALLOWED",
            Self::InvalidParameters => "INVALID_PARAMETERS",
            Self::WorkspaceError => "WORKSPACE_ERROR",
        }
    }

    /// Says whether the agent wanted more than it may, rather than the right thing in the wrong way or at the wrong time.
    pub fn is_violation(self) -> bool {
        match self {
            Self::ToolForbidden | Self::ToolNotAllowed | Self::WorkspaceError => true,
            Self::UnknownAgent | Self::InvalidState | Self::InvalidParameters => false,
        }
    }
}

/// How many violations of a schema a refusal tells.
const VIOLATIONS_SHOWN: usize = 5;

/// Decides whether an agent may do what it wants. `asked` is the id that was named, for an agent that does not exist.
pub fn admit(asked: AgentId, agent: Option<AgentView<'_>>, access: Access<'_>) -> Result<(), Denial> {
    let deny = |code, message: String| {
        Err(Denial { code, message: cut_error(&message), tool: access.tool.to_string(), agent_id: asked })
    };
    let Some(agent) = agent else {
        return deny(DenialCode::UnknownAgent, format!("there is no agent {asked}"));
    };
    if !may_act(agent.state) {
        let state = agent.state.as_str();
        return deny(
            DenialCode::InvalidState,
            format!("agent {asked} is {state}, so it cannot call `{}`", access.tool),
        );
    }
    if let Err((code, why)) = admit_tool(agent.policy, access.tool) {
        return deny(code, format!("agent {asked} may not call `{}`: {why}", access.tool));
    }
    if let Some((parameters, schema)) = access.parameters {
        let violations = schema.violations(&Value::Object(parameters.clone()), Quote::Values);
        if !violations.is_empty() {
            let list: Vec<String> = violations
                .iter()
                .take(VIOLATIONS_SHOWN)
                .map(|violation| format!("`{}`: {}", violation.path, violation.message))
                .collect();
            let message = format!("the parameters of `{}` do not fit: {}", access.tool, list.join("; "));
            return deny(DenialCode::InvalidParameters, message);
        }
    }
    match access.workspace {
        Some(workspace) if agent.workspace != Some(workspace.id) && !workspace.may_visit => deny(
            DenialCode::WorkspaceError,
            format!("agent {asked} may not use workspace `{}`: it is not its own", workspace.id),
        ),
        Some(_) | None => Ok(()),
    }
}

/// The part of the gate that needs the policy alone: whether a tool is forbidden, then whether it is allowed. For runs,
/// which carry the policy of their agent.
pub(crate) fn admit_tool(policy: &Policy, tool: &ToolUse) -> Result<(), (DenialCode, String)> {
    match policy.check(tool.names()) {
        Verdict::Allowed(_) => Ok(()),
        Verdict::Forbidden { layer, grant, name } => {
            let who = layer.origin.who_granted(grant);
            // Only names without an argument have others beside them, so this is short and printable.
            let alias = if name == tool.names()[0] { String::new() } else { format!(" as `{name}`") };
            let why = format!("{who} forbids it{alias} (`{}`)", grant.pattern);
            Err((DenialCode::ToolForbidden, why))
        }
        Verdict::NotAllowed(Some(layer)) => Err((DenialCode::ToolNotAllowed, layer.origin.not_allowed())),
        Verdict::NotAllowed(None) => Err((DenialCode::ToolNotAllowed, "it has no policy".to_owned())),
    }
}

fn may_act(state: AgentState) -> bool {
    match state {
        AgentState::Idle | AgentState::Running => true,
        AgentState::Paused
        | AgentState::Completed
        | AgentState::Failed
        | AgentState::Cancelled
        | AgentState::Terminated => false,
    }
}
