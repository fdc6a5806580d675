//! Runs: their logs, who drives them, and what lists show.

use artel_model::access::UserId;
use artel_model::data_scope::OwnerKey;
use artel_model::health::RunOutcome;
use artel_model::id::RunId;
use artel_model::name::SkillName;
use artel_model::run::{ExecutionRecord, RunState, RunSummary, StampedEvent};
use artel_model::time::Timestamp;
use async_trait::async_trait;

use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// The number of events in a log.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Revision(pub u64);

/// Who drives a run: the name of a process that can be asked whether it is alive.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OwnerId(pub String);

/// Counts the owners of a run; what an earlier one writes late is refused.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Fence(pub u64);

/// A run to be kept.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// What lists show about it.
    pub summary: RunSummary,
    /// Its first events.
    pub events: Vec<StampedEvent>,
    /// Who drives it, if somebody does already; with fence 1 then, otherwise 0.
    pub owner: Option<OwnerId>,
    /// A second run with the same key is the first one.
    pub idempotency_key: Option<String>,
}

/// What came of keeping a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Created {
    /// It is kept.
    New,
    /// A run with its idempotency key, or else with its id, is kept already; nothing was written.
    Existing(RunId),
}

/// Events to add to a run's log, and what follows from them for what lists show: one atomic write.
#[derive(Clone, Debug)]
pub struct RunAppend {
    /// The run.
    pub run: RunId,
    /// Where its log must end.
    pub expected: Revision,
    /// Whose write this is; nothing for commands that anybody may give.
    pub fence: Option<Fence>,
    /// The events.
    pub events: Vec<StampedEvent>,
    /// What lists show from then on; nothing when it stays as it is. Whose it is stays in any case.
    pub summary: Option<RunSummary>,
    /// Records that are new or changed, whole.
    pub executions: Vec<ExecutionRecord>,
    /// How skills did.
    pub health: Vec<HealthChange>,
}

/// How a skill did in one run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HealthChange {
    /// The skill.
    pub skill: SkillName,
    /// The hash of its files; the health of other files does not count.
    pub content_hash: String,
    /// Whose run it was.
    pub principal: OwnerKey,
    /// How it did.
    pub outcome: RunOutcome,
    /// When.
    pub at: Timestamp,
}

/// Why events were not added; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The log does not end where it was expected to.
    #[error("the log of the run ends at {}, not where it was expected to", .actual.0)]
    Conflict {
        /// Where it ends.
        actual: Revision,
    },
    /// Somebody else drives the run.
    #[error("somebody else drives the run")]
    Fenced,
    /// There is no such run.
    #[error("there is no such run")]
    Unknown,
    /// The store failed.
    #[error("cannot write the run's log")]
    Store(#[source] StoreError),
}

/// What is kept about a run beside its log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RunRow {
    /// What lists show.
    pub summary: RunSummary,
    /// Where its log ends.
    pub revision: Revision,
    /// Who drives it, or drove it last.
    pub owner: Option<OwnerId>,
    /// How many owners it has had.
    pub fence: Fence,
}

/// An event of a log and its place there, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedEvent {
    /// Its place: the log's revision right after it.
    pub revision: Revision,
    /// The event.
    pub event: StampedEvent,
}

/// Which runs a list holds; everything that is not said fits.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RunFilter {
    /// In one of these states; any when empty.
    pub states: Vec<RunState>,
    /// Asked for at this time or later.
    pub created_from: Option<Timestamp>,
    /// Asked for before this time.
    pub created_before: Option<Timestamp>,
    /// Somebody's.
    pub owner: Option<UserId>,
}

/// A run that is to be driven by somebody else.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    /// The run.
    pub run: RunId,
    /// The fence that was seen; another claim in between makes this one fail.
    pub seen: Fence,
    /// Who drives it from then on.
    pub owner: OwnerId,
}

/// Why a run was not handed over; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Somebody else took it in between.
    #[error("somebody else took the run")]
    Taken,
    /// There is no such run.
    #[error("there is no such run")]
    Unknown,
    /// The store failed.
    #[error("cannot take the run over")]
    Store(#[source] StoreError),
}

/// Runs and their logs.
#[async_trait]
pub trait RunStore: Send + Sync {
    /// Keeps a run; its events are numbered from 1.
    async fn create(&self, run: NewRun) -> Result<Created, StoreError>;

    /// Adds events if the log still ends at the expected revision, and returns where it ends then. When this returns,
    /// the events are written: they survive the death of the process. See [`RunStore::sync`] for power cuts. A write
    /// that is both fenced and in conflict is fenced: its writer must stop, not try again. No events at all are fine.
    async fn append(&self, append: RunAppend) -> Result<Revision, AppendError>;

    /// Waits until everything that was written before this call survives a power cut.
    async fn sync(&self) -> Result<(), StoreError>;

    /// Returns at most `limit` events after `after`, in order.
    async fn events(&self, run: RunId, after: Revision, limit: usize)
    -> Result<Vec<LoggedEvent>, StoreError>;

    /// Returns what is kept about a run.
    async fn run(&self, id: RunId) -> Result<Option<RunRow>, StoreError>;

    /// Lists runs: the latest first, and of those asked for at the same time the greatest id first.
    async fn runs(&self, filter: &RunFilter, page: &PageRequest) -> Result<Page<RunRow>, StoreError>;

    /// Makes somebody else the driver of a run, and returns their fence.
    async fn claim(&self, claim: Claim) -> Result<Fence, ClaimError>;

    /// Returns a number that grows, or at least changes, whenever anybody (another process too) wrote something. Cheap.
    /// Two numbers of one store value can be compared, not those of two.
    async fn version(&self) -> Result<u64, StoreError>;

    /// Removes runs that ended before `before`, with their logs, executions and idempotency keys; returns how many.
    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError>;
}
