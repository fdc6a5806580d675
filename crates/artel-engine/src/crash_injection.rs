//! A store that ends the whole process after some writes, to prove that nothing is lost then. Not in release builds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use artel_model::id::RunId;
use artel_model::time::Timestamp;
use artel_store::{
    AppendError, Claim, ClaimError, Created, Fence, LoggedEvent, NewRun, Page, PageRequest, Revision,
    RunAppend, RunFilter, RunRow, RunStore, StoreError,
};
use async_trait::async_trait;

/// When the process ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Death {
    /// Before the write of that number, from 1.
    BeforeWrite(u64),
    /// After it, and before anything is done about it.
    AfterWrite(u64),
}

/// A store that ends the process.
pub struct CrashingStore {
    inner: Arc<dyn RunStore>,
    death: Death,
    writes: AtomicU64,
}

impl CrashingStore {
    /// Makes a store that ends the process at the given moment.
    pub fn new(inner: Arc<dyn RunStore>, death: Death) -> Self {
        Self { inner, death, writes: AtomicU64::new(0) }
    }

    fn count(&self) -> u64 {
        let number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        if self.death == Death::BeforeWrite(number) {
            std::process::abort();
        }
        number
    }

    fn written(&self, number: u64) {
        if self.death == Death::AfterWrite(number) {
            std::process::abort();
        }
    }
}

#[async_trait]
impl RunStore for CrashingStore {
    async fn create(&self, run: NewRun) -> Result<Created, StoreError> {
        let number = self.count();
        let done = self.inner.create(run).await;
        self.written(number);
        done
    }

    async fn append(&self, append: RunAppend) -> Result<Revision, AppendError> {
        let number = self.count();
        let done = self.inner.append(append).await;
        self.written(number);
        done
    }

    async fn sync(&self) -> Result<(), StoreError> {
        self.inner.sync().await
    }

    async fn events(
        &self,
        run: RunId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        self.inner.events(run, after, limit).await
    }

    async fn run(&self, id: RunId) -> Result<Option<RunRow>, StoreError> {
        self.inner.run(id).await
    }

    async fn runs(&self, filter: &RunFilter, page: &PageRequest) -> Result<Page<RunRow>, StoreError> {
        self.inner.runs(filter, page).await
    }

    async fn claim(&self, claim: Claim) -> Result<Fence, ClaimError> {
        let number = self.count();
        let done = self.inner.claim(claim).await;
        self.written(number);
        done
    }

    async fn version(&self) -> Result<u64, StoreError> {
        self.inner.version().await
    }

    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.inner.prune(before).await
    }
}
