//! Spawning, decided without doing anything: validate, compose, attenuate. When something does not fit, nothing comes to
//! be, and everything that does not fit is told at once.

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::client_rule::CallOrigin;
use super::policy::{Layer, Policy};
use super::record::{AgentRecord, AgentState};
use super::role::{Role, RoleName};
use super::spawn_read::SpawnRequest;
use super::spec::{AgentSpec, CommandLine, Driver, DriverKind, SkillContract};
use crate::access::Viewer;
use crate::limit::{AGENT_CHILDREN_MAX, AGENT_DEPTH_MAX};
use crate::name::SkillName;
use crate::policy::{ComposeMode, compose};
use crate::set::{SetErrorCode, validate_set};
use crate::skill::Skill;

/// What spawning has to know.
pub struct SpawnContext<'a> {
    /// Finds a skill that can be used, by its name.
    pub find: &'a dyn Fn(&str) -> Option<&'a Skill>,
    /// Finds a role.
    pub role: &'a dyn Fn(&RoleName) -> Option<Role>,
    /// The parent, when one is named.
    pub parent: Parent<'a>,
    /// Whose eyes skills are seen with, unless there is a parent: a child sees what its parent does.
    pub viewer: Option<&'a Viewer>,
    /// Where the call comes from.
    pub origin: CallOrigin,
    /// What agents may do that are given nothing and have no parent.
    pub default: &'a Layer,
    /// How many agents there may be.
    pub limits: SpawnLimits,
}

/// The parent of an agent.
#[derive(Clone, Copy, Debug)]
pub enum Parent<'a> {
    /// None was named.
    None,
    /// One was named that does not exist.
    Unknown,
    /// This one.
    Agent(&'a AgentRecord),
}

/// How deep and how wide agents may spawn agents.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SpawnLimits {
    /// How many agents may be above one.
    pub depth: u32,
    /// How many living children one may have.
    pub children: u32,
}

impl Default for SpawnLimits {
    fn default() -> Self {
        Self { depth: AGENT_DEPTH_MAX, children: AGENT_CHILDREN_MAX }
    }
}

/// Why an agent was not spawned.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SpawnError {
    /// The typed code.
    pub code: SpawnErrorCode,
    /// For a person.
    pub message: String,
    /// The skill it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
}

/// Why an agent was not spawned: everything that does not fit.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, thiserror::Error)]
#[error("{}", .errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join("; "))]
pub struct SpawnRefused {
    /// Always false: what a validation says of a set that cannot be used.
    pub valid: bool,
    /// Why not.
    pub errors: Vec<SpawnError>,
    /// What is odd besides.
    pub warnings: Vec<String>,
}

/// The typed codes of a refused spawn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SpawnErrorCode {
    /// A field that is missing, unknown or of the wrong kind.
    InvalidRequest,
    /// A refusal of the set of skills.
    Set(SetErrorCode),
    /// The role does not exist.
    UnknownRole,
    /// The parent does not exist.
    UnknownParent,
    /// The parent is in no state to have children.
    ParentState,
    /// Too many agents above.
    DepthLimit,
    /// The parent has too many living children.
    ChildrenLimit,
    /// There are too many agents.
    AgentsLimit,
    /// What the agent is to run cannot be run.
    InvalidPlan,
    /// What the agent is to run is forbidden to it.
    ToolForbidden,
    /// What the agent is to run is not allowed to it.
    ToolNotAllowed,
    /// What should make it act is not configured.
    DriverUnavailable,
    /// The program may not be started from where the call comes from.
    ClientNotAllowed,
}

impl SpawnErrorCode {
    /// Every code.
    pub const ALL: [Self; 16] = [
        Self::InvalidRequest,
        Self::Set(SetErrorCode::UnknownSkill),
        Self::Set(SetErrorCode::MissingRequired),
        Self::Set(SetErrorCode::IncompatibleSkills),
        Self::Set(SetErrorCode::TooManySkills),
        Self::UnknownRole,
        Self::UnknownParent,
        Self::ParentState,
        Self::DepthLimit,
        Self::ChildrenLimit,
        Self::AgentsLimit,
        Self::InvalidPlan,
        Self::ToolForbidden,
        Self::ToolNotAllowed,
        Self::DriverUnavailable,
        Self::ClientNotAllowed,
    ];

    /// Returns the code as documents write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::Set(SetErrorCode::UnknownSkill) => "UNKNOWN_SKILL",
            Self::Set(SetErrorCode::MissingRequired) => "MISSING_REQUIRED",
            Self::Set(SetErrorCode::IncompatibleSkills) => "INCOMPATIBLE_SKILLS",
            Self::Set(SetErrorCode::TooManySkills) => "TOO_MANY_SKILLS",
            Self::UnknownRole => "UNKNOWN_ROLE",
            Self::UnknownParent => "UNKNOWN_PARENT",
            Self::ParentState => "PARENT_STATE",
            Self::DepthLimit => "DEPTH_LIMIT",
            Self::ChildrenLimit => "CHILDREN_LIMIT",
            Self::AgentsLimit => "AGENTS_LIMIT",
            Self::InvalidPlan => "INVALID_PLAN",
            Self::ToolForbidden => "TOOL_FORBIDDEN",
            Self::ToolNotAllowed => "TOOL_NOT_ALLOWED",
            Self::DriverUnavailable => "DRIVER_UNAVAILABLE",
            Self::ClientNotAllowed => "CLIENT_NOT_ALLOWED",
        }
    }
}

impl Serialize for SpawnErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SpawnErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|code| code.as_str() == text);
        known.ok_or_else(|| D::Error::custom(format!("`{text}` is no reason why an agent is not spawned")))
    }
}

impl SpawnError {
    /// Makes an error that is about no skill.
    pub fn new(code: SpawnErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), skill: None }
    }
}

impl SpawnRefused {
    /// Makes a refusal.
    pub fn new(errors: Vec<SpawnError>, warnings: Vec<String>) -> Self {
        Self { valid: false, errors, warnings }
    }
}

/// Decides what an agent would be, or why it cannot be. Returns what is odd about it too.
pub fn prepare(
    request: &SpawnRequest,
    context: &SpawnContext<'_>,
) -> Result<(AgentSpec, Vec<String>), SpawnRefused> {
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    let skills = request.skills.as_deref().map(|names| {
        let report = validate_set(names, context.find);
        warnings = report.warnings;
        errors.extend(report.errors.into_iter().map(|error| SpawnError {
            code: SpawnErrorCode::Set(error.code),
            message: error.message,
            skill: error.skill,
        }));
        names.iter().filter_map(|name| (context.find)(name)).collect::<Vec<&Skill>>()
    });
    let role = request.role.as_ref().and_then(|name| {
        let role = (context.role)(name);
        if role.is_none() {
            errors.push(SpawnError::new(SpawnErrorCode::UnknownRole, format!("there is no role `{name}`")));
        }
        role
    });
    let parent = check_parent(request, context, &mut errors);
    let driver = driver(request, &mut errors);
    let (Some(driver), true) = (driver, errors.is_empty()) else {
        return Err(SpawnRefused::new(errors, warnings));
    };
    let composed = compose(skills.as_deref().unwrap_or_default(), ComposeMode::Union);
    let own = match (skills.as_deref(), &role, parent) {
        // An empty list allows nothing, whatever a role would.
        (Some([]), _, _) => vec![Layer::given(&composed, None)],
        (Some(_), _, _) | (None, Some(_), _) => vec![Layer::given(&composed, role.as_ref())],
        (None, None, None) => vec![context.default.clone()],
        (None, None, Some(_)) => Vec::new(),
    };
    let policy = Policy::attenuate(parent.map(|parent| (parent.agent_id, &parent.spec.policy)), own);
    let spec = AgentSpec {
        name: request.name.clone(),
        task: request.task.clone(),
        skills: skills.is_some().then(|| composed.skills.clone()),
        readable: readable(skills.is_some().then_some(&composed.skills), parent),
        role: request.role.clone(),
        workspace_id: request.workspace_id.clone(),
        parent: parent.map(|parent| parent.agent_id),
        viewer: parent.map_or(context.viewer, AgentRecord::viewer).cloned(),
        origin: context.origin,
        depth: parent.map_or(0, |parent| parent.spec.depth + 1),
        max_children: request.max_children.unwrap_or(context.limits.children).min(context.limits.children),
        driver,
        model: request.model.clone(),
        thinking: request.thinking,
        timeout_ms: request.timeout_s.map(|seconds| seconds * 1000),
        policy,
        execution_protocol: composed.execution_protocol,
        contracts: contracts(skills.as_deref().unwrap_or_default()),
        metadata: request.metadata.clone(),
    };
    Ok((spec, warnings))
}

/// A child reads no more than its parent: of its own skills those that the parent may read.
fn readable(own: Option<&Vec<SkillName>>, parent: Option<&AgentRecord>) -> Option<Vec<SkillName>> {
    let above = parent.and_then(|parent| parent.spec.readable.as_ref());
    match (own, above) {
        (Some(own), Some(above)) => Some(own.iter().filter(|skill| above.contains(skill)).cloned().collect()),
        (list, None) | (None, list) => list.cloned(),
    }
}

fn check_parent<'a>(
    request: &SpawnRequest,
    context: &SpawnContext<'a>,
    errors: &mut Vec<SpawnError>,
) -> Option<&'a AgentRecord> {
    let parent = match (request.parent, context.parent) {
        (None, Parent::None) => return None,
        // A parent that is named but not given must not turn into none: that would lift its restrictions.
        (named, Parent::Unknown) | (named @ Some(_), Parent::None) => {
            let named = named.map(|id| format!(" {id}")).unwrap_or_default();
            errors.push(SpawnError::new(SpawnErrorCode::UnknownParent, format!("there is no agent{named}")));
            return None;
        }
        (Some(named), Parent::Agent(parent)) if named != parent.agent_id => {
            errors.push(SpawnError::invalid("parent", "an agent can only spawn children of its own"));
            return None;
        }
        (Some(_) | None, Parent::Agent(parent)) => parent,
    };
    let state = parent.state();
    match state {
        AgentState::Idle | AgentState::Running => {}
        AgentState::Paused
        | AgentState::Completed
        | AgentState::Failed
        | AgentState::Cancelled
        | AgentState::Terminated => errors.push(SpawnError::new(
            SpawnErrorCode::ParentState,
            format!("agent {} is {}, so it cannot have children", parent.agent_id, state.as_str()),
        )),
    }
    if parent.spec.depth >= context.limits.depth {
        errors.push(SpawnError::new(
            SpawnErrorCode::DepthLimit,
            format!(
                "agent {} has {} agents above it, which is the limit",
                parent.agent_id, parent.spec.depth
            ),
        ));
    }
    Some(parent)
}

/// What makes the agent act follows from what it is given, unless it is said.
fn driver(request: &SpawnRequest, errors: &mut Vec<SpawnError>) -> Option<Driver> {
    let given = [
        request.skill.as_ref().map(|_| DriverKind::Skill),
        request.plan.as_ref().map(|_| DriverKind::Plan),
        request.command.as_ref().map(|_| DriverKind::Command),
    ];
    let mut given = given.into_iter().flatten();
    let (first, second) = (given.next(), given.next());
    let usual = if request.task.is_some() { DriverKind::Plan } else { DriverKind::External };
    let kind = request.driver.or(first).unwrap_or(usual);
    let mut wrong = |message: String| errors.push(SpawnError::invalid("driver", &message));
    if second.is_some() || first.is_some_and(|first| first != kind) {
        let has = first.map_or("", DriverKind::as_str);
        wrong(format!(
            "`{}` does not go with `{has}`: give one thing to do",
            second.unwrap_or(kind).as_str()
        ));
        return None;
    }
    let needs_task = match kind {
        DriverKind::Llm | DriverKind::Command => true,
        DriverKind::Plan => request.plan.is_none(),
        DriverKind::Skill | DriverKind::External => false,
    };
    if needs_task && request.task.is_none() {
        wrong(format!("`{}` needs a `task`", kind.as_str()));
    }
    match kind {
        DriverKind::Skill => match &request.skill {
            Some(skill) => Some(Driver::Skill {
                skill: skill.clone(),
                params: request.params.clone(),
                chain: request.chain,
            }),
            None => {
                wrong("`skill` needs the name of the skill to run, in `skill`".to_owned());
                None
            }
        },
        DriverKind::Plan => Some(Driver::Plan { plan: request.plan.clone() }),
        DriverKind::Llm => Some(Driver::Llm),
        DriverKind::External => Some(Driver::External),
        DriverKind::Command => match &request.command {
            Some(CommandLine { client: None, command }) if command.is_empty() => {
                wrong("`command` needs a `client` or a `command` that is not empty".to_owned());
                None
            }
            Some(command) => Some(Driver::Command(command.clone())),
            None => {
                wrong("`command` needs a `client` or a `command`".to_owned());
                None
            }
        },
    }
}

fn contracts(skills: &[&Skill]) -> Vec<SkillContract> {
    let mut seen: BTreeSet<&SkillName> = BTreeSet::new();
    let mut contracts = Vec::new();
    for skill in skills {
        let rules = &skill.rules;
        let is_empty = rules.preconditions.is_empty()
            && rules.postconditions.is_empty()
            && rules.output_contract.is_none();
        if is_empty || !seen.insert(&skill.name) {
            continue;
        }
        let output = rules.output_contract.as_ref();
        contracts.push(SkillContract {
            skill: skill.name.clone(),
            preconditions: rules.preconditions.clone(),
            postconditions: rules.postconditions.clone(),
            output_type: output.map(|contract| contract.kind.clone()),
            output_schema: output
                .and_then(|contract| contract.schema.as_ref())
                .map(|schema| schema.document().clone()),
        });
    }
    contracts
}
