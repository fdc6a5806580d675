//! From a request to what an agent is, or to every reason why it is not.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::world::{World, agent_id, at, object, patterns, skill, tool};
use crate::access::Viewer;
use crate::agent::{
    Agent, AgentEvent, AgentRecord, AgentState, Driver, DriverKind, Layer, Parent, SpawnError,
    SpawnErrorCode, SpawnRefused, StampedAgentEvent, WorkOutcome,
};
use crate::limit::{AGENT_CHILDREN_MAX, AGENT_DEPTH_MAX, SET_SKILLS_MAX};
use crate::rule::{ComposabilityKind, ComposabilityRule, OutputContract};
use crate::schema::Schema;

/// Returns the codes of a refusal, in order.
fn codes(world: &World, request: Value, parent: Parent<'_>) -> Vec<&'static str> {
    match world.prepare(request, parent) {
        Ok(_) => Vec::new(),
        Err(refused) => {
            assert!(!refused.valid && !refused.errors.is_empty());
            refused.errors.iter().map(|error| error.code.as_str()).collect()
        }
    }
}

fn may(record: &AgentRecord, name: &str) -> bool {
    record.spec.policy.allows(tool(name).names())
}

#[test]
fn what_an_agent_may_do_follows_from_what_it_is_given() {
    let world = World::usual();
    let can = |request: Value| {
        let record = world.spawn(1, request, Parent::None);
        let tools = ["read", "list", "write", "Bash(git status)", "entity.create_line", "solid.extrude"];
        tools.into_iter().filter(|name| may(&record, name)).collect::<Vec<_>>()
    };
    assert_eq!(can(json!({})), ["list"], "the configured default");
    assert_eq!(can(json!({"skills": []})), [""; 0]);
    assert_eq!(can(json!({"skills": ["reader"]})), ["read", "list"]);
    assert_eq!(can(json!({"skills": ["writer"]})), ["read", "write", "Bash(git status)"]);
    assert_eq!(can(json!({"skills": ["writer", "reader"]})), ["read", "list", "Bash(git status)"]);
    assert_eq!(can(json!({"role": "designer"})), ["entity.create_line"]);
    assert_eq!(
        can(json!({"role": "designer", "skills": ["reader"]})),
        ["read", "list", "entity.create_line"]
    );
    assert_eq!(
        can(json!({"role": "designer", "skills": []})),
        [""; 0],
        "an empty list allows nothing at all"
    );
}

#[test]
fn a_child_sees_with_the_eyes_of_its_parent() {
    let seen_by = |name: &str| Some(Viewer { user: name.parse().unwrap(), teams: BTreeSet::new() });
    let owner = |world: &World, parent: Parent<'_>| world.spec(json!({}), parent).viewer;
    let (ann, bob) = (
        World { viewer: seen_by("ann"), ..World::usual() },
        World { viewer: seen_by("bob"), ..World::usual() },
    );
    assert_eq!(owner(&ann, Parent::None), seen_by("ann"));
    let parent = ann.spawn(1, json!({}), Parent::None);
    assert_eq!(owner(&bob, Parent::Agent(&parent)), seen_by("ann"));
    let nobodys = World::usual().spawn(2, json!({}), Parent::None);
    assert_eq!(owner(&bob, Parent::Agent(&nobodys)), None);
}

#[test]
fn a_child_never_gets_more_than_its_parent() {
    let world = World::usual();
    let parent = world.spawn(1, json!({"skills": ["reader"]}), Parent::None);
    let child = |request: Value| world.spawn(2, request, Parent::Agent(&parent));
    let same = child(json!({}));
    assert!(may(&same, "read") && may(&same, "list") && !may(&same, "write"));
    let writer = child(json!({"skills": ["writer"]}));
    assert!(may(&writer, "read") && !may(&writer, "list") && !may(&writer, "write"));
    assert!(!may(&writer, "Bash(git status)"));
    let designer = child(json!({"role": "designer"}));
    assert!(!may(&designer, "entity.create_line"), "a role lifts nothing either");
    let nothing = world.spawn(3, json!({"skills": []}), Parent::None);
    let below = world.spawn(4, json!({"skills": ["reader"]}), Parent::Agent(&nothing));
    assert!(!may(&below, "read"));
}

#[test]
fn all_errors_are_told_at_once() {
    let mut world = World::usual();
    world.skills[0].rules.composability_rules.push(ComposabilityRule {
        kind: ComposabilityKind::Requires,
        skill: "absent".parse().unwrap(),
        reason: None,
    });
    world.skills[1].rules.composability_rules.push(ComposabilityRule {
        kind: ComposabilityKind::Forbids,
        skill: "reader".parse().unwrap(),
        reason: None,
    });
    let request = json!({
        "skills": ["nope", "reader", "writer"], "role": "pilot", "parent": agent_id(9).to_string(), "driver": "llm",
    });
    let expected = [
        "UNKNOWN_SKILL",
        "MISSING_REQUIRED",
        "INCOMPATIBLE_SKILLS",
        "UNKNOWN_ROLE",
        "UNKNOWN_PARENT",
        "INVALID_REQUEST",
    ];
    assert_eq!(codes(&world, request.clone(), Parent::Unknown), expected);
    let refused = world.prepare(request, Parent::Unknown).unwrap_err();
    assert_eq!(refused.errors[0].skill.as_deref(), Some("nope"));
    let document = serde_json::to_value(&refused).unwrap();
    assert_eq!(
        (&document["valid"], &document["errors"][0]),
        (
            &json!(false),
            &json!({"code": "UNKNOWN_SKILL", "message": "there is no skill `nope`", "skill": "nope"})
        )
    );
}

#[test]
fn too_many_skills_are_refused() {
    let names = vec!["reader"; SET_SKILLS_MAX + 1];
    assert_eq!(codes(&World::usual(), json!({"skills": names}), Parent::None), ["TOO_MANY_SKILLS"]);
    let (spec, _) = World::usual().prepare(json!({"skills": names[1..]}), Parent::None).unwrap();
    assert_eq!(spec.skills.unwrap().len(), 1, "duplicates count once");
}

#[test]
fn a_parent_that_is_named_is_never_left_out() {
    let world = World::usual();
    let parent = world.spawn(1, json!({"skills": ["reader"]}), Parent::None);
    let named = |id: u128| json!({"parent": agent_id(id).to_string()});
    assert_eq!(codes(&world, named(1), Parent::Unknown), ["UNKNOWN_PARENT"]);
    assert_eq!(codes(&world, named(1), Parent::None), ["UNKNOWN_PARENT"]);
    assert_eq!(codes(&world, named(2), Parent::Agent(&parent)), ["INVALID_REQUEST"]);
    let child = world.spec(named(1), Parent::Agent(&parent));
    assert_eq!((child.parent, child.depth), (Some(agent_id(1)), 1));
    assert_eq!(world.spec(json!({}), Parent::Agent(&parent)), child, "it need not be named");
}

/// An agent of a certain kind in a certain state.
fn parent_in(state: AgentState) -> AgentRecord {
    let cause = super::world::somebody;
    let events: Vec<AgentEvent> = match state {
        AgentState::Idle => vec![],
        AgentState::Running => vec![super::world::started()],
        AgentState::Paused => vec![super::world::started(), AgentEvent::Paused { cause: cause() }],
        AgentState::Completed => {
            vec![super::world::started(), super::world::ended(WorkOutcome::Completed)]
        }
        AgentState::Failed => vec![AgentEvent::Unfit { error: "broken".to_owned() }],
        AgentState::Cancelled => vec![AgentEvent::Cancelled { cause: cause() }],
        AgentState::Terminated => vec![AgentEvent::Terminated { cause: cause() }],
    };
    let (mut agent, _): (Agent, StampedAgentEvent) = super::world::fresh();
    for event in events {
        agent.apply(&StampedAgentEvent { at: at(1), event }).unwrap();
    }
    agent.into_record()
}

#[test]
fn only_who_can_act_has_children() {
    for &state in AgentState::ALL {
        let expected: &[&str] = match state {
            AgentState::Idle | AgentState::Running => &[],
            AgentState::Paused
            | AgentState::Completed
            | AgentState::Failed
            | AgentState::Cancelled
            | AgentState::Terminated => &["PARENT_STATE"],
        };
        let parent = parent_in(state);
        assert_eq!(codes(&World::usual(), json!({}), Parent::Agent(&parent)), expected, "{state:?}");
    }
}

#[test]
fn agents_below_agents_have_an_end() {
    let world = World::usual();
    let mut agent = world.spawn(0, json!({}), Parent::None);
    for depth in 1..=AGENT_DEPTH_MAX {
        agent = world.spawn(depth.into(), json!({}), Parent::Agent(&agent));
        assert_eq!(agent.spec.depth, depth);
    }
    assert_eq!(codes(&world, json!({}), Parent::Agent(&agent)), ["DEPTH_LIMIT"]);
    agent.standing = crate::agent::AgentPhase::Terminated;
    assert_eq!(codes(&world, json!({}), Parent::Agent(&agent)), ["PARENT_STATE", "DEPTH_LIMIT"]);
}

#[test]
fn children_are_limited_by_what_is_said_and_by_what_is_configured() {
    let world = World::usual();
    assert_eq!(world.spec(json!({}), Parent::None).max_children, AGENT_CHILDREN_MAX);
    assert_eq!(world.spec(json!({"max_children": 0}), Parent::None).max_children, 0);
}

#[test]
fn what_makes_an_agent_act_follows_from_what_it_is_given() {
    let kind = |request: Value| World::usual().spec(request, Parent::None).driver.kind();
    assert_eq!(kind(json!({})), DriverKind::External);
    assert_eq!(kind(json!({"task": "t"})), DriverKind::Plan);
    assert_eq!(kind(json!({"plan": {}})), DriverKind::Plan);
    assert_eq!(kind(json!({"skill": "reader"})), DriverKind::Skill);
    assert_eq!(kind(json!({"skill": "reader", "task": "t"})), DriverKind::Skill);
    assert_eq!(kind(json!({"client": "codex", "task": "t"})), DriverKind::Command);
    assert_eq!(kind(json!({"command": ["ls"], "task": "t"})), DriverKind::Command);
    assert_eq!(kind(json!({"driver": "llm", "task": "t"})), DriverKind::Llm);
    assert_eq!(kind(json!({"driver": "external", "task": "t"})), DriverKind::External);
    let driver = World::usual()
        .spec(json!({"skill": "reader", "params": {"a": 1}, "chain": true}), Parent::None)
        .driver;
    let params = object(json!({"a": 1}));
    assert_eq!(driver, Driver::Skill { skill: "reader".parse().unwrap(), params, chain: true });
}

#[test]
fn what_cannot_make_an_agent_act_is_told() {
    let refused = |request: Value| {
        let refused = World::usual().prepare(request, Parent::None).unwrap_err();
        assert!(refused.errors.iter().all(|error| error.code == SpawnErrorCode::InvalidRequest));
        refused.to_string()
    };
    assert_eq!(refused(json!({"driver": "llm"})), "`driver`: `llm` needs a `task`");
    assert_eq!(refused(json!({"driver": "plan"})), "`driver`: `plan` needs a `task`");
    assert_eq!(
        refused(json!({"driver": "skill"})),
        "`driver`: `skill` needs the name of the skill to run, in `skill`"
    );
    assert_eq!(
        refused(json!({"driver": "command"})),
        "`driver`: `command` needs a `task`; `driver`: `command` needs a `client` or a `command`"
    );
    assert_eq!(
        refused(json!({"command": [], "task": "t"})),
        "`driver`: `command` needs a `client` or a `command` that is not empty"
    );
    assert_eq!(
        refused(json!({"skill": "reader", "plan": {}})),
        "`driver`: `plan` does not go with `skill`: give one thing to do"
    );
    assert_eq!(
        refused(json!({"skill": "reader", "driver": "llm", "task": "t"})),
        "`driver`: `llm` does not go with `skill`: give one thing to do"
    );
}

#[test]
fn contracts_and_protocol_of_the_skills_are_part_of_the_agent() {
    let mut world = World::usual();
    let schema = json!({"type": "object", "required": ["report"]});
    let rules = &mut world.skills[0].rules;
    rules.preconditions = vec!["the mail is there".to_owned()];
    rules.postconditions = vec!["the mail is sorted".to_owned()];
    rules.execution_protocol = vec!["look".to_owned(), "sort".to_owned()];
    rules.output_contract = Some(OutputContract {
        kind: "report".to_owned(),
        schema: Some(Schema::parse(schema.clone()).unwrap()),
    });
    let spec = world.spec(json!({"skills": ["writer", "reader", "reader"]}), Parent::None);
    assert_eq!(
        serde_json::to_value(&spec.contracts).unwrap(),
        json!([{
            "skill": "reader", "preconditions": ["the mail is there"], "postconditions": ["the mail is sorted"],
            "output_type": "report", "output_schema": schema,
        }])
    );
    assert_eq!(spec.execution_protocol, ["look", "sort"]);
    assert_eq!(
        serde_json::from_value::<crate::agent::AgentSpec>(serde_json::to_value(&spec).unwrap()).unwrap(),
        spec
    );
}

#[test]
fn an_odd_set_is_used_and_what_is_odd_is_told() {
    let (_, warnings) =
        World::usual().prepare(json!({"skills": ["reader", "writer"]}), Parent::None).unwrap();
    assert_eq!(warnings, ["`write` is allowed by `writer` but forbidden by `reader`: it stays forbidden"]);
    let (_, warnings) = World::usual().prepare(json!({"skills": []}), Parent::None).unwrap();
    assert_eq!(warnings, ["no tool is allowed: an agent with these skills can call nothing"]);
}

/// As large as a set can be, with patterns of every shape: this must not take longer than reading it.
#[test]
fn the_largest_set_is_decided_about() {
    let skills: Vec<_> = (0..SET_SKILLS_MAX)
        .map(|number| {
            let (exact, star) = (format!("tool-{number}"), format!("s{number}.*"));
            let (no, never) = (format!("Tool-{}", number + 500), format!("t{number}.*"));
            skill(&format!("skill-{number}"), &[&exact, &star, "shared"], &[&no, &never])
        })
        .collect();
    let names: Vec<String> = skills.iter().map(|skill| skill.name.to_string()).collect();
    let default = Layer::configured(&patterns(&[]), &[]);
    let world = World { skills, roles: Vec::new(), default, viewer: None };
    let (spec, warnings) = world.prepare(json!({"skills": names}), Parent::None).unwrap();
    assert_eq!(warnings.len(), 500);
    let may = |name: &str| spec.policy.allows(tool(name).names());
    assert!(may("tool-499") && !may("tool-500") && may("s7.x") && !may("t7.x") && may("shared"));
}

#[test]
fn a_refusal_is_read_as_it_was_written() {
    let errors = SpawnErrorCode::ALL.map(|code| SpawnError::new(code, code.as_str()));
    let refused = SpawnRefused::new(errors.into(), vec!["odd".to_owned()]);
    let written = serde_json::to_value(&refused).unwrap();
    assert_eq!(serde_json::from_value::<SpawnRefused>(written).unwrap(), refused);
}
