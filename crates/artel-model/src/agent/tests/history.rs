//! Any history of an agent: it adds up, goes only along edges, and can be told again.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::world::{agent_id, at, fresh, object, somebody};
use crate::agent::{
    Agent, AgentEvent, AgentRecord, Denial, DenialCode, OperationEnd, StampedAgentEvent, Work, WorkEnd,
    WorkOutcome,
};
use crate::id::RunId;
use crate::limit::{AGENT_ERROR_LOG_MAX, AGENT_RESULTS_MAX};

fn any_call() -> impl Strategy<Value = OperationEnd> {
    let results = prop::collection::btree_map("[ab]{1,2}", 0_i64..5, 0..3);
    let error = prop::option::of("[a-z]{1,5}");
    let entities = prop::collection::vec("[a-z]{1,3}", 0..2);
    (results, error, entities).prop_map(|(results, error, entities)| {
        let results: Map<String, Value> =
            results.into_iter().map(|(name, value)| (name, json!(value))).collect();
        OperationEnd { operation: "solid.extrude".to_owned(), results, error, entities }
    })
}

fn any_outcome() -> impl Strategy<Value = WorkOutcome> {
    prop_oneof![
        Just(WorkOutcome::Completed),
        "[a-z]{1,5}".prop_map(|error| WorkOutcome::Failed { error }),
        Just(WorkOutcome::Returned),
    ]
}

fn any_denial() -> impl Strategy<Value = AgentEvent> {
    let codes = [
        DenialCode::UnknownAgent,
        DenialCode::InvalidState,
        DenialCode::ToolForbidden,
        DenialCode::ToolNotAllowed,
        DenialCode::InvalidParameters,
        DenialCode::WorkspaceError,
    ];
    prop::sample::select(codes.to_vec()).prop_map(|code| {
        let (message, tool) = ("no".to_owned(), "write".to_owned());
        AgentEvent::Denied(Denial { code, message, tool, agent_id: agent_id(1) })
    })
}

fn any_work() -> impl Strategy<Value = Work> {
    (any::<Option<u128>>(), any::<bool>()).prop_map(|(run, has_skill)| Work {
        id: Uuid::from_u128(run.unwrap_or(1)),
        owner: "node".to_owned(),
        run_id: run.map(|run| RunId(uuid::Uuid::from_u128(run))),
        skill: has_skill.then(|| "navigate".parse().unwrap()),
        params: object(json!({"location": "kitchen"})),
        operation: (!has_skill).then(|| "solid.extrude".to_owned()),
    })
}

fn any_event() -> impl Strategy<Value = AgentEvent> {
    let cause = somebody;
    prop_oneof![
        4 => any_work().prop_map(move |work| AgentEvent::Started { work: Box::new(work), cause: cause() }),
        2 => Just(AgentEvent::Paused { cause: cause() }),
        2 => Just(AgentEvent::Resumed { cause: cause() }),
        6 => any_call().prop_map(AgentEvent::Called),
        6 => any_denial(),
        3 => (any_outcome(), prop::collection::vec(any_call(), 0..3)).prop_map(|(outcome, calls)| {
            let results = object(json!({"text": "done"}));
            AgentEvent::Ended(Box::new(WorkEnd { outcome, calls, results }))
        }),
        1 => "[a-z]{1,5}".prop_map(|error| AgentEvent::Unfit { error }),
        3 => Just(AgentEvent::Freed { cause: cause() }),
        1 => Just(AgentEvent::Cancelled { cause: cause() }),
        1 => Just(AgentEvent::Terminated { cause: cause() }),
        1 => Just(AgentEvent::Said { by: "stdout".to_owned(), what: json!({"line": "hello"}) }),
        1 => Just(AgentEvent::Spawned { spec: fresh().0.record().spec.clone(), cause: cause() }),
    ]
}

proptest! {
    #[test]
    fn any_history_adds_up_and_can_be_told_again(events in prop::collection::vec(any_event(), 0..60)) {
        let (mut agent, first) = fresh();
        let mut log = vec![first];
        for (event, millis) in events.into_iter().zip(1..) {
            let event = StampedAgentEvent { at: at(millis), event };
            let before = agent.clone();
            match agent.apply(&event) {
                Err(error) => {
                    prop_assert_eq!(&agent, &before);
                    prop_assert_eq!(error.from, agent.record().state());
                    continue;
                }
                Ok(went) => {
                    prop_assert!(went.from == went.to || went.from.may_become(went.to), "{:?}", went);
                    prop_assert_eq!((went.from, went.to), (before.record().state(), agent.record().state()));
                    log.push(event);
                }
            }
            let record = agent.record();
            prop_assert_eq!(record.operation_count, record.success_count + record.error_count);
            prop_assert!(record.error_log.len() <= AGENT_ERROR_LOG_MAX && record.results.len() <= AGENT_RESULTS_MAX);
            prop_assert_eq!(record.error().is_some(), record.state().team_word() == "error");
        }
        let told: Vec<StampedAgentEvent> =
            serde_json::from_str(&serde_json::to_string(&log).unwrap()).unwrap();
        prop_assert_eq!(&told, &log);
        prop_assert_eq!(&Agent::replay(agent_id(1), &told).unwrap(), &agent);
        let kept: AgentRecord =
            serde_json::from_value(serde_json::to_value(agent.record()).unwrap()).unwrap();
        prop_assert_eq!(Agent::from_record(kept), agent);
    }
}
