//! Every edge of the state machine, and what is counted and kept on the way.

use serde_json::{Map, Value, json};

use super::world::{agent_id, at, ended, fresh, object, somebody, started};
use crate::agent::AgentState::{self, Cancelled, Completed, Failed, Idle, Paused, Running, Terminated};
use crate::agent::{
    Agent, AgentEvent, DENIED_IN_A_ROW_MAX, Denial, DenialCode, InvalidTransition, OperationEnd,
    StampedAgentEvent, Transition, WorkEnd, WorkOutcome,
};
use crate::limit::{
    AGENT_ENTITIES_MAX, AGENT_ERROR_CHARS_MAX, AGENT_ERROR_LOG_MAX, AGENT_RESULTS_BYTES_MAX,
    AGENT_RESULTS_MAX,
};

const EDGES: &[(AgentState, AgentState)] = &[
    (Idle, Running),
    (Running, Paused),
    (Paused, Running),
    (Running, Completed),
    (Running, Failed),
    (Idle, Failed),
    (Running, Idle),
    (Failed, Idle),
    (Completed, Idle),
    (Idle, Cancelled),
    (Running, Cancelled),
    (Paused, Cancelled),
    (Idle, Terminated),
    (Running, Terminated),
    (Paused, Terminated),
    (Completed, Terminated),
    (Failed, Terminated),
    (Cancelled, Terminated),
];

fn broke() -> WorkOutcome {
    WorkOutcome::Failed { error: "it broke".to_owned() }
}

/// Every event that is meant to bring an agent to a state.
fn events_to(state: AgentState) -> Vec<AgentEvent> {
    let spec = fresh().0.record().spec.clone();
    match state {
        Idle => vec![
            AgentEvent::Freed { cause: somebody() },
            ended(WorkOutcome::Returned),
            AgentEvent::Spawned { spec, cause: somebody() },
        ],
        Running => vec![started(), AgentEvent::Resumed { cause: somebody() }],
        Paused => vec![AgentEvent::Paused { cause: somebody() }],
        Completed => vec![ended(WorkOutcome::Completed)],
        Failed => vec![ended(broke()), AgentEvent::Unfit { error: "no such skill".to_owned() }],
        Cancelled => vec![AgentEvent::Cancelled { cause: somebody() }],
        Terminated => vec![AgentEvent::Terminated { cause: somebody() }],
    }
}

fn apply(agent: &mut Agent, event: AgentEvent) -> Result<Transition, InvalidTransition> {
    agent.apply(&StampedAgentEvent { at: at(7), event })
}

fn agent_in(state: AgentState) -> Agent {
    let mut agent = fresh().0;
    let way: &[AgentState] = match state {
        Idle => &[],
        Running => &[Running],
        Paused => &[Running, Paused],
        Completed => &[Running, Completed],
        Failed => &[Running, Failed],
        Cancelled => &[Cancelled],
        Terminated => &[Terminated],
    };
    for &next in way {
        apply(&mut agent, events_to(next).remove(0)).unwrap();
    }
    assert_eq!(agent.record().state(), state);
    agent
}

#[test]
fn exactly_the_edges_can_be_gone() {
    for &from in AgentState::ALL {
        for &to in AgentState::ALL {
            let before = agent_in(from);
            let mut ways = 0;
            for event in events_to(to) {
                let mut agent = before.clone();
                match apply(&mut agent, event) {
                    Ok(transition) => {
                        ways += 1;
                        assert_eq!(transition, Transition { from, to });
                        assert_eq!(agent.record().state(), to);
                    }
                    Err(error) => {
                        assert_eq!(error, InvalidTransition { from, to });
                        assert_eq!(agent, before, "what does not fit changes nothing");
                    }
                }
            }
            let is_edge = EDGES.contains(&(from, to));
            assert_eq!(ways > 0, is_edge, "{from:?} to {to:?}");
            assert_eq!(from.may_become(to), is_edge, "{from:?} to {to:?}");
        }
    }
}

#[test]
fn a_wrong_transition_names_both_states() {
    let error = apply(&mut agent_in(Completed), AgentEvent::Paused { cause: somebody() }).unwrap_err();
    assert_eq!(error.to_string(), "an agent that is completed cannot become paused");
}

#[test]
fn only_what_was_paused_is_resumed_and_only_what_is_idle_is_started() {
    assert!(apply(&mut agent_in(Idle), AgentEvent::Resumed { cause: somebody() }).is_err());
    assert!(apply(&mut agent_in(Paused), started()).is_err());
    let mut agent = agent_in(Paused);
    let work = agent.record().standing.work().cloned();
    apply(&mut agent, AgentEvent::Resumed { cause: somebody() }).unwrap();
    assert_eq!(agent.record().standing.work().cloned(), work, "the work in hand stays");
    assert!(work.is_some());
}

#[test]
fn teams_have_words_of_their_own_for_two_states() {
    let words: Vec<&str> = AgentState::ALL.iter().map(|state| state.team_word()).collect();
    assert_eq!(words, ["idle", "working", "paused", "completed", "error", "cancelled", "terminated"]);
    for state in AgentState::ALL {
        assert_eq!(serde_json::to_value(state).unwrap(), json!(state.as_str()));
    }
}

#[test]
fn times_tell_when_the_last_work_began_and_ended() {
    let times = |agent: &Agent| (agent.record().started_at, agent.record().completed_at);
    assert_eq!(times(&agent_in(Idle)), (None, None));
    assert_eq!(times(&agent_in(Running)), (Some(at(7)), None));
    for state in [Completed, Failed] {
        assert_eq!(times(&agent_in(state)), (Some(at(7)), Some(at(7))));
    }
    let mut agent = agent_in(Completed);
    apply(&mut agent, AgentEvent::Freed { cause: somebody() }).unwrap();
    agent.apply(&StampedAgentEvent { at: at(9), event: started() }).unwrap();
    assert_eq!(times(&agent), (Some(at(9)), None));
    assert_eq!((agent.record().created_at, agent.record().last_active), (at(0), at(9)));
}

#[test]
fn an_error_counts_until_the_agent_is_freed_and_stays_in_the_log() {
    let mut agent = agent_in(Failed);
    assert_eq!(agent.record().error(), Some("it broke"));
    apply(&mut agent, AgentEvent::Freed { cause: somebody() }).unwrap();
    assert_eq!(agent.record().error(), None);
    assert_eq!(agent.record().error_log.len(), 1);
}

#[test]
fn a_log_begins_with_a_spawning_and_has_only_one() {
    let (_, first) = fresh();
    let wrong = StampedAgentEvent { at: at(1), event: started() };
    assert!(Agent::replay(agent_id(1), []).is_none());
    assert!(Agent::replay(agent_id(1), [&wrong, &first]).is_none());
    assert!(Agent::replay(agent_id(1), [&first, &first]).is_none());
    assert_eq!(Agent::replay(agent_id(1), [&first, &wrong]).unwrap().record().state(), Running);
}

fn call(operation: &str, results: Value, error: Option<&str>) -> OperationEnd {
    OperationEnd {
        operation: operation.to_owned(),
        results: object(results),
        error: error.map(str::to_owned),
        entities: Vec::new(),
    }
}

fn names(agent: &Agent) -> Vec<&str> {
    agent.record().results.iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn results_are_by_step_and_by_skill_and_the_last_one_counts() {
    let mut agent = agent_in(Running);
    for (step, value) in [("one", 1), ("two", 2), ("one", 3)] {
        let end = call("navigate/run", json!({step: value, "navigate": value}), None);
        apply(&mut agent, AgentEvent::Called(end)).unwrap();
    }
    let results: Map<String, Value> =
        agent.record().results.iter().map(|entry| (entry.name.clone(), entry.value.clone())).collect();
    assert_eq!(Value::Object(results), json!({"one": 3, "two": 2, "navigate": 3}));
    assert_eq!(names(&agent)[0], "two", "the oldest first");
}

#[test]
fn only_the_last_results_are_kept() {
    let mut agent = agent_in(Running);
    for number in 0..AGENT_RESULTS_MAX + 10 {
        let end = call("a", json!({format!("step{number}"): number}), None);
        apply(&mut agent, AgentEvent::Called(end)).unwrap();
    }
    assert_eq!(agent.record().results.len(), AGENT_RESULTS_MAX);
    assert_eq!(names(&agent)[0], "step10");
    let third = "x".repeat(AGENT_RESULTS_BYTES_MAX / 3);
    let results = object(json!({"a": third, "b": third, "c": third}));
    let end = WorkEnd { outcome: WorkOutcome::Completed, calls: Vec::new(), results };
    apply(&mut agent, AgentEvent::Ended(Box::new(end))).unwrap();
    assert_eq!(names(&agent), ["b", "c"], "three thirds and their names are too much");
    let mut agent = agent_in(Running);
    let end = call("a", json!({"small": 1, "too-large": "x".repeat(AGENT_RESULTS_BYTES_MAX)}), None);
    apply(&mut agent, AgentEvent::Called(end)).unwrap();
    assert_eq!(names(&agent), ["too-large"], "the last one is never lost");
}

#[test]
fn only_the_last_errors_and_entities_are_kept() {
    let mut agent = agent_in(Running);
    for number in 0..AGENT_ERROR_LOG_MAX + 5 {
        let end = call("cut", json!({}), Some(&format!("number {number}")));
        apply(&mut agent, AgentEvent::Called(end)).unwrap();
    }
    let record = agent.record();
    assert_eq!((record.error_log.len(), record.error_count), (AGENT_ERROR_LOG_MAX, 105));
    assert_eq!(record.error_log[0].message, "cut: number 5");
    let entities = (0..AGENT_ENTITIES_MAX + 1).map(|number| format!("e{number}")).collect();
    apply(&mut agent, AgentEvent::Called(OperationEnd { entities, ..call("cut", json!({}), None) })).unwrap();
    assert_eq!(agent.record().created_entities.len(), AGENT_ENTITIES_MAX);
    assert_eq!(agent.record().created_entities[0], "e1");
}

#[test]
fn a_long_error_is_cut() {
    let mut agent = agent_in(Running);
    let error = "\u{e9}".repeat(AGENT_ERROR_CHARS_MAX + 1);
    apply(&mut agent, ended(WorkOutcome::Failed { error })).unwrap();
    let error = agent.record().error().unwrap();
    assert_eq!(error.chars().count(), AGENT_ERROR_CHARS_MAX);
    assert!(error.ends_with('\u{2026}'));
}

fn denied(code: DenialCode) -> AgentEvent {
    let message = "agent 1 may not call `write`".to_owned();
    AgentEvent::Denied(Denial { code, message, tool: "write".to_owned(), agent_id: agent_id(1) })
}

/// Applies so many denials of a kind and says where the agent stands.
fn after_denials(agent: &mut Agent, code: DenialCode, count: u32) -> AgentState {
    for _ in 0..count {
        apply(agent, denied(code)).unwrap();
    }
    agent.record().state()
}

#[test]
fn an_agent_that_does_not_learn_is_put_aside() {
    for code in [DenialCode::ToolForbidden, DenialCode::ToolNotAllowed, DenialCode::WorkspaceError] {
        for state in [Idle, Running] {
            let mut agent = agent_in(state);
            assert_eq!(after_denials(&mut agent, code, DENIED_IN_A_ROW_MAX - 1), state);
            assert_eq!(after_denials(&mut agent, code, 1), Failed);
            assert_eq!(agent.record().error(), Some("10 calls in a row were not allowed"));
            apply(&mut agent, AgentEvent::Freed { cause: somebody() }).unwrap();
            assert_eq!(after_denials(&mut agent, code, 1), Idle, "it begins anew");
        }
    }
}

#[test]
fn a_call_that_goes_well_breaks_the_row_and_one_that_fails_does_not() {
    let row = |error: Option<&str>| {
        let mut agent = agent_in(Running);
        after_denials(&mut agent, DenialCode::ToolForbidden, DENIED_IN_A_ROW_MAX - 1);
        apply(&mut agent, AgentEvent::Called(call("read", json!({}), error))).unwrap();
        after_denials(&mut agent, DenialCode::ToolForbidden, 1)
    };
    assert_eq!(row(None), Running);
    assert_eq!(row(Some("it broke")), Failed);
}

#[test]
fn what_is_no_violation_puts_nobody_aside() {
    for code in [DenialCode::UnknownAgent, DenialCode::InvalidState, DenialCode::InvalidParameters] {
        let mut agent = agent_in(Running);
        assert_eq!(after_denials(&mut agent, code, 3 * DENIED_IN_A_ROW_MAX), Running);
        assert_eq!(agent.record().error_count, 30);
    }
}

#[test]
fn a_paused_agent_stays_paused_and_goes_on() {
    let mut agent = agent_in(Paused);
    assert_eq!(after_denials(&mut agent, DenialCode::InvalidState, 20), Paused);
    assert_eq!(after_denials(&mut agent, DenialCode::ToolForbidden, 20), Paused);
    let transition = apply(&mut agent, AgentEvent::Resumed { cause: somebody() }).unwrap();
    assert_eq!(transition, Transition { from: Paused, to: Running });
}
