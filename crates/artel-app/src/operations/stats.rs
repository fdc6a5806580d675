//! What can be said about many executions. An administrator's are counted by the store; everybody else's own are counted here.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use artel_api::runs::{CountedBy, StatsAnswer, StatsItem, StatsQuery};
use artel_model::access::Principal;
use artel_model::limit::STATS_EXECUTIONS_MAX;
use artel_model::run::{ExecutionRecord, ExecutionStatus};
use artel_store::{
    ExecutionFilter, ExecutionStats, PageRequest, StatsBy, StatsFilter, has_ended, nearest_rank,
};

use super::owned::owner_filter;
use crate::app::App;
use crate::error::OperationError;

/// Records that are read at once.
const PAGE: usize = 1000;

/// Counts executions, the most first.
pub async fn count_executions(
    app: &App,
    caller: &Principal,
    query: StatsQuery,
) -> Result<StatsAnswer, OperationError> {
    let counted = match owner_filter(caller, None)? {
        None => {
            let by = match query.by {
                CountedBy::Skill => StatsBy::Skill,
                CountedBy::Agent => StatsBy::Agent,
            };
            let filter = StatsFilter { by, started_from: query.since, started_before: query.until };
            app.stores().executions.stats(&filter).await?
        }
        owner @ Some(_) => {
            let filter = ExecutionFilter {
                started_from: query.since,
                started_before: query.until,
                owner,
                ..ExecutionFilter::default()
            };
            count(&read(app, &filter).await?, query.by)
        }
    };
    Ok(StatsAnswer { by: query.by, items: counted.into_iter().map(item).collect() })
}

async fn read(app: &App, filter: &ExecutionFilter) -> Result<Vec<ExecutionRecord>, OperationError> {
    let mut records = Vec::new();
    let mut page = PageRequest { after: None, limit: PAGE };
    loop {
        let found = app.stores().executions.executions(filter, &page).await?;
        records.extend(found.items);
        match found.next {
            Some(next) if records.len() < STATS_EXECUTIONS_MAX => page.after = Some(next),
            Some(_) | None => return Ok(records),
        }
    }
}

fn count(records: &[ExecutionRecord], by: CountedBy) -> Vec<ExecutionStats> {
    let mut groups: BTreeMap<Option<String>, Vec<&ExecutionRecord>> = BTreeMap::new();
    for record in records {
        let of = match by {
            CountedBy::Skill => Some(record.skill_name.to_string()),
            CountedBy::Agent => record.agent_id.map(|agent| agent.to_string()),
        };
        groups.entry(of).or_default().push(record);
    }
    let mut counted: Vec<ExecutionStats> =
        groups.into_iter().map(|(of, records)| stats(of, &records)).collect();
    counted.sort_by_key(|stats| Reverse(stats.count));
    counted
}

fn stats(of: Option<String>, records: &[&ExecutionRecord]) -> ExecutionStats {
    let ended = || records.iter().filter(|record| has_ended(record.status));
    let mut durations: Vec<u64> = ended().filter_map(|record| record.duration_ms).collect();
    durations.sort_unstable();
    let percentile = |percent| durations.get(nearest_rank(durations.len(), percent) - 1).copied();
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    ExecutionStats {
        of,
        count: count(records.len()),
        ended: count(ended().count()),
        succeeded: count(records.iter().filter(|record| record.status == ExecutionStatus::Success).count()),
        retries: records.iter().map(|record| u64::from(record.retry_count)).sum(),
        p50_ms: percentile(50),
        p95_ms: percentile(95),
        p99_ms: percentile(99),
    }
}

fn item(stats: ExecutionStats) -> StatsItem {
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown with few digits")]
    let rate = |succeeded: u64, ended: u64| succeeded as f64 / ended as f64;
    StatsItem {
        success_rate: (stats.ended > 0).then(|| rate(stats.succeeded, stats.ended)),
        of: stats.of,
        count: stats.count,
        ended: stats.ended,
        succeeded: stats.succeeded,
        retries: stats.retries,
        p50_ms: stats.p50_ms,
        p95_ms: stats.p95_ms,
        p99_ms: stats.p99_ms,
    }
}
