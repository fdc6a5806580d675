//! Cases about records of executions.

use artel_model::id::AgentId;
use artel_model::run::{AttemptRecord, ErrorKind, ExecutionRecord, ExecutionStatus, StepError};
use serde_json::{Map, json};
use uuid::Uuid;

use super::sample::{
    Shared, WORKS, append, at, create, execution, execution_id, keep_executions, owner_of, run_id, skill,
    user,
};
use crate::execution::ExecutionFilter;
use crate::page::PageRequest;
use crate::run::RunAppend;

fn agent(number: u128) -> AgentId {
    AgentId(Uuid::from_u128(number))
}

/// Every field comes back as it was, and a later record replaces the whole of an earlier one.
pub async fn an_execution_is_kept_whole_and_replaced(store: Shared) {
    let first = execution(execution_id(1), run_id(1), "grasp", 20);
    keep_executions(&store, run_id(1), vec![first.clone()]).await;
    assert_eq!(store.execution(execution_id(1)).await.expect(WORKS), Some(first.clone()));
    let error =
        StepError { kind: ErrorKind::Timeout, message: "too slow \u{1f422}".to_owned(), exit_code: Some(-9) };
    let attempt = AttemptRecord {
        attempt: 2,
        started_at: at(25),
        completed_at: Some(at(29)),
        error: Some(error.clone()),
        stderr: "\u{0}\u{1b}[31m".to_owned(),
    };
    let last = ExecutionRecord {
        agent_id: Some(agent(4)),
        result: Some(Map::from_iter([("x".to_owned(), json!([1.5, null]))])),
        error: Some(error),
        status: ExecutionStatus::Timeout,
        started_at: at(19),
        completed_at: Some(at(30)),
        duration_ms: Some(11),
        retry_count: 1,
        attempts: vec![attempt],
        ..first
    };
    let replaced = RunAppend { executions: vec![last.clone()], ..append(run_id(1), 1, Vec::new()) };
    store.append(replaced).await.expect(WORKS);
    assert_eq!(store.execution(execution_id(1)).await.expect(WORKS), Some(last.clone()));
    let page = PageRequest { after: None, limit: 10 };
    let listed = store.executions(&ExecutionFilter::default(), &page).await.expect(WORKS);
    assert_eq!(listed.items, [last]);
}

/// Returns the numbers of all records that fit, read in pages of `limit`.
async fn numbers(store: &Shared, filter: &ExecutionFilter, limit: usize) -> Vec<u128> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.executions(filter, &PageRequest { after, limit }).await.expect(WORKS);
        assert!(page.next.is_none() || page.items.len() == limit, "a page in the middle is not full");
        found.extend(page.items.iter().map(|record| record.execution_id.0.as_u128()));
        match page.next {
            Some(next) => after = Some(next),
            None => return found,
        }
    }
}

/// Records are found by agent, run, skill, status and time, and by all of them together.
pub async fn executions_are_found_by_every_filter(store: Shared) {
    let record = |number: u128, run: u128, of: &str, by: Option<u128>, status| ExecutionRecord {
        agent_id: by.map(agent),
        status,
        ..execution(execution_id(number), run_id(run), of, i64::try_from(number * 10).expect("small"))
    };
    let (running, failed, success) =
        (ExecutionStatus::Running, ExecutionStatus::Failed, ExecutionStatus::Success);
    let first = vec![
        record(1, 1, "grasp", Some(1), running),
        record(2, 1, "grasp", None, failed),
        record(3, 1, "approach", Some(2), success),
    ];
    let second = vec![
        record(4, 2, "grasp", Some(1), failed),
        record(5, 2, "approach", Some(1), success),
        record(6, 2, "grasp", Some(2), ExecutionStatus::Cancelled),
    ];
    keep_executions(&store, run_id(1), first).await;
    keep_executions(&store, run_id(2), second).await;
    let all = ExecutionFilter::default();
    let grasp = ExecutionFilter { skill: Some(skill("grasp")), ..all.clone() };
    let by_one = ExecutionFilter { agent: Some(agent(1)), ..all.clone() };
    let cases: Vec<(ExecutionFilter, Vec<u128>)> = vec![
        (all.clone(), vec![6, 5, 4, 3, 2, 1]),
        (grasp.clone(), vec![6, 4, 2, 1]),
        (by_one.clone(), vec![5, 4, 1]),
        (ExecutionFilter { agent: Some(agent(9)), ..all.clone() }, vec![]),
        (ExecutionFilter { run: Some(run_id(1)), ..all.clone() }, vec![3, 2, 1]),
        (ExecutionFilter { run: Some(run_id(9)), ..all.clone() }, vec![]),
        (ExecutionFilter { statuses: vec![failed], ..all.clone() }, vec![4, 2]),
        (ExecutionFilter { statuses: vec![running, success], ..all.clone() }, vec![5, 3, 1]),
        (ExecutionFilter { started_from: Some(at(40)), ..all.clone() }, vec![6, 5, 4]),
        (ExecutionFilter { started_before: Some(at(40)), ..all.clone() }, vec![3, 2, 1]),
        (ExecutionFilter { statuses: vec![failed, running], ..grasp.clone() }, vec![4, 2, 1]),
        (ExecutionFilter { started_before: Some(at(50)), ..by_one.clone() }, vec![4, 1]),
        (
            ExecutionFilter {
                agent: Some(agent(1)),
                run: Some(run_id(2)),
                skill: Some(skill("grasp")),
                statuses: vec![failed],
                started_from: Some(at(40)),
                started_before: Some(at(41)),
                owner: owner_of(2),
            },
            vec![4],
        ),
        (ExecutionFilter { owner: owner_of(1), ..all.clone() }, vec![3, 2, 1]),
        (ExecutionFilter { owner: owner_of(2), ..grasp.clone() }, vec![6, 4]),
        (ExecutionFilter { owner: Some(user("nobody")), ..all.clone() }, vec![]),
    ];
    for (filter, expected) in cases {
        assert_eq!(numbers(&store, &filter, 2).await, expected, "{filter:?}");
        assert_eq!(numbers(&store, &filter, 100).await, expected, "{filter:?}");
    }
}

/// Records that began at the same time are listed by id, and pages of any size agree.
pub async fn executions_are_listed_in_pages(store: Shared) {
    let records = (1..=9).map(|number| {
        let began = if number % 2 == 0 { 10 } else { 20 };
        execution(execution_id(number), run_id(1), "grasp", began)
    });
    keep_executions(&store, run_id(1), records.collect()).await;
    create(&store, run_id(2), 5).await;
    for limit in 1..=10 {
        let listed = numbers(&store, &ExecutionFilter::default(), limit).await;
        assert_eq!(listed, [9, 7, 5, 3, 1, 8, 6, 4, 2], "pages of {limit}");
    }
}
