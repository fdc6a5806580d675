//! The lists and counts of the store in memory, made by looking at everything.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use artel_model::run::{ExecutionRecord, ExecutionStatus, RunSummary};
use artel_model::time::Timestamp;
use uuid::Uuid;

use super::tables::{KeptRun, Tables};
use crate::error::StoreError;
use crate::execution::{ExecutionFilter, ExecutionStats, StatsBy, StatsFilter, has_ended, nearest_rank};
use crate::page::{Cursor, Page, PageRequest};
use crate::run::{RunFilter, RunRow};

/// Returns one page of the runs that fit.
pub(super) fn runs(
    tables: &Tables,
    filter: &RunFilter,
    page: &PageRequest,
) -> Result<Page<RunRow>, StoreError> {
    let rows = tables.runs.values().map(KeptRun::row);
    page_of(rows.filter(|row| run_fits(filter, &row.summary)), page, |row| {
        (row.summary.created_at, row.summary.run_id.0)
    })
}

fn run_fits(filter: &RunFilter, summary: &RunSummary) -> bool {
    (filter.states.is_empty() || filter.states.contains(&summary.state))
        && (filter.owner.is_none() || filter.owner == summary.owner)
        && is_within(summary.created_at, filter.created_from, filter.created_before)
}

/// Returns one page of the executions that fit.
pub(super) fn executions(
    tables: &Tables,
    filter: &ExecutionFilter,
    page: &PageRequest,
) -> Result<Page<ExecutionRecord>, StoreError> {
    let is_theirs = |record: &ExecutionRecord| {
        let run = tables.runs.get(&record.run_id);
        filter.owner.is_none() || run.is_some_and(|run| run.summary.owner == filter.owner)
    };
    let fitting = |record: &&ExecutionRecord| execution_fits(filter, record) && is_theirs(record);
    let records = tables.executions.values().filter(fitting);
    page_of(records.cloned(), page, |record| (record.started_at, record.execution_id.0))
}

fn execution_fits(filter: &ExecutionFilter, record: &ExecutionRecord) -> bool {
    (filter.agent.is_none() || filter.agent == record.agent_id)
        && filter.run.is_none_or(|run| run == record.run_id)
        && filter.skill.as_ref().is_none_or(|skill| *skill == record.skill_name)
        && (filter.statuses.is_empty() || filter.statuses.contains(&record.status))
        && is_within(record.started_at, filter.started_from, filter.started_before)
}

/// Says whether a moment is within a span.
pub(super) fn is_within(at: Timestamp, from: Option<Timestamp>, before: Option<Timestamp>) -> bool {
    from.is_none_or(|from| at >= from) && before.is_none_or(|before| at < before)
}

/// Sorts the latest first and cuts the page out.
pub(super) fn page_of<T>(
    items: impl Iterator<Item = T>,
    page: &PageRequest,
    place: impl Fn(&T) -> (Timestamp, Uuid),
) -> Result<Page<T>, StoreError> {
    let after = page.after.as_ref().map(Cursor::place).transpose()?;
    let mut items: Vec<T> = items.filter(|item| after.is_none_or(|after| place(item) < after)).collect();
    items.sort_by_key(|item| Reverse(place(item)));
    items.truncate(page.limit.saturating_add(1));
    Ok(Page::cut(items, page.limit, place))
}

/// Counts the executions that fit.
pub(super) fn stats(tables: &Tables, filter: &StatsFilter) -> Vec<ExecutionStats> {
    let mut groups: BTreeMap<Option<String>, Vec<&ExecutionRecord>> = BTreeMap::new();
    let fitting = tables.executions.values();
    for record in
        fitting.filter(|record| is_within(record.started_at, filter.started_from, filter.started_before))
    {
        let of = match filter.by {
            StatsBy::Skill => Some(record.skill_name.to_string()),
            StatsBy::Agent => record.agent_id.map(|agent| agent.to_string()),
        };
        groups.entry(of).or_default().push(record);
    }
    let mut stats: Vec<ExecutionStats> =
        groups.into_iter().map(|(of, records)| count(of, &records)).collect();
    stats.sort_by_key(|group| Reverse(group.count));
    stats
}

fn count(of: Option<String>, records: &[&ExecutionRecord]) -> ExecutionStats {
    let ended = || records.iter().filter(|record| has_ended(record.status));
    let mut durations: Vec<u64> = ended().filter_map(|record| record.duration_ms).collect();
    durations.sort_unstable();
    let percentile = |percent| durations.get(nearest_rank(durations.len(), percent) - 1).copied();
    ExecutionStats {
        of,
        count: records.len() as u64,
        ended: ended().count() as u64,
        succeeded: ended().filter(|record| record.status == ExecutionStatus::Success).count() as u64,
        retries: records.iter().map(|record| u64::from(record.retry_count)).sum(),
        p50_ms: percentile(50),
        p95_ms: percentile(95),
        p99_ms: percentile(99),
    }
}
