//! Cases about counting executions.

use artel_model::id::AgentId;
use artel_model::run::{ExecutionRecord, ExecutionStatus};
use uuid::Uuid;

use super::sample::{Shared, WORKS, at, execution, execution_id, keep_executions, run_id, succeeded};
use crate::execution::{ExecutionStats, StatsBy, StatsFilter};

const BY_SKILL: StatsFilter = StatsFilter { by: StatsBy::Skill, started_from: None, started_before: None };

/// Nothing gives an empty list.
pub async fn no_executions_have_no_stats(store: Shared) {
    assert_eq!(store.stats(&BY_SKILL).await.expect(WORKS), []);
    let by_agent = StatsFilter { by: StatsBy::Agent, ..BY_SKILL };
    assert_eq!(store.stats(&by_agent).await.expect(WORKS), []);
}

/// A percentile is a duration that occurred: the one at the nearest rank.
pub async fn stats_use_the_nearest_rank(store: Shared) {
    let lengths: [(&str, u64); 4] = [("hundred", 100), ("twenty", 20), ("two", 2), ("one", 1)];
    let mut records = Vec::new();
    for (name, length) in lengths {
        // In an order that is neither that of durations nor its reverse.
        let durations = (1..=length).map(|place| (place * 7919 % 101) % length + 1);
        for duration in durations {
            let id = records.len() as u128;
            records.push(succeeded(id, run_id(1), name, 10, duration * 10));
        }
    }
    let mut durations: Vec<u64> = records[..100].iter().filter_map(|record| record.duration_ms).collect();
    durations.sort_unstable();
    keep_executions(&store, run_id(1), records).await;
    let stats = store.stats(&BY_SKILL).await.expect(WORKS);
    let names: Vec<_> = stats.iter().map(|group| (group.of.as_deref(), group.count)).collect();
    assert_eq!(names, [(Some("hundred"), 100), (Some("twenty"), 20), (Some("two"), 2), (Some("one"), 1)]);
    let percentiles: Vec<_> = stats.iter().map(|group| [group.p50_ms, group.p95_ms, group.p99_ms]).collect();
    assert_eq!(percentiles[0], [Some(durations[49]), Some(durations[94]), Some(durations[98])]);
    assert_eq!(percentiles[2][1], percentiles[2][2]);
    assert_eq!(percentiles[3], [Some(10), Some(10), Some(10)]);
}

/// Executions are counted by skill or by agent, and only those that began within the window.
pub async fn stats_count_by_skill_and_agent_within_a_window(store: Shared) {
    let agent = |number| Some(AgentId(Uuid::from_u128(number)));
    let failed = ExecutionRecord {
        status: ExecutionStatus::Failed,
        retry_count: 2,
        agent_id: agent(2),
        ..succeeded(2, run_id(1), "grasp", 20, 30)
    };
    let records = vec![
        ExecutionRecord { agent_id: agent(1), ..succeeded(1, run_id(1), "grasp", 10, 10) },
        failed,
        ExecutionRecord { agent_id: agent(1), retry_count: 1, ..succeeded(3, run_id(1), "approach", 30, 0) },
        succeeded(4, run_id(1), "approach", 40, 40),
        succeeded(5, run_id(1), "approach", 50, 50),
    ];
    keep_executions(&store, run_id(1), records).await;
    let group = |of: Option<&str>, counts: [u64; 4], percentiles: [u64; 3]| ExecutionStats {
        of: of.map(str::to_owned),
        count: counts[0],
        ended: counts[1],
        succeeded: counts[2],
        retries: counts[3],
        p50_ms: Some(percentiles[0]),
        p95_ms: Some(percentiles[1]),
        p99_ms: Some(percentiles[2]),
    };
    let approach = group(Some("approach"), [3, 3, 3, 1], [40, 50, 50]);
    let grasp = group(Some("grasp"), [2, 2, 1, 2], [10, 30, 30]);
    assert_eq!(store.stats(&BY_SKILL).await.expect(WORKS), [approach, grasp]);
    let (one, two) = (Uuid::from_u128(1).to_string(), Uuid::from_u128(2).to_string());
    let nobody = group(None, [2, 2, 2, 0], [40, 50, 50]);
    let first = group(Some(&one), [2, 2, 2, 1], [0, 10, 10]);
    let second = group(Some(&two), [1, 1, 0, 2], [30, 30, 30]);
    let by_agent = StatsFilter { by: StatsBy::Agent, ..BY_SKILL };
    assert_eq!(store.stats(&by_agent).await.expect(WORKS), [nobody, first, second]);
    let window = StatsFilter { started_from: Some(at(20)), started_before: Some(at(50)), ..BY_SKILL };
    let approach = group(Some("approach"), [2, 2, 2, 1], [0, 40, 40]);
    let grasp = group(Some("grasp"), [1, 1, 0, 2], [30, 30, 30]);
    assert_eq!(store.stats(&window).await.expect(WORKS), [approach, grasp]);
}

/// What still runs is counted, has not ended, and has no duration; so has what was cancelled before it began.
pub async fn executions_that_run_are_counted_but_not_measured(store: Shared) {
    let with = |id, status, duration_ms| ExecutionRecord {
        status,
        duration_ms,
        ..execution(execution_id(id), run_id(1), "grasp", 10)
    };
    let records = vec![
        with(1, ExecutionStatus::Pending, None),
        with(2, ExecutionStatus::Running, Some(5)),
        with(3, ExecutionStatus::Cancelled, None),
    ];
    keep_executions(&store, run_id(1), records).await;
    let expected = ExecutionStats {
        of: Some("grasp".to_owned()),
        count: 3,
        ended: 1,
        succeeded: 0,
        retries: 0,
        p50_ms: None,
        p95_ms: None,
        p99_ms: None,
    };
    assert_eq!(store.stats(&BY_SKILL).await.expect(WORKS), [expected]);
}
