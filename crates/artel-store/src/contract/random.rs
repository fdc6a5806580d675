//! Random operations: the store under test must answer as the store in memory does.

use std::sync::Arc;

use artel_model::data_scope::OwnerKey;
use artel_model::health::RunOutcome;
use artel_model::id::AgentId;
use artel_model::run::{ExecutionRecord, ExecutionStatus, RunState, RunSummary};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use uuid::Uuid;

use super::sample::{
    Shared, WORKS, append, at, execution, execution_id, new_run, note, owner_of, run_id, skill, summary,
};
use crate::execution::{ExecutionFilter, StatsBy, StatsFilter};
use crate::memory::MemoryStore;
use crate::page::PageRequest;
use crate::run::{Claim, Fence, HealthChange, NewRun, OwnerId, Revision, RunAppend, RunFilter};

const CASES: u32 = 64;
const OPERATIONS_MAX: usize = 40;
const SKILLS: [&str; 3] = ["approach", "grasp", "lift-up"];

/// Something to do with a store. Runs and executions come from small sets, so that operations meet.
#[derive(Clone, Debug)]
enum Operation {
    Create { run: u128, millis: i64, state: RunState, key: Option<u8>, owned: bool },
    Append { run: u128, ahead: u64, fence: Option<u64>, events: usize, rest: Rest },
    Claim { run: u128, seen: u64 },
    Prune { before: i64 },
    ResetHealth { skill: usize },
    Runs { states: Vec<RunState>, from: Option<i64>, before: Option<i64>, owner: u128, limit: usize },
    Executions { filter: ExecutionFilter, limit: usize },
    Stats { by: StatsBy, from: Option<i64> },
}

/// What an append changes beside the log.
#[derive(Clone, Debug)]
struct Rest {
    state: Option<(RunState, i64)>,
    executions: Vec<Record>,
    health: Vec<(usize, u8, RunOutcome)>,
}

/// A record to write.
#[derive(Clone, Debug)]
struct Record {
    id: u128,
    of: usize,
    agent: Option<u128>,
    status: ExecutionStatus,
    millis: i64,
    duration_ms: Option<u64>,
}

fn number() -> impl Strategy<Value = u128> {
    1_u128..6
}

fn millis() -> impl Strategy<Value = i64> {
    -2_i64..4
}

fn state() -> impl Strategy<Value = RunState> {
    proptest::sample::select(RunState::ALL)
}

fn status() -> impl Strategy<Value = ExecutionStatus> {
    proptest::sample::select(ExecutionStatus::ALL)
}

fn outcome() -> impl Strategy<Value = RunOutcome> {
    prop_oneof![Just(RunOutcome::Success), Just(RunOutcome::Failure), Just(RunOutcome::Transient)]
}

fn rest() -> impl Strategy<Value = Rest> {
    let agent = proptest::option::of(number());
    let duration = proptest::option::of(0_u64..5);
    let record = (number(), 0..SKILLS.len(), agent, status(), millis(), duration).prop_map(
        |(id, of, agent, status, millis, duration_ms)| Record { id, of, agent, status, millis, duration_ms },
    );
    let (executions, health) = (
        proptest::collection::vec(record, 0..3),
        proptest::collection::vec((0..SKILLS.len(), 0_u8..2, outcome()), 0..3),
    );
    (proptest::option::of((state(), millis())), executions, health)
        .prop_map(|(state, executions, health)| Rest { state, executions, health })
}

fn execution_filter() -> impl Strategy<Value = ExecutionFilter> {
    (
        proptest::option::of(number()),
        proptest::option::of(number()),
        proptest::option::of(0..SKILLS.len()),
        proptest::collection::vec(status(), 0..3),
        proptest::option::of(millis()),
        proptest::option::of(millis()),
        0_u128..6,
    )
        .prop_map(|(agent, run, of, statuses, from, before, owner)| ExecutionFilter {
            agent: agent.map(|number| AgentId(Uuid::from_u128(number))),
            run: run.map(run_id),
            skill: of.map(|of| skill(SKILLS[of])),
            statuses,
            started_from: from.map(at),
            started_before: before.map(at),
            owner: owner_of(owner).filter(|_| owner < 3),
        })
}

fn operation() -> impl Strategy<Value = Operation> {
    let key = proptest::option::weighted(0.3, 0_u8..3);
    let fence = proptest::option::weighted(0.7, 0_u64..3);
    let times = (proptest::option::of(millis()), proptest::option::of(millis()));
    let by = prop_oneof![Just(StatsBy::Skill), Just(StatsBy::Agent)];
    prop_oneof![
        3 => (number(), millis(), state(), key, any::<bool>())
            .prop_map(|(run, millis, state, key, owned)| Operation::Create { run, millis, state, key, owned }),
        8 => (number(), 0_u64..10, fence, 0_usize..4, rest()).prop_map(|(run, ahead, fence, events, rest)| {
            Operation::Append { run, ahead, fence, events, rest }
        }),
        2 => (number(), 0_u64..3).prop_map(|(run, seen)| Operation::Claim { run, seen }),
        1 => millis().prop_map(|before| Operation::Prune { before }),
        1 => (0..SKILLS.len()).prop_map(|skill| Operation::ResetHealth { skill }),
        2 => (proptest::collection::vec(state(), 0..3), times, 0_u128..6, 1_usize..4).prop_map(
            |(states, (from, before), owner, limit)| Operation::Runs { states, from, before, owner, limit }
        ),
        2 => (execution_filter(), 1_usize..4)
            .prop_map(|(filter, limit)| Operation::Executions { filter, limit }),
        1 => (by, proptest::option::of(millis())).prop_map(|(by, from)| Operation::Stats { by, from }),
    ]
}

/// Whatever is done in whatever order, the answers are those of the store in memory.
///
/// All cases share one store and one memory: both are given the same operations, so they must agree in any case, and an
/// empty database for each case would cost more than it finds.
pub async fn random_operations_answer_as_memory_does(store: Shared) {
    let memory: Shared = Arc::new(MemoryStore::new());
    let handle = tokio::runtime::Handle::current();
    let config = Config { cases: CASES, max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    tokio::task::block_in_place(|| {
        let operations = proptest::collection::vec(operation(), 1..OPERATIONS_MAX);
        let outcome = TestRunner::new(config).run(&operations, |operations| {
            for operation in operations {
                let expected = handle.block_on(answer(&memory, operation.clone()));
                let actual = handle.block_on(answer(&store, operation));
                prop_assert_eq!(actual, expected);
            }
            prop_assert_eq!(handle.block_on(everything(&store)), handle.block_on(everything(&memory)));
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{failure}");
        }
    });
}

/// Does what is asked and returns all that can be said about the answer, but for cursors, which are a store's own.
async fn answer(store: &Shared, operation: Operation) -> String {
    match operation {
        Operation::Create { run, millis, state, key, owned } => {
            let run = NewRun {
                summary: at_state(run, millis, state, millis + 1),
                owner: owned.then(|| OwnerId("one".to_owned())),
                idempotency_key: key.map(|key| format!("key {key}")),
                ..new_run(run_id(run), millis)
            };
            format!("{:?}", store.create(run).await)
        }
        Operation::Append { run, ahead, fence, events, rest } => {
            let end = store.run(run_id(run)).await.expect(WORKS).map_or(0, |row| row.revision.0);
            // Mostly where the log ends, sometimes where it does not.
            let expected = if ahead < 8 { end } else { end + ahead - 8 + u64::from(ahead == 8) };
            format!("{:?}", store.append(random_append(run, expected, fence, events, rest)).await)
        }
        Operation::Claim { run, seen } => {
            let claim = Claim { run: run_id(run), seen: Fence(seen), owner: OwnerId("two".to_owned()) };
            format!("{:?}", store.claim(claim).await)
        }
        Operation::Prune { before } => format!("{:?}", store.prune(at(before)).await),
        Operation::ResetHealth { skill: of } => {
            format!("{:?}", store.reset_health(&skill(SKILLS[of]), None).await)
        }
        Operation::Runs { states, from, before, owner, limit } => {
            let owner = owner_of(owner).filter(|_| owner < 3);
            let (created_from, created_before) = (from.map(at), before.map(at));
            let filter = RunFilter { states, created_from, created_before, owner };
            all_runs(store, &filter, limit).await
        }
        Operation::Executions { filter, limit } => all_executions(store, &filter, limit).await,
        Operation::Stats { by, from } => {
            let filter = StatsFilter { by, started_from: from.map(at), started_before: None };
            format!("{:?}", store.stats(&filter).await)
        }
    }
}

fn at_state(run: u128, created: i64, state: RunState, completed: i64) -> RunSummary {
    let completed_at = state.is_final().then(|| at(completed));
    RunSummary { state, completed_at, ..summary(run_id(run), created) }
}

fn random_append(run: u128, expected: u64, fence: Option<u64>, events: usize, rest: Rest) -> RunAppend {
    // An execution belongs to one run, so its id says which.
    let record = |record: Record| ExecutionRecord {
        agent_id: record.agent.map(|number| AgentId(Uuid::from_u128(number))),
        status: record.status,
        duration_ms: record.duration_ms,
        retry_count: u32::from(record.id.is_multiple_of(2)),
        ..execution(execution_id(run * 100 + record.id), run_id(run), SKILLS[record.of], record.millis)
    };
    // All outcomes of a run are of its owner.
    let user = (!run.is_multiple_of(3)).then(|| format!("user {}", run % 3).parse().expect("a name"));
    let change = |(of, hash, outcome): (usize, u8, RunOutcome)| HealthChange {
        skill: skill(SKILLS[of]),
        content_hash: hash.to_string(),
        principal: OwnerKey::of(user.as_ref()),
        outcome,
        at: at(i64::from(hash)),
    };
    RunAppend {
        run: run_id(run),
        fence: fence.map(Fence),
        summary: rest.state.map(|(state, millis)| at_state(run, millis, state, millis + 1)),
        executions: rest.executions.into_iter().map(record).collect(),
        health: rest.health.into_iter().map(change).collect(),
        ..append(run_id(run), expected, (0..events).map(|number| note(5, &number.to_string())).collect())
    }
}

async fn all_runs(store: &Shared, filter: &RunFilter, limit: usize) -> String {
    let mut told = String::new();
    let mut after = None;
    loop {
        let page = store.runs(filter, &PageRequest { after, limit }).await.expect(WORKS);
        told += &format!("{:?}\n", page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return told,
        }
    }
}

async fn all_executions(store: &Shared, filter: &ExecutionFilter, limit: usize) -> String {
    let mut told = String::new();
    let mut after = None;
    loop {
        let page = store.executions(filter, &PageRequest { after, limit }).await.expect(WORKS);
        told += &format!("{:?}\n", page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return told,
        }
    }
}

/// Returns all that a store holds.
async fn everything(store: &Shared) -> String {
    let runs = all_runs(store, &RunFilter::default(), 100).await;
    let executions = all_executions(store, &ExecutionFilter::default(), 100).await;
    let mut logs = String::new();
    for number in 1..6 {
        let events = store.events(run_id(number), Revision(0), 10_000).await.expect(WORKS);
        logs += &format!("{events:?}\n");
    }
    format!("{runs}{executions}{logs}{:?}", store.health_counts().await.expect(WORKS))
}
