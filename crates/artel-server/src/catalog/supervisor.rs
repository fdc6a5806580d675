//! The supervisor's copy of the catalog: what the assistant behind the chat works with, and whether it is current.

use std::sync::{Arc, Mutex, PoisonError};

use artel_catalog::shared::Snapshot;
use artel_model::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// How the supervisor stands to the catalog that is served.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncStatus {
    /// It was built from what is served.
    InSync,
    /// Something newer is served.
    SupervisorStale,
    /// One of the two is not there.
    Unknown,
}

/// How the supervisor stands.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SupervisorStatus {
    /// How it stands to the catalog that is served.
    pub sync_status: SyncStatus,
    /// How often it was built.
    pub graph_generation: u64,
    /// The same, under the name that status pages use.
    pub supervisor_graph_generation: u64,
    /// How many skills it was built with.
    pub skills_loaded_count: usize,
    /// When it was built.
    #[schemars(with = "Option<String>")]
    pub skills_merged_at: Option<Timestamp>,
    /// The same, under the name that status pages use.
    #[schemars(with = "Option<String>")]
    pub supervisor_skills_merged_at: Option<Timestamp>,
    /// The number of the catalog that is served.
    pub catalog_cache_generation: Option<u64>,
    /// The number of the catalog it was built from.
    pub last_built_catalog_generation: Option<u64>,
    /// When what is served was read.
    #[schemars(with = "Option<String>")]
    pub catalog_refreshed_at: Option<Timestamp>,
}

/// The supervisor's copy.
#[derive(Default)]
pub(super) struct Supervisor(Mutex<Built>);

#[derive(Default)]
struct Built {
    times: u64,
    last: Option<(Arc<Snapshot>, Timestamp)>,
}

impl Supervisor {
    /// Builds it from a snapshot. One that is older than what it was built from is left out: two who build at once must
    /// not turn it back.
    pub(super) fn build(&self, snapshot: Arc<Snapshot>, now: Timestamp) {
        let mut built = self.built();
        let is_older = |(last, _): &(Arc<Snapshot>, Timestamp)| snapshot.generation() < last.generation();
        if built.last.as_ref().is_some_and(is_older) {
            return;
        }
        let is_same = |(last, _): &(Arc<Snapshot>, Timestamp)| snapshot.content_hash() == last.content_hash();
        if !built.last.as_ref().is_some_and(is_same) {
            built.times += 1;
        }
        built.last = Some((snapshot, now));
    }

    pub(super) fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.built().last.as_ref().map(|(snapshot, _)| Arc::clone(snapshot))
    }

    pub(super) fn status(&self, served: Option<&Snapshot>) -> SupervisorStatus {
        let built = self.built();
        let last = built.last.as_ref();
        let (from, served_as) = (last.map(|(last, _)| last.generation()), served.map(Snapshot::generation));
        let sync_status = match (from, served_as) {
            (Some(from), Some(served)) if from == served => SyncStatus::InSync,
            (Some(_), Some(_)) => SyncStatus::SupervisorStale,
            (None, _) | (_, None) => SyncStatus::Unknown,
        };
        SupervisorStatus {
            sync_status,
            graph_generation: built.times,
            supervisor_graph_generation: built.times,
            skills_loaded_count: last.map_or(0, |(last, _)| last.entries().len()),
            skills_merged_at: last.map(|(_, at)| *at),
            supervisor_skills_merged_at: last.map(|(_, at)| *at),
            catalog_cache_generation: served_as,
            last_built_catalog_generation: from,
            catalog_refreshed_at: served.map(Snapshot::made_at),
        }
    }

    fn built(&self) -> std::sync::MutexGuard<'_, Built> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
