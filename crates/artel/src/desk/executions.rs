//! What runs left behind: records and numbers about them, and removing what is old.

use artel_api::Paged;
use artel_api::client::ApiPath;
use artel_api::runs::{
    CountedBy, ExecutionsQuery, PruneWish, PrunedRuns, StatsAnswer, StatsItem, StatsQuery,
};
use artel_model::run::ExecutionRecord;
use artel_model::time::Timestamp;
use artel_store::{ExecutionFilter, ExecutionStats, Page, PageRequest, StatsBy, StatsFilter};

use super::page::{cannot_list, not_listed, page_of, query_of};
use super::runs::RunDesk;
use crate::failure::{Failure, refused};
use crate::workshop::prune;

impl RunDesk<'_> {
    /// Lists the records of skills that were run, the latest first.
    pub(crate) async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, Failure> {
        match self {
            Self::Here(_, teller) => {
                let records = teller.store.executions.executions(filter, page).await;
                records.map_err(|error| cannot_list(&error))
            }
            Self::There(client) => {
                let statuses: Vec<&str> = filter.statuses.iter().map(|status| status.as_str()).collect();
                let (after, limit) = query_of(page);
                let query = ExecutionsQuery {
                    run: filter.run.map(|run| run.0),
                    agent: filter.agent.map(|agent| agent.0),
                    skill: filter.skill.clone(),
                    status: (!statuses.is_empty()).then(|| statuses.join(",")),
                    since: filter.started_from,
                    until: filter.started_before,
                    after,
                    limit,
                };
                let path = ApiPath::new("/api/executions");
                let records: Result<Paged<ExecutionRecord>, _> = client.ask(&path, &query).await;
                Ok(page_of(records.map_err(|error| not_listed(&error))?, |record| record))
            }
        }
    }

    /// Counts executions, the most first.
    pub(crate) async fn stats(&self, filter: &StatsFilter) -> Result<Vec<ExecutionStats>, Failure> {
        match self {
            Self::Here(_, teller) => {
                let counted = teller.store.executions.stats(filter).await;
                counted.map_err(|error| Failure::unavailable(&error))
            }
            Self::There(client) => {
                let by = match filter.by {
                    StatsBy::Skill => CountedBy::Skill,
                    StatsBy::Agent => CountedBy::Agent,
                };
                let query = StatsQuery { by, since: filter.started_from, until: filter.started_before };
                let path = ApiPath::new("/api/runs/stats");
                let answer: Result<StatsAnswer, _> = client.ask(&path, &query).await;
                let answer = answer.map_err(|error| refused(&error))?;
                Ok(answer.items.into_iter().map(stats).collect())
            }
        }
    }

    /// Removes the runs that ended before a moment.
    pub(crate) async fn prune(&self, before: Timestamp) -> Result<PrunedRuns, Failure> {
        match self {
            Self::Here(context, teller) => {
                let pruned = prune(*context, &teller.store, before).await?;
                Ok(PrunedRuns { removed: pruned.runs, assets: pruned.assets })
            }
            Self::There(client) => {
                let path = ApiPath::new("/api/runs/prune");
                client.post(&path, &PruneWish { before }, None).await.map_err(|error| refused(&error))
            }
        }
    }
}

fn stats(item: StatsItem) -> ExecutionStats {
    ExecutionStats {
        of: item.of,
        count: item.count,
        ended: item.ended,
        succeeded: item.succeeded,
        retries: item.retries,
        p50_ms: item.p50_ms,
        p95_ms: item.p95_ms,
        p99_ms: item.p99_ms,
    }
}
