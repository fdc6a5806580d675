//! Records of skills that were run.

use artel_model::access::UserId;
use artel_model::id::{AgentId, ExecutionId, RunId};
use artel_model::name::SkillName;
use artel_model::run::{ExecutionRecord, ExecutionStatus};
use artel_model::time::Timestamp;
use async_trait::async_trait;

use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// Which executions a list holds; everything that is not said fits.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ExecutionFilter {
    /// Run for this agent.
    pub agent: Option<AgentId>,
    /// Part of this run.
    pub run: Option<RunId>,
    /// Of this skill.
    pub skill: Option<SkillName>,
    /// With one of these statuses; any when empty.
    pub statuses: Vec<ExecutionStatus>,
    /// Begun at this time or later.
    pub started_from: Option<Timestamp>,
    /// Begun before this time.
    pub started_before: Option<Timestamp>,
    /// Part of somebody's run.
    pub owner: Option<UserId>,
}

/// By what executions are counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StatsBy {
    /// By skill.
    Skill,
    /// By agent; those of no agent together.
    Agent,
}

/// Which executions are counted, and how.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StatsFilter {
    /// By what.
    pub by: StatsBy,
    /// Begun at this time or later.
    pub started_from: Option<Timestamp>,
    /// Begun before this time.
    pub started_before: Option<Timestamp>,
}

/// What can be said about many executions.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionStats {
    /// The skill's name or the agent's id; nothing for executions of no agent.
    pub of: Option<String>,
    /// How many there are.
    pub count: u64,
    /// How many have ended, in any way.
    pub ended: u64,
    /// How many of those did what they should.
    pub succeeded: u64,
    /// Attempts after the first, of all together.
    pub retries: u64,
    /// The duration of half of those that ended and have one, in milliseconds: the value at [`nearest_rank`].
    pub p50_ms: Option<u64>,
    /// That of 95 in 100.
    pub p95_ms: Option<u64>,
    /// That of 99 in 100.
    pub p99_ms: Option<u64>,
}

/// Returns the place, from 1, of the value that `percent` in 100 of `count` sorted values do not exceed.
pub fn nearest_rank(count: usize, percent: usize) -> usize {
    (count * percent).div_ceil(100).max(1)
}

/// Says whether an execution has ended, in any way.
pub fn has_ended(status: ExecutionStatus) -> bool {
    match status {
        ExecutionStatus::Pending | ExecutionStatus::Running => false,
        ExecutionStatus::Success
        | ExecutionStatus::Failed
        | ExecutionStatus::Timeout
        | ExecutionStatus::Cancelled => true,
    }
}

/// Records of skills that were run. They are written by [`RunStore::append`](crate::RunStore::append).
#[async_trait]
pub trait ExecutionStore: Send + Sync {
    /// Returns a record.
    async fn execution(&self, id: ExecutionId) -> Result<Option<ExecutionRecord>, StoreError>;

    /// Lists records: the latest first by when they began, and of those begun at the same time the greatest id first.
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, StoreError>;

    /// Counts executions: the most first, by name when they are as many, those of no agent before the others then.
    async fn stats(&self, filter: &StatsFilter) -> Result<Vec<ExecutionStats>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rank_is_a_place_that_exists() {
        let ranks = |count| [50, 95, 99].map(|percent| nearest_rank(count, percent));
        assert_eq!(ranks(1), [1, 1, 1]);
        assert_eq!(ranks(2), [1, 2, 2]);
        assert_eq!(ranks(20), [10, 19, 20]);
        assert_eq!(ranks(100), [50, 95, 99]);
        assert_eq!(ranks(101), [51, 96, 100]);
    }
}
