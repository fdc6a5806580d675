//! The supervisor's copy of the catalog: what the assistant behind the chat works with, and whether it is current.

use std::sync::{Arc, Mutex, PoisonError};

use artel_catalog::shared::Snapshot;
use artel_model::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::watching::FolderWatch;

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
    /// How changes of the server's folders are noticed.
    pub folder_watch: FolderWatch,
}

impl SupervisorStatus {
    /// Returns the status for a caller who is no administrator, from the moments at which what they see last changed: of
    /// what the supervisor was built from, and of what is served.
    pub(super) fn seen_by_others(
        self,
        built: Option<Timestamp>,
        served: Option<Timestamp>,
        skills_loaded_count: usize,
    ) -> Self {
        let sync_status = match (built, served) {
            (Some(built), Some(served)) if built == served => SyncStatus::InSync,
            (Some(_), Some(_)) => SyncStatus::SupervisorStale,
            (None, _) | (_, None) => SyncStatus::Unknown,
        };
        let (from, served_as) = (built.map(number), served.map(number));
        Self {
            sync_status,
            graph_generation: from.unwrap_or(0),
            supervisor_graph_generation: from.unwrap_or(0),
            skills_loaded_count,
            skills_merged_at: built,
            supervisor_skills_merged_at: built,
            catalog_cache_generation: served_as,
            last_built_catalog_generation: from,
            catalog_refreshed_at: served,
            folder_watch: self.folder_watch,
        }
    }
}

/// Returns a moment as a number that grows with it.
pub(super) fn number(moment: Timestamp) -> u64 {
    u64::try_from(moment.as_millis()).unwrap_or(0)
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

    pub(super) fn status(&self, served: Option<&Snapshot>, folder_watch: FolderWatch) -> SupervisorStatus {
        let built = self.built();
        let last = built.last.as_ref();
        let (from, served_as) = (last.map(|(last, _)| last.generation()), served.map(Snapshot::generation));
        let is_same = |last: &Snapshot, served: &Snapshot| {
            last.generation() == served.generation() && last.content_hash() == served.content_hash()
        };
        let sync_status = match (last, served) {
            (Some((last, _)), Some(served)) if is_same(last, served) => SyncStatus::InSync,
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
            folder_watch,
        }
    }

    fn built(&self) -> std::sync::MutexGuard<'_, Built> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use artel_catalog::MemoryTree;
    use artel_catalog::shared::{Freshness, Indexes, Judge, SnapshotDraft, SourceState, seal_tree};
    use artel_catalog::{Catalog, FileTree as _, Keep, Location, load_tree};
    use artel_model::catalog::{Gate, Severity, SourceKind};

    use super::*;

    /// A snapshot of that number with these skills.
    fn snapshot(generation: u64, names: &[&str]) -> Arc<Snapshot> {
        let judge = Judge::new(Gate::Off, Severity::High, BTreeMap::new(), Vec::new(), Vec::new());
        let mut draft = SnapshotDraft::new(0, Timestamp::from_millis(1), judge);
        let sealed: Vec<_> = names
            .iter()
            .map(|name| {
                let mut tree = MemoryTree::default();
                tree.add("SKILL.md", format!("---\nname: {name}\ndescription: Does.\n---\nDo.\n"), false);
                let place = Location::Folder(format!("/none/{name}").into());
                let loaded = Arc::new(load_tree(&tree, tree.listing(), place, Keep::Instructions));
                seal_tree(loaded, &tree).unwrap()
            })
            .collect();
        let catalog =
            Catalog::of(sealed.iter().map(|sealed| Arc::clone(sealed.loaded())).collect(), Vec::new());
        let state = SourceState {
            kind: SourceKind::Default,
            id: None,
            label: "Built-in".to_owned(),
            audience: Vec::new(),
            loaded_at: None,
            state: Freshness::Fresh,
        };
        draft.add_default(state, &catalog, sealed);
        Arc::new(draft.finish(Indexes::new()).numbered(generation))
    }

    fn told(supervisor: &Supervisor, served: Option<&Snapshot>) -> (SyncStatus, u64, usize, Option<u64>) {
        let status = supervisor.status(served, FolderWatch::Unwatched);
        assert_eq!(status.graph_generation, status.supervisor_graph_generation);
        let (sync, count) = (status.sync_status, status.skills_loaded_count);
        (sync, status.graph_generation, count, status.last_built_catalog_generation)
    }

    #[test]
    fn it_says_what_it_was_built_from_and_never_turns_back() {
        let supervisor = Supervisor::default();
        let (first, second) = (snapshot(1, &["apple"]), snapshot(2, &["apple", "pear"]));
        assert_eq!(told(&supervisor, Some(&first)), (SyncStatus::Unknown, 0, 0, None));
        supervisor.build(Arc::clone(&first), Timestamp::from_millis(5));
        assert_eq!(told(&supervisor, Some(&first)), (SyncStatus::InSync, 1, 1, Some(1)));
        assert_eq!(told(&supervisor, Some(&second)), (SyncStatus::SupervisorStale, 1, 1, Some(1)));
        assert_eq!(told(&supervisor, None), (SyncStatus::Unknown, 1, 1, Some(1)));
        supervisor.build(Arc::clone(&second), Timestamp::from_millis(6));
        supervisor.build(first, Timestamp::from_millis(7));
        assert_eq!(told(&supervisor, Some(&second)), (SyncStatus::InSync, 2, 2, Some(2)));
        // The same content under another number is nothing to build again.
        let again = snapshot(3, &["apple", "pear"]);
        supervisor.build(Arc::clone(&again), Timestamp::from_millis(8));
        assert_eq!(told(&supervisor, Some(&again)), (SyncStatus::InSync, 2, 2, Some(3)));
    }

    #[test]
    fn whoever_builds_at_the_same_time_the_latest_stays() {
        let supervisor = Supervisor::default();
        let snapshots: Vec<_> = (1..=8).map(|number| snapshot(number, &["apple"; 1])).collect();
        std::thread::scope(|scope| {
            for snapshot in &snapshots {
                scope.spawn(|| supervisor.build(Arc::clone(snapshot), Timestamp::from_millis(1)));
            }
        });
        assert_eq!(told(&supervisor, Some(&snapshots[7])), (SyncStatus::InSync, 1, 1, Some(8)));
    }
}
