//! Every way around the gate that somebody might try, and the order in which it refuses.

use serde_json::{Map, Value, json};

use super::world::{World, agent_id, object, patterns, skill, tool};
use crate::agent::{
    Access, AgentRecord, AgentState, AgentView, Denial, DenialCode, Layer, Parent, Policy, ToolUse,
    WorkspaceAccess, admit,
};
use crate::limit::AGENT_ERROR_CHARS_MAX;
use crate::schema::Schema;
use crate::tool::ToolCallError;

fn policy(allowed: &[&str], forbidden: &[&str]) -> Policy {
    Policy::attenuate(None, vec![Layer::configured(&patterns(allowed), &patterns(forbidden))])
}

fn ask(policy: &Policy, tool: &ToolUse) -> Result<(), Denial> {
    let view = AgentView { id: agent_id(1), state: AgentState::Running, policy, workspace: None };
    admit(agent_id(1), Some(view), Access { tool, parameters: None, workspace: None })
}

#[track_caller]
fn check(allowed: &[&str], forbidden: &[&str], call: &ToolUse, expected: Result<(), DenialCode>) {
    let answer = ask(&policy(allowed, forbidden), call);
    assert_eq!(answer.map_err(|denial| denial.code), expected, "{call}");
}

const FORBIDDEN: Result<(), DenialCode> = Err(DenialCode::ToolForbidden);
const NOT_ALLOWED: Result<(), DenialCode> = Err(DenialCode::ToolNotAllowed);

fn script(skill: &str, script: &str, is_entrypoint: bool) -> ToolUse {
    ToolUse::script(&skill.parse().unwrap(), &script.parse().unwrap(), is_entrypoint)
}

#[test]
fn a_script_is_refused_under_every_name_it_has() {
    let entrypoint = script("wipe", "run", true);
    check(&["*"], &["wipe"], &entrypoint, FORBIDDEN);
    check(&["*"], &["wipe/run"], &entrypoint, FORBIDDEN);
    check(&["*"], &["wipe/*"], &entrypoint, FORBIDDEN);
    check(&["*"], &["WIPE"], &entrypoint, FORBIDDEN);
    check(&["wipe"], &[], &entrypoint, Ok(()));
    check(&["wipe/run"], &[], &entrypoint, Ok(()));
    check(&["wipe"], &["wipe/run"], &entrypoint, FORBIDDEN);
    check(&["wipe/run"], &["wipe"], &entrypoint, FORBIDDEN);
    check(&["wipe"], &[], &script("wipe", "other", false), NOT_ALLOWED);
    check(&["*"], &["wipe"], &script("wipe", "other", false), FORBIDDEN);
    check(&["wipe/other"], &["WIPE"], &script("wipe", "other", false), FORBIDDEN);
    check(&["wipe"], &[], &ToolUse::skill(&"wipe".parse().unwrap()), Ok(()));
    check(&["wipe/run"], &[], &ToolUse::skill(&"wipe".parse().unwrap()), NOT_ALLOWED);
    let denial = ask(&policy(&["*"], &["wipe"]), &entrypoint).unwrap_err();
    let expected =
        format!("agent {} may not call `wipe/run`: the configured default forbids it (`wipe`)", agent_id(1));
    assert_eq!((denial.message, denial.tool), (expected, "wipe/run".to_owned()));
}

#[test]
fn case_and_spaces_are_no_way_around() {
    for name in ["write", "Write", "WRITE", " write", "write ", "\twrite\n", "wRiTe"] {
        check(&["*"], &["write"], &tool(name), FORBIDDEN);
    }
    for name in ["Read", "READ"] {
        check(&["read"], &[], &tool(name), NOT_ALLOWED);
    }
}

#[test]
fn look_alikes_and_patterns_are_no_names() {
    let character = |text: &str| match ToolUse::named(text) {
        Err(ToolCallError::Character(bad)) => bad,
        other => panic!("{text:?} gives {other:?}"),
    };
    for bad in
        ['\u{456}', '\u{200b}', '\u{ff54}', '\u{0}', '\u{301}', '\u{a0}', '*', '`', ' ', ',', '\u{202e}']
    {
        assert_eq!(character(&format!("wri{bad}te")), bad);
    }
    for pattern in ["*", "w*", "solid.*", "*/run", "**"] {
        assert_eq!(character(pattern), '*');
    }
    assert_eq!(ToolUse::named(""), Err(ToolCallError::Length));
    assert_eq!(ToolUse::named("(x)"), Err(ToolCallError::Length));
    assert_eq!(ToolUse::named("write(x"), Err(ToolCallError::Unclosed));
}

#[test]
fn an_operation_is_refused_by_its_dotted_name() {
    for name in ["solid.extrude", "Solid.Extrude", "solid.boolean"] {
        check(&["*"], &["solid.*"], &tool(name), FORBIDDEN);
        check(&["entity.*"], &[], &tool(name), NOT_ALLOWED);
    }
    check(&["solid.*"], &["solid.extrude"], &tool("solid.extrude(depth 3)"), FORBIDDEN);
    check(&["solid.*"], &["solid.extrude"], &tool("solid.revolve"), Ok(()));
    check(&["solid.*"], &[], &tool("solid"), NOT_ALLOWED);
}

#[test]
fn an_argument_is_no_way_around() {
    let git = &["Bash(git:*)"][..];
    check(git, &[], &tool("Bash(git status)"), Ok(()));
    let others = [
        "Bash(git status; rm -rf ~)",
        "Bash(git status && rm -rf ~)",
        "Bash(git status\nrm -rf ~)",
        "Bash(git status | sh)",
        "Bash(git $(rm -rf ~))",
        "Bash(git `rm -rf ~`)",
        "Bash(git status > /etc/passwd)",
        "Bash(gitk)",
        "Bash(rm git)",
        "Bash()",
        "Bash",
        "bash(git status)",
    ];
    for other in others {
        check(git, &[], &tool(other), NOT_ALLOWED);
    }
    let removals = [
        "Bash(rm x)",
        "bash(rm x)",
        "Bash(ls; rm x)",
        "Bash( rm  x )",
        "Bash(r'm' x)",
        "Bash(\\rm x)",
        "Bash(echo $(rm x))",
        "Bash(rm)",
        "Bash",
    ];
    for removal in removals {
        check(&["Bash"], &["Bash(rm:*)"], &tool(removal), FORBIDDEN);
    }
    check(&["Bash"], &["Bash(rm:*)"], &tool("Bash(ls)"), Ok(()));
}

#[test]
fn a_nested_spawn_is_no_way_around() {
    let world = World {
        skills: vec![skill("narrow", &["read"], &["write"]), skill("wide", &["*"], &[])],
        roles: Vec::new(),
        default: Layer::configured(&patterns(&["*"]), &[]),
        viewer: None,
    };
    let mut line = vec![world.spawn(1, json!({"skills": ["narrow"]}), Parent::None)];
    for request in [json!({}), json!({"skills": ["wide"]}), json!({"skills": ["wide", "narrow"]})] {
        let above = line.last().unwrap();
        line.push(world.spawn(line.len() as u128 + 1, request, Parent::Agent(above)));
    }
    for record in &line {
        let ask = |name: &str| ask(&record.spec.policy, &tool(name)).map_err(|denial| denial.code);
        assert_eq!((ask("read"), ask("write"), ask("other")), (Ok(()), FORBIDDEN, NOT_ALLOWED));
    }
    let denial = |name: &str| ask(&line[1].spec.policy, &tool(name)).unwrap_err().message;
    let first = agent_id(1);
    assert!(denial("write").ends_with(&format!("skill `narrow` of agent {first} forbids it (`write`)")));
    assert!(
        denial("other")
            .ends_with(&format!("for agent {first} above it, none of its skills allows it (`narrow`)"))
    );
}

#[test]
fn a_policy_without_layers_allows_nothing() {
    assert_eq!(ask(&Policy::default(), &tool("read")).map_err(|denial| denial.code), NOT_ALLOWED);
    let child = Policy::attenuate(Some((agent_id(1), &Policy::default())), Vec::new());
    assert_eq!(ask(&child, &tool("read")).map_err(|denial| denial.code), NOT_ALLOWED);
}

#[test]
fn a_refusal_names_the_skill_or_the_role_that_decided() {
    let world = World::usual();
    let say = |request: Value, name: &str| {
        let record = world.spawn(1, request, Parent::None);
        let message = ask(&record.spec.policy, &tool(name)).unwrap_err().message;
        message.split_once(": ").unwrap().1.to_owned()
    };
    assert_eq!(say(json!({"skills": ["writer", "reader"]}), "write"), "skill `reader` forbids it (`write`)");
    assert_eq!(say(json!({"role": "designer"}), "solid.extrude"), "role `designer` forbids it (`solid.*`)");
    assert_eq!(say(json!({"role": "designer"}), "read"), "role `designer` does not allow it");
    assert_eq!(
        say(json!({"role": "designer", "skills": ["writer"]}), "list"),
        "neither role `designer` nor a skill allows it (`writer`)"
    );
    assert_eq!(say(json!({"skills": ["writer"]}), "list"), "none of its skills allows it (`writer`)");
    let empty = "its list of skills is empty, which allows nothing";
    assert_eq!(say(json!({"skills": []}), "list"), empty);
    assert_eq!(say(json!({"skills": [], "role": "designer"}), "entity.create_line"), empty);
    assert_eq!(say(json!({}), "read"), "the configured default does not allow it");
}

#[test]
fn only_who_is_idle_or_running_may_call() {
    let policy = policy(&["*"], &[]);
    for &state in AgentState::ALL {
        let view = AgentView { id: agent_id(1), state, policy: &policy, workspace: None };
        let read = tool("read");
        let answer =
            admit(agent_id(1), Some(view), Access { tool: &read, parameters: None, workspace: None });
        let expected = match state {
            AgentState::Idle | AgentState::Running => Ok(()),
            AgentState::Paused
            | AgentState::Completed
            | AgentState::Failed
            | AgentState::Cancelled
            | AgentState::Terminated => Err(DenialCode::InvalidState),
        };
        assert_eq!(answer.map_err(|denial| denial.code), expected, "{state:?}");
    }
}

/// A call against everything at once; each thing that is mended shows the next.
#[test]
fn refusals_come_in_one_order() {
    let schema = Schema::parse(json!({"type": "object", "required": ["depth"]})).unwrap();
    let (nothing, depth) = (Map::new(), object(json!({"depth": 1})));
    let cut = tool("cut");
    let answer = |mended: usize| {
        let has = |number: usize| mended >= number;
        let allowed: &[&str] = if has(4) { &["cut"] } else { &[] };
        let forbidden: &[&str] = if has(3) { &[] } else { &["cut"] };
        let policy = policy(allowed, forbidden);
        let state = if has(2) { AgentState::Running } else { AgentState::Paused };
        let view = AgentView { id: agent_id(1), state, policy: &policy, workspace: Some("own") };
        let access = Access {
            tool: &cut,
            parameters: Some((if has(5) { &depth } else { &nothing }, &schema)),
            workspace: Some(WorkspaceAccess { id: if has(6) { "own" } else { "other" }, may_visit: false }),
        };
        admit(agent_id(1), has(1).then_some(view), access).map_err(|denial| denial.code.as_str())
    };
    let codes: Vec<&str> = (0..6).map(|mended| answer(mended).unwrap_err()).collect();
    let expected = [
        "UNKNOWN_AGENT",
        "INVALID_STATE",
        "TOOL_FORBIDDEN",
        "TOOL_NOT_ALLOWED",
        "INVALID_PARAMETERS",
        "WORKSPACE_ERROR",
    ];
    assert_eq!(codes, expected);
    assert_eq!(answer(6), Ok(()));
}

#[test]
fn a_workspace_is_its_owners_and_its_visitors() {
    let policy = policy(&["*"], &[]);
    let look = tool("entity.list");
    let enter = |own: Option<&str>, id: &str, may_visit: bool| {
        let view = AgentView { id: agent_id(1), state: AgentState::Idle, policy: &policy, workspace: own };
        let workspace = Some(WorkspaceAccess { id, may_visit });
        admit(agent_id(1), Some(view), Access { tool: &look, parameters: None, workspace }).is_ok()
    };
    assert!(enter(Some("a"), "a", false) && enter(Some("a"), "b", true) && enter(None, "b", true));
    assert!(!enter(Some("a"), "b", false) && !enter(None, "a", false) && !enter(Some("a"), "A", false));
}

#[test]
fn a_record_is_what_the_gate_sees() {
    let record: AgentRecord =
        World::usual().spawn(5, json!({"skills": ["reader"], "workspace_id": "ws"}), Parent::None);
    let view = AgentView::from(&record);
    assert_eq!((view.id, view.state, view.workspace), (agent_id(5), AgentState::Idle, Some("ws")));
    assert_eq!(view.policy, &record.spec.policy);
}

#[test]
fn a_refusal_is_short_and_printable_whatever_was_called() {
    let hostile = tool(&format!("Bash(\u{1b}[2J{}\n)", "x".repeat(100_000)));
    let denial = ask(&policy(&["read"], &[]), &hostile).unwrap_err();
    for text in [&denial.tool, &denial.message] {
        assert!(text.chars().count() <= AGENT_ERROR_CHARS_MAX && !text.contains(char::is_control), "{text}");
    }
    let schema = Schema::parse(json!({"properties": {"a": {"type": "number"}}})).unwrap();
    let parameters = object(json!({"a": "y".repeat(100_000)}));
    let read = tool("read");
    let (policy, parameters) = (policy(&["read"], &[]), Some((&parameters, &schema)));
    let view = AgentView { id: agent_id(1), state: AgentState::Idle, policy: &policy, workspace: None };
    let denial =
        admit(agent_id(1), Some(view), Access { tool: &read, parameters, workspace: None }).unwrap_err();
    assert!(denial.message.chars().count() <= AGENT_ERROR_CHARS_MAX);
    assert!(denial.message.starts_with("the parameters of `read` do not fit: `/a`"), "{}", denial.message);
}
