//! Which files are served for the first time: whenever the catalog changes, what is new in it is kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_catalog::shared::{Entry, Snapshot};
use artel_engine::Clock;
use artel_model::catalog::{TrailEntry, TrailEvent};
use artel_model::time::Timestamp;
use artel_store::TrailStore;
use uuid::Uuid;

use super::note::About;
use crate::catalog::Catalogs;

/// Entries that are kept at once.
const BATCH: usize = 500;
/// What the ids of these entries are made with: the same files of the same skill have the same id everywhere.
const NAMESPACE: Uuid = Uuid::from_u128(0x6172_7465_6c2d_7472_6169_6c2d_696e_7374);

/// Keeps what is installed, until it is dropped.
pub(super) async fn note_installs(catalogs: Catalogs, store: Arc<dyn TrailStore>, clock: Clock) {
    let mut changes = catalogs.changes();
    let mut known = BTreeSet::new();
    loop {
        if let Some(snapshot) = catalogs.snapshot() {
            keep_fresh(&snapshot, &*store, &mut known, clock.now()).await;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// What cannot be kept is tried again with the next change.
async fn keep_fresh(snapshot: &Snapshot, store: &dyn TrailStore, known: &mut BTreeSet<Uuid>, now: Timestamp) {
    let all = snapshot.entries().iter().chain(snapshot.blocked());
    let fresh: Vec<TrailEntry> =
        all.filter(|entry| !known.contains(&id_of(entry))).map(|entry| installed(entry, now)).collect();
    for batch in fresh.chunks(BATCH) {
        if let Err(error) = store.add_trail(batch).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "what was installed cannot be kept");
            return;
        }
        known.extend(batch.iter().map(|entry| entry.id));
    }
}

fn installed(entry: &Entry, now: Timestamp) -> TrailEntry {
    About::of(entry).entry(id_of(entry), now, None, TrailEvent::Installed)
}

fn id_of(entry: &Entry) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{}\n{}", entry.id, entry.content_hash).as_bytes())
}
