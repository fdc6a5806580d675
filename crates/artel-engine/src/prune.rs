//! Removes runs that ended long ago, with the files that only they made.
//!
//! Files are kept by their content, so several runs may have made the same one. Only what the removed runs made is looked
//! at: a store may be shared by machines that keep their files each by themselves.

use std::collections::BTreeSet;

use artel_model::id::RunId;
use artel_model::run::{RunEvent, RunState};
use artel_model::time::Timestamp;
use artel_store::{PageRequest, Revision, RunFilter, RunRow, RunStore, StoreError};

use crate::asset::AssetStore;
use crate::data_folders::DataFolders;

/// Runs that are listed at once.
const RUNS_PAGE: usize = 500;
/// Events that are read at once.
const EVENTS_PAGE: usize = 1000;
/// How much the clock of the file system may differ from that of runs, with all its changes, in milliseconds.
const CLOCKS_DIFFER_MS: u64 = 86_400_000;

/// What was removed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pruned {
    /// Runs.
    pub runs: u64,
    /// Files that they had made.
    pub assets: u64,
}

/// Removes the runs that ended before `before`, the files that no other run made, and the data that steps of ended runs shared.
///
/// Files go first: whoever is interrupted between the two can do it again.
pub async fn prune(
    store: &dyn RunStore,
    assets: &AssetStore,
    data: &DataFolders,
    before: Timestamp,
) -> Result<Pruned, StoreError> {
    forget_ended(store, data).await?;
    let mut removed = 0;
    for hash in unwanted(store, assets, before).await? {
        match assets.remove(&hash) {
            Ok(()) => removed += 1,
            Err(error) => tracing::warn!(%hash, %error, "a file that nobody wants is left behind"),
        }
    }
    Ok(Pruned { runs: store.prune(before).await?, assets: removed })
}

/// Removes the data that the steps of runs shared which ended without their driver, or are not known any more.
async fn forget_ended(store: &dyn RunStore, data: &DataFolders) -> Result<(), StoreError> {
    for run in data.runs() {
        let goes_on = store.run(run).await?.is_some_and(|row| !row.summary.state.is_final());
        if !goes_on && let Err(error) = data.forget_run(run) {
            tracing::warn!(%run, %error, "the data that steps of a run shared is left behind");
        }
    }
    Ok(())
}

/// Returns the files of runs that are to be removed that no other run made.
async fn unwanted(
    store: &dyn RunStore,
    assets: &AssetStore,
    before: Timestamp,
) -> Result<BTreeSet<String>, StoreError> {
    let is_old = |row: &RunRow| {
        row.summary.state.is_final() && row.summary.completed_at.is_some_and(|ended| ended < before)
    };
    let states = RunState::ALL.iter().copied().filter(|state| state.is_final()).collect();
    // Whoever ended before then was asked for before then.
    let filter = RunFilter { states, created_before: Some(before), ..RunFilter::default() };
    let mut unwanted = BTreeSet::new();
    let mut latest = None;
    for run in runs(store, &filter, is_old).await? {
        for hash in made_by(store, run).await? {
            // Each run that makes a file puts it there anew. One that goes on may have done so without telling yet.
            if let Some(at) = assets.kept_at(&hash).filter(|at| *at < before) {
                latest = latest.max(Some(at));
                unwanted.insert(hash);
            }
        }
    }
    let Some(latest) = latest else { return Ok(unwanted) };
    // Whoever was asked for later made none of them.
    let filter = RunFilter { created_before: Some(latest + CLOCKS_DIFFER_MS), ..RunFilter::default() };
    for run in runs(store, &filter, |row| !is_old(row)).await? {
        for hash in made_by(store, run).await? {
            unwanted.remove(&hash);
        }
    }
    Ok(unwanted)
}

async fn runs(
    store: &dyn RunStore,
    filter: &RunFilter,
    fits: impl Fn(&RunRow) -> bool,
) -> Result<Vec<RunId>, StoreError> {
    let mut found = Vec::new();
    let mut page = PageRequest { after: None, limit: RUNS_PAGE };
    loop {
        let runs = store.runs(filter, &page).await?;
        found.extend(runs.items.iter().filter(|row| fits(row)).map(|row| row.summary.run_id));
        match runs.next {
            Some(next) => page.after = Some(next),
            None => return Ok(found),
        }
    }
}

/// Returns the hashes of the files that a run made, also in attempts that failed.
async fn made_by(store: &dyn RunStore, run: RunId) -> Result<BTreeSet<String>, StoreError> {
    let mut hashes = BTreeSet::new();
    let mut after = Revision(0);
    loop {
        let events = store.events(run, after, EVENTS_PAGE).await?;
        let Some(last) = events.last() else { return Ok(hashes) };
        after = last.revision;
        for logged in events {
            if let RunEvent::Ended { report, .. } = logged.event.event {
                hashes.extend(report.assets.into_iter().map(|asset| asset.hash));
            }
        }
    }
}
