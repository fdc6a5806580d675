//! A few skills and a role, and agents made of them.

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::Viewer;
use crate::agent::{
    Agent, AgentEvent, AgentRecord, AgentSpec, CallOrigin, Cause, Layer, Parent, Role, SpawnContext,
    SpawnLimits, SpawnRefused, SpawnRequest, StampedAgentEvent, ToolUse, Work, WorkEnd, WorkOutcome, prepare,
};
use crate::id::AgentId;
use crate::rule::Rules;
use crate::skill::Skill;
use crate::time::Timestamp;
use crate::tool::ToolPattern;
use crate::version::Version;

pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn agent_id(number: u128) -> AgentId {
    AgentId(Uuid::from_u128(number))
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

pub(super) fn patterns(texts: &[&str]) -> Vec<ToolPattern> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

pub(super) fn tool(name: &str) -> ToolUse {
    ToolUse::named(name).unwrap()
}

pub(super) fn skill(name: &str, allowed: &[&str], forbidden: &[&str]) -> Skill {
    let rules =
        Rules { allowed_tools: patterns(allowed), forbidden_tools: patterns(forbidden), ..Rules::default() };
    Skill { rules, ..Skill::new(name.parse().unwrap(), Version::new(1, 0, 0), "Does it.".to_owned()) }
}

/// What there is to spawn agents from.
#[derive(Debug)]
pub(super) struct World {
    pub(super) skills: Vec<Skill>,
    pub(super) roles: Vec<Role>,
    pub(super) default: Layer,
    pub(super) viewer: Option<Viewer>,
}

impl World {
    /// Two skills and a role; agents that are given nothing may list.
    pub(super) fn usual() -> Self {
        let designer = Role {
            name: "designer".parse().unwrap(),
            allowed: patterns(&["entity.create_*"]),
            forbidden: patterns(&["solid.*"]),
        };
        Self {
            skills: vec![
                skill("reader", &["read", "list"], &["write"]),
                skill("writer", &["write", "read", "Bash(git:*)"], &[]),
            ],
            roles: vec![designer],
            default: Layer::configured(&patterns(&["list"]), &[]),
            viewer: None,
        }
    }

    /// Decides about a request that can be read.
    pub(super) fn prepare(
        &self,
        request: Value,
        parent: Parent<'_>,
    ) -> Result<(AgentSpec, Vec<String>), SpawnRefused> {
        let request = SpawnRequest::read(&object(request)).unwrap();
        let context = SpawnContext {
            find: &|name| self.skills.iter().find(|skill| skill.name.as_str() == name),
            role: &|name| self.roles.iter().find(|role| role.name == *name).cloned(),
            parent,
            viewer: self.viewer.as_ref(),
            origin: CallOrigin::Remote,
            default: &self.default,
            limits: SpawnLimits::default(),
        };
        prepare(&request, &context)
    }

    /// Returns what an agent would be.
    #[track_caller]
    pub(super) fn spec(&self, request: Value, parent: Parent<'_>) -> AgentSpec {
        self.prepare(request, parent).unwrap().0
    }

    /// Spawns an agent.
    #[track_caller]
    pub(super) fn spawn(&self, number: u128, request: Value, parent: Parent<'_>) -> AgentRecord {
        AgentRecord::new(agent_id(number), Box::new(self.spec(request, parent)), at(0))
    }
}

pub(super) fn somebody() -> Cause {
    Cause::by("somebody").because("a test")
}

pub(super) fn started() -> AgentEvent {
    let work = Work { skill: Some("reader".parse().unwrap()), ..Work::default() };
    AgentEvent::Started { work: Box::new(work), cause: somebody() }
}

pub(super) fn ended(outcome: WorkOutcome) -> AgentEvent {
    AgentEvent::Ended(Box::new(WorkEnd { outcome, calls: Vec::new(), results: Map::new() }))
}

/// An agent that is idle, and the event that made it.
pub(super) fn fresh() -> (Agent, StampedAgentEvent) {
    let spec =
        Box::new(World::usual().spec(serde_json::json!({"name": "one", "skills": ["reader"]}), Parent::None));
    let first = StampedAgentEvent { at: at(0), event: AgentEvent::Spawned { spec, cause: somebody() } };
    (Agent::begin(agent_id(1), &first).unwrap(), first)
}
