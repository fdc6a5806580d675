//! An agent as it is shown to the outside: every field at the top, and its policy with who brought each rule in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::policy::{Layer, LayerGrant, LayerOrigin, Policy};
use super::record::{AgentRecord, AgentState, ErrorEntry};
use super::role::RoleName;
use super::spec::{Driver, DriverKind, SkillContract, Thinking};
use crate::id::{AgentId, RunId};
use crate::name::SkillName;
use crate::time::Timestamp;

/// An agent: what it is, what it may call, where it stands and what it came to.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct AgentDocument {
    /// Its id.
    #[schemars(with = "uuid::Uuid")]
    pub agent_id: AgentId,
    /// What people call it.
    pub name: Option<String>,
    /// Its role in a team.
    #[schemars(with = "Option<String>")]
    pub role: Option<RoleName>,
    /// The workspace it works in.
    pub workspace_id: Option<String>,
    /// Where it stands.
    pub state: AgentState,
    /// The same in the word that teams use: `working` for `running`, `error` for `failed`.
    pub status: String,
    /// The skill that it runs, or was spawned to run.
    #[schemars(with = "Option<String>")]
    pub assigned_skill: Option<SkillName>,
    /// The parameters of that skill.
    pub skill_params: Map<String, Value>,
    /// What its calls came to: by the id of the step, and by the name of the skill for the last one.
    pub results: Map<String, Value>,
    /// Why its work failed, while that counts.
    pub error: Option<String>,
    /// Calls it tried.
    pub operation_count: u64,
    /// Those that went well.
    pub success_count: u64,
    /// Those that did not, and those it was not allowed to make.
    pub error_count: u64,
    /// Entities it made, the latest last.
    pub created_entities: Vec<String>,
    /// What went wrong, the latest last.
    pub error_log: Vec<ErrorEntry>,
    /// When it was spawned.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
    /// When its last work began.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub started_at: Option<Timestamp>,
    /// When its last work ended.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub completed_at: Option<Timestamp>,
    /// When something last happened to it.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_active: Timestamp,
    /// What somebody wants to remember about it.
    pub metadata: Map<String, Value>,
    /// What it is for.
    pub task: Option<String>,
    /// The skills it was given, in order; nothing when none were said.
    #[schemars(with = "Option<Vec<String>>")]
    pub skills: Option<Vec<SkillName>>,
    /// Who spawned it.
    #[schemars(with = "Option<uuid::Uuid>")]
    pub parent: Option<AgentId>,
    /// How many agents are above it.
    pub depth: u32,
    /// What makes it act.
    pub driver: DriverKind,
    /// The program that works on its task: the client, or the command line.
    pub command: Option<Vec<String>>,
    /// The model it should use.
    pub model: Option<String>,
    /// How long the model should think.
    pub thinking: Option<Thinking>,
    /// Seconds that one piece of its work may take; what is configured when absent.
    pub timeout: Option<u64>,
    /// How many living children it may have.
    pub max_children: u32,
    /// The run that does its work, while one does.
    #[schemars(with = "Option<uuid::Uuid>")]
    pub run_id: Option<RunId>,
    /// The steps that its skills ask it to follow.
    pub execution_protocol: Vec<String>,
    /// What must hold before, of all its skills.
    pub preconditions: Vec<String>,
    /// What holds after, of all its skills.
    pub postconditions: Vec<String>,
    /// What its skills promise to return, by their names.
    pub output_contract: Map<String, Value>,
    /// What it may call.
    pub policy: PolicyDocument,
}

/// What an agent may call: what every layer allows and none forbids.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PolicyDocument {
    /// Where the layers come from, the outermost first and the agent's own last.
    pub layers: Vec<String>,
    /// What is allowed, layer by layer; a call must be allowed in each of them.
    pub allowed: Vec<PolicyRule>,
    /// What is forbidden, whatever is allowed.
    pub forbidden: Vec<PolicyRule>,
}

/// One rule of a policy.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct PolicyRule {
    /// The tools that are meant.
    pub pattern: String,
    /// The layer, counted from 0.
    pub layer: usize,
    /// Who says so, in words.
    pub by: String,
    /// The skills that say so; none when it is a role or the configuration.
    #[schemars(with = "Vec<String>")]
    pub skills: Vec<SkillName>,
}

impl AgentDocument {
    /// Shows a record.
    pub fn of(record: &AgentRecord) -> Self {
        let spec = &record.spec;
        let work = record.standing.work();
        let (assigned_skill, skill_params) = assigned(record);
        let results = record.results.iter().map(|entry| (entry.name.clone(), entry.value.clone()));
        Self {
            agent_id: record.agent_id,
            name: spec.name.clone(),
            role: spec.role.clone(),
            workspace_id: spec.workspace_id.clone(),
            state: record.state(),
            status: record.state().team_word().to_owned(),
            assigned_skill,
            skill_params,
            results: results.collect(),
            error: record.error().map(str::to_owned),
            operation_count: record.operation_count,
            success_count: record.success_count,
            error_count: record.error_count,
            created_entities: record.created_entities.clone(),
            error_log: record.error_log.clone(),
            created_at: record.created_at,
            started_at: record.started_at,
            completed_at: record.completed_at,
            last_active: record.last_active,
            metadata: spec.metadata.clone(),
            task: spec.task.clone(),
            skills: spec.skills.clone(),
            parent: spec.parent,
            depth: spec.depth,
            driver: spec.driver.kind(),
            command: command(&spec.driver),
            model: spec.model.clone(),
            thinking: spec.thinking,
            timeout: spec.timeout_ms.map(|millis| millis / 1000),
            max_children: spec.max_children,
            run_id: work.and_then(|work| work.run_id),
            execution_protocol: spec.execution_protocol.clone(),
            preconditions: all(&spec.contracts, |contract| &contract.preconditions),
            postconditions: all(&spec.contracts, |contract| &contract.postconditions),
            output_contract: promised(&spec.contracts),
            policy: PolicyDocument::of(&spec.policy),
        }
    }
}

/// Returns the skill that an agent is at, else the one it was spawned for, and its parameters.
fn assigned(record: &AgentRecord) -> (Option<SkillName>, Map<String, Value>) {
    if let Some(work) = record.standing.work().filter(|work| work.skill.is_some()) {
        return (work.skill.clone(), work.params.clone());
    }
    match &record.spec.driver {
        Driver::Skill { skill, params, .. } => (Some(skill.clone()), params.clone()),
        Driver::Plan { .. } | Driver::Llm | Driver::Command(_) | Driver::External => (None, Map::new()),
    }
}

fn command(driver: &Driver) -> Option<Vec<String>> {
    match driver {
        Driver::Command(line) => Some(line.client.iter().chain(&line.command).cloned().collect()),
        Driver::Skill { .. } | Driver::Plan { .. } | Driver::Llm | Driver::External => None,
    }
}

fn all(contracts: &[SkillContract], list: impl Fn(&SkillContract) -> &Vec<String>) -> Vec<String> {
    contracts.iter().flat_map(|contract| list(contract).iter().cloned()).collect()
}

fn promised(contracts: &[SkillContract]) -> Map<String, Value> {
    let promise = |contract: &SkillContract| {
        let kind = contract.output_type.clone()?;
        let schema = contract.output_schema.clone().unwrap_or(Value::Null);
        let document = Map::from_iter([("type".to_owned(), kind.into()), ("schema".to_owned(), schema)]);
        Some((contract.skill.to_string(), Value::Object(document)))
    };
    contracts.iter().filter_map(promise).collect()
}

impl PolicyDocument {
    /// Shows a policy.
    pub fn of(policy: &Policy) -> Self {
        let rules = |list: fn(&Layer) -> &Vec<LayerGrant>| -> Vec<PolicyRule> {
            let layers = policy.layers().iter().enumerate();
            layers
                .flat_map(|(place, layer)| list(layer).iter().map(move |grant| rule(place, layer, grant)))
                .collect()
        };
        Self {
            layers: policy.layers().iter().map(|layer| words(&layer.origin)).collect(),
            allowed: rules(|layer| &layer.allowed),
            forbidden: rules(|layer| &layer.forbidden),
        }
    }
}

/// Says in words where a layer comes from.
fn words(origin: &LayerOrigin) -> String {
    match origin {
        LayerOrigin::Default => "the configured default".to_owned(),
        LayerOrigin::Parent { agent, origin } => format!("{} of agent {agent}", words(origin)),
        LayerOrigin::Given { skills, role } => {
            let names: Vec<&str> = skills.iter().map(SkillName::as_str).collect();
            let skills = match names.as_slice() {
                [] => None,
                [one] => Some(format!("skill {one}")),
                many => Some(format!("skills {}", many.join(", "))),
            };
            let role = role.as_ref().map(|role| format!("role {role}"));
            let parts: Vec<String> = skills.into_iter().chain(role).collect();
            if parts.is_empty() { "no skills".to_owned() } else { parts.join(" and ") }
        }
    }
}

fn rule(place: usize, layer: &Layer, grant: &LayerGrant) -> PolicyRule {
    PolicyRule {
        pattern: grant.pattern.to_string(),
        layer: place,
        by: layer.origin.who_granted(grant),
        skills: grant.skills.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::client_rule::CallOrigin;
    use super::super::spec::{AgentSpec, CommandLine};
    use super::*;
    use crate::policy::{ComposeMode, compose};

    fn record(driver: Driver, policy: Policy) -> AgentRecord {
        let spec = AgentSpec {
            name: Some("scout".to_owned()),
            task: None,
            skills: Some(Vec::new()),
            readable: None,
            role: None,
            workspace_id: None,
            parent: None,
            viewer: None,
            origin: CallOrigin::Remote,
            depth: 0,
            max_children: 5,
            driver,
            model: None,
            thinking: None,
            timeout_ms: Some(30_000),
            policy,
            execution_protocol: Vec::new(),
            contracts: vec![SkillContract {
                skill: "navigate".parse().unwrap(),
                preconditions: vec!["charged".to_owned()],
                postconditions: Vec::new(),
                output_type: Some("pose".to_owned()),
                output_schema: None,
            }],
            metadata: Map::new(),
        };
        AgentRecord::new(AgentId(uuid::Uuid::nil()), Box::new(spec), Timestamp::from_millis(0))
    }

    #[test]
    fn a_record_is_shown_with_every_field_at_the_top() {
        let params = Map::from_iter([("location".to_owned(), json!("kitchen"))]);
        let driver = Driver::Skill { skill: "navigate".parse().unwrap(), params, chain: false };
        let shown = serde_json::to_value(AgentDocument::of(&record(driver, Policy::default()))).unwrap();
        let fields: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        for field in ["agent_id", "name", "state", "results", "error_log", "last_active", "policy", "run_id"]
        {
            assert!(fields.contains(&field), "{field}");
        }
        assert_eq!(
            (&shown["state"], &shown["status"], &shown["timeout"]),
            (&json!("idle"), &json!("idle"), &json!(30))
        );
        assert_eq!(
            (&shown["assigned_skill"], &shown["skill_params"]),
            (&json!("navigate"), &json!({"location": "kitchen"}))
        );
        assert_eq!(shown["preconditions"], json!(["charged"]));
        assert_eq!(shown["output_contract"], json!({"navigate": {"type": "pose", "schema": null}}));
        let read: AgentDocument = serde_json::from_value(shown.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), shown);
    }

    #[test]
    fn rules_name_their_layer_and_who_said_so() {
        let parent = AgentId(uuid::Uuid::nil());
        let outer = Policy::attenuate(None, vec![Layer::configured(&["*".parse().unwrap()], &[])]);
        let own = Layer::given(&compose(&[], ComposeMode::Union), None);
        let policy = Policy::attenuate(Some((parent, &outer)), vec![own]);
        let line = CommandLine { client: Some("claude".to_owned()), command: Vec::new() };
        let shown = AgentDocument::of(&record(Driver::Command(line), policy));
        assert_eq!(shown.command, Some(vec!["claude".to_owned()]));
        assert_eq!(
            shown.policy.layers,
            [format!("the configured default of agent {parent}"), "no skills".to_owned(),]
        );
        let rule = PolicyRule {
            pattern: "*".to_owned(),
            layer: 0,
            by: format!("the configured default of agent {parent}"),
            skills: Vec::new(),
        };
        assert_eq!((shown.policy.allowed, shown.policy.forbidden), (vec![rule], vec![]));
    }
}
