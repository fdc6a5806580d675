//! The queue of what was noted, and the task that keeps it.

use std::sync::Arc;
use std::time::Duration;

use artel_catalog::shared::{Entry, ListQuery, View};
use artel_engine::Clock;
use artel_model::access::Principal;
use artel_model::catalog::{ActivatedBy, OfferedBy, TrailEntry};
use artel_model::limit::{TRAIL_DAYS_MAX, TRAIL_ENTRIES_MAX, TRAIL_WAITING_MAX};
use artel_model::time::Timestamp;
use artel_store::TrailStore;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::installs::note_installs;
use super::note::{About, Note, What};
use super::recent::Recent;
use crate::catalog::Catalogs;
use crate::metrics::TrailMeters;

/// Notes that are kept together.
const BATCH_MAX: usize = 256;
/// How long notes wait for others, so that there are few writes.
const BATCH_PAUSE: Duration = Duration::from_millis(200);
/// How often old entries are removed.
const PRUNE_EVERY_MS: u64 = 3_600_000;
const DAY_MS: u64 = 86_400_000;

/// Where it is noted what happens to skills.
pub struct Trail {
    clock: Clock,
    notes: mpsc::Sender<Note>,
    meters: Arc<TrailMeters>,
    installs: Option<AbortHandle>,
}

impl Trail {
    /// Begins to keep trails. Without a runtime nobody is served, and nothing is kept.
    pub fn begin(store: &Arc<dyn TrailStore>, catalogs: &Catalogs, clock: Clock) -> Self {
        let (notes, noted) = mpsc::channel(TRAIL_WAITING_MAX);
        let meters = Arc::new(TrailMeters::new());
        let installs = Handle::try_current().ok().map(|runtime| {
            runtime.spawn(Keeper::new(store.clone(), meters.clone()).keep(noted));
            runtime.spawn(note_installs(catalogs.clone(), store.clone(), clock)).abort_handle()
        });
        Self { clock, notes, meters, installs }
    }

    /// Notes that somebody was answered who searched. Whoever only leafs through the catalog was offered nothing.
    pub fn searched(&self, caller: &Principal, by: OfferedBy, view: &Arc<View>, query: &ListQuery) {
        if query.words.as_ref().is_some_and(|words| !words.trim().is_empty()) {
            self.note(caller, What::Searched { by, view: Arc::clone(view), query: query.clone() });
        }
    }

    /// Notes that somebody took a skill up.
    pub fn activated(&self, caller: &Principal, by: ActivatedBy, entry: &Entry) {
        self.note(caller, What::Activated { by, about: About::of(entry) });
    }

    fn note(&self, caller: &Principal, what: What) {
        let note = Note { at: self.clock.now(), user: caller.viewer.user.clone(), what };
        if self.notes.try_send(note).is_err() {
            self.meters.lost(1);
        }
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        if let Some(installs) = &self.installs {
            installs.abort();
        }
    }
}

struct Keeper {
    store: Arc<dyn TrailStore>,
    meters: Arc<TrailMeters>,
    recent: Recent,
    pruned_at: Option<Timestamp>,
}

impl Keeper {
    fn new(store: Arc<dyn TrailStore>, meters: Arc<TrailMeters>) -> Self {
        Self { store, meters, recent: Recent::default(), pruned_at: None }
    }

    /// Keeps what is noted until nobody can note anything any more.
    async fn keep(mut self, mut noted: mpsc::Receiver<Note>) {
        let mut batch = Vec::new();
        while noted.recv_many(&mut batch, BATCH_MAX).await > 0 {
            let now = batch.last().map(|note| note.at);
            let recent = &mut self.recent;
            batch.retain(|note| recent.is_first(&note.user, note.key(), note.at));
            self.keep_batch(std::mem::take(&mut batch)).await;
            if let Some(now) = now {
                self.prune(now).await;
            }
            tokio::time::sleep(BATCH_PAUSE).await;
        }
    }

    async fn keep_batch(&self, notes: Vec<Note>) {
        let entries = || notes.into_iter().flat_map(Note::entries).collect::<Vec<TrailEntry>>();
        // Searching again takes a while, and others are to be answered meanwhile.
        let Ok(entries) = tokio::task::spawn_blocking(entries).await else { return };
        match self.store.add_trail(&entries).await {
            Ok(()) => self.meters.kept(entries.len()),
            Err(error) => {
                self.meters.lost(entries.len());
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the trails of skills cannot be kept"
                );
            }
        }
    }

    async fn prune(&mut self, now: Timestamp) {
        if self.pruned_at.is_some_and(|before| now.millis_since(before) < PRUNE_EVERY_MS) {
            return;
        }
        self.pruned_at = Some(now);
        let days = i64::try_from(TRAIL_DAYS_MAX * DAY_MS).unwrap_or(i64::MAX);
        let before = Timestamp::from_millis(now.as_millis().saturating_sub(days));
        if let Err(error) = self.store.prune_trail(before, TRAIL_ENTRIES_MAX).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "old trails of skills cannot be removed"
            );
        }
    }
}
