//! Things to keep, made as short as the cases need them.

use std::sync::Arc;

use artel_model::access::UserId;
use artel_model::data_scope::OwnerKey;
use artel_model::health::RunOutcome;
use artel_model::id::{ExecutionId, PlanId, RunId};
use artel_model::name::SkillName;
use artel_model::run::{
    ExecutionRecord, ExecutionStatus, Origin, RunEvent, RunState, RunSummary, StampedEvent, SubmissionKind,
};
use artel_model::time::Timestamp;
use artel_model::version::Version;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::run::{Created, Fence, HealthChange, LoggedEvent, NewRun, OwnerId, Revision, RunAppend, RunRow};
use crate::{ExecutionStore, HealthStore, RunStore};

/// What [`Result::expect`] says when a store fails where it must not.
pub(super) const WORKS: &str = "the store works";

/// A whole store.
pub trait AnyStore: RunStore + ExecutionStore + HealthStore {}

impl<T: RunStore + ExecutionStore + HealthStore> AnyStore for T {}

/// A store that a case may share with the tasks it starts.
pub(super) type Shared = Arc<dyn AnyStore>;

/// Returns whose the run or agent with a number is: of every three, one is nobody's.
pub(super) fn owner_of(number: u128) -> Option<UserId> {
    match number % 3 {
        1 => Some(user("ann")),
        2 => Some(user("Böb <bob@example.org>")),
        _ => None,
    }
}

/// Returns a user.
pub(super) fn user(name: &str) -> UserId {
    name.parse().expect("a user's name")
}

/// Returns the id of a run.
pub fn run_id(number: u128) -> RunId {
    RunId(Uuid::from_u128(number))
}

/// Returns the id of an execution.
pub(super) fn execution_id(number: u128) -> ExecutionId {
    ExecutionId(Uuid::from_u128(number))
}

pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn skill(name: &str) -> SkillName {
    name.parse().expect("a skill's name")
}

/// Returns an event that holds a text.
pub fn note(millis: i64, text: &str) -> StampedEvent {
    let event = RunEvent::Approved { step: 0, by: Origin("tester".to_owned()), note: Some(text.to_owned()) };
    StampedEvent { at: at(millis), event }
}

/// Returns the summary of a run that was asked for at `millis` and has not ended.
pub fn summary(run: RunId, millis: i64) -> RunSummary {
    RunSummary {
        run_id: run,
        kind: SubmissionKind::Plan,
        plan_id: PlanId(Uuid::from_u128(run.0.as_u128() ^ 0xff)),
        agent_id: None,
        owner: owner_of(run.0.as_u128()),
        state: RunState::Running,
        steps: 3,
        created_at: at(millis),
        completed_at: None,
    }
}

/// Returns the summary of a run that ended.
pub(super) fn ended(run: RunId, created: i64, completed: i64) -> RunSummary {
    RunSummary { state: RunState::Succeeded, completed_at: Some(at(completed)), ..summary(run, created) }
}

/// Returns a run with one event, driven by `one`.
pub fn new_run(run: RunId, millis: i64) -> NewRun {
    NewRun {
        summary: summary(run, millis),
        events: vec![note(millis, "submitted")],
        owner: Some(OwnerId("one".to_owned())),
        idempotency_key: None,
    }
}

/// Keeps a run with one event, driven by `one`.
pub(super) async fn create(store: &Shared, run: RunId, millis: i64) {
    assert_eq!(store.create(new_run(run, millis)).await.expect(WORKS), Created::New);
}

/// Returns an append of `events` by the first owner.
pub(super) fn append(run: RunId, expected: u64, events: Vec<StampedEvent>) -> RunAppend {
    RunAppend {
        run,
        expected: Revision(expected),
        fence: Some(Fence(1)),
        events,
        summary: None,
        executions: Vec::new(),
        health: Vec::new(),
    }
}

/// Returns an append that changes all there is: an event, the summary, an execution, a skill's health.
pub(super) fn full_append(run: RunId, expected: u64) -> RunAppend {
    RunAppend {
        summary: Some(ended(run, 10, 90)),
        executions: vec![execution(execution_id(77), run, "grasp", 20)],
        health: vec![HealthChange {
            skill: skill("grasp"),
            content_hash: "sha256:1".to_owned(),
            principal: OwnerKey::of(None),
            outcome: RunOutcome::Failure,
            at: at(30),
        }],
        ..append(run, expected, vec![note(30, "full")])
    }
}

/// Returns the record of an execution that began at `millis` and runs.
pub fn execution(id: ExecutionId, run: RunId, of: &str, millis: i64) -> ExecutionRecord {
    ExecutionRecord {
        execution_id: id,
        run_id: run,
        step_id: "step-1".parse().expect("a step's id"),
        agent_id: None,
        skill_name: skill(of),
        skill_version: Version::new(1, 2, 3),
        content_hash: "sha256:1".to_owned(),
        parameters: Map::from_iter([("width".to_owned(), Value::from(3))]),
        result: None,
        error: None,
        status: ExecutionStatus::Running,
        started_at: at(millis),
        completed_at: None,
        duration_ms: None,
        retry_count: 0,
        node: "node-1".to_owned(),
        attempts: Vec::new(),
    }
}

/// Returns the record of an execution that ended well after `duration_ms`.
pub(super) fn succeeded(id: u128, run: RunId, of: &str, millis: i64, duration_ms: u64) -> ExecutionRecord {
    ExecutionRecord {
        status: ExecutionStatus::Success,
        completed_at: Some(at(millis) + duration_ms),
        duration_ms: Some(duration_ms),
        ..execution(execution_id(id), run, of, millis)
    }
}

/// Keeps a run and executions of it.
pub(super) async fn keep_executions(store: &Shared, run: RunId, executions: Vec<ExecutionRecord>) {
    create(store, run, 1).await;
    let kept = RunAppend { executions, ..append(run, 1, Vec::new()) };
    assert_eq!(store.append(kept).await.expect(WORKS), Revision(1));
}

/// Returns what is kept about a run that is there.
pub(super) async fn row(store: &Shared, run: RunId) -> RunRow {
    store.run(run).await.expect(WORKS).expect("the run is kept")
}

/// Returns a whole log.
pub(super) async fn log(store: &Shared, run: RunId) -> Vec<LoggedEvent> {
    store.events(run, Revision(0), usize::MAX).await.expect(WORKS)
}
