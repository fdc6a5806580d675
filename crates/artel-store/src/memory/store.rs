//! The store in memory as the rest of artel sees it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use artel_model::id::{ExecutionId, RunId};
use artel_model::name::SkillName;
use artel_model::run::ExecutionRecord;
use artel_model::time::Timestamp;
use async_trait::async_trait;

use super::listing;
use super::tables::{KeptRun, Tables};
use crate::error::StoreError;
use crate::execution::{ExecutionFilter, ExecutionStats, ExecutionStore, StatsFilter};
use crate::health::{HealthCount, HealthStore, ProbeClaim, SkillFiles};
use crate::page::{Page, PageRequest};
use crate::run::{
    AppendError, Claim, ClaimError, Created, Fence, LoggedEvent, NewRun, Revision, RunAppend, RunFilter,
    RunRow, RunStore,
};

/// A store in memory. Nothing in it waits, so the lock is never held across an `await`.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

impl MemoryStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every change is complete before anything in it can panic, so a poisoned lock guards whole tables.
    pub(super) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl RunStore for MemoryStore {
    async fn create(&self, run: NewRun) -> Result<Created, StoreError> {
        Ok(self.tables().create(run))
    }

    async fn append(&self, append: RunAppend) -> Result<Revision, AppendError> {
        self.tables().append(append)
    }

    async fn sync(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn events(
        &self,
        run: RunId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        Ok(self.tables().events(run, after, limit))
    }

    async fn run(&self, id: RunId) -> Result<Option<RunRow>, StoreError> {
        Ok(self.tables().runs.get(&id).map(KeptRun::row))
    }

    async fn runs(&self, filter: &RunFilter, page: &PageRequest) -> Result<Page<RunRow>, StoreError> {
        listing::runs(&self.tables(), filter, page)
    }

    async fn claim(&self, claim: Claim) -> Result<Fence, ClaimError> {
        self.tables().claim(claim)
    }

    async fn version(&self) -> Result<u64, StoreError> {
        Ok(self.tables().version)
    }

    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError> {
        Ok(self.tables().prune(before))
    }
}

#[async_trait]
impl ExecutionStore for MemoryStore {
    async fn execution(&self, id: ExecutionId) -> Result<Option<ExecutionRecord>, StoreError> {
        Ok(self.tables().executions.get(&id).cloned())
    }

    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, StoreError> {
        listing::executions(&self.tables(), filter, page)
    }

    async fn stats(&self, filter: &StatsFilter) -> Result<Vec<ExecutionStats>, StoreError> {
        Ok(listing::stats(&self.tables(), filter))
    }
}

#[async_trait]
impl HealthStore for MemoryStore {
    async fn health_counts(&self) -> Result<Vec<HealthCount>, StoreError> {
        Ok(self.tables().health_counts())
    }

    async fn reset_health(&self, skill: &SkillName, content_hash: Option<&str>) -> Result<(), StoreError> {
        self.tables().reset_health(skill, content_hash);
        Ok(())
    }

    async fn claim_probe(&self, claim: ProbeClaim) -> Result<bool, StoreError> {
        Ok(self.tables().claim_probe(claim))
    }

    async fn prune_health(&self, files: &[SkillFiles], before: Timestamp) -> Result<(), StoreError> {
        self.tables().prune_health(files, before);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    async fn memory() -> (Arc<MemoryStore>, ()) {
        (Arc::new(MemoryStore::new()), ())
    }

    crate::contract_suite!(memory);
    crate::agent_contract_suite!(memory);
    crate::catalog_contract_suite!(memory);
}
