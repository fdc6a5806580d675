//! Scanning again what has been scanned, because somebody asked for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use artel_catalog::shared::{Entry, EntryId, Snapshot};
use artel_engine::scanner::SkillScanner;
use artel_model::catalog::ScanStatus;
use artel_model::id::HubId;

use super::scans::Rescan;
use super::service::{Catalogs, RefreshFailed, Reread};

/// How the skills of a hub stand after they were scanned again.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Rescanned {
    /// Skills that passed.
    pub passed: usize,
    /// Skills with findings that count.
    pub flagged: usize,
    /// Skills that were not scanned in full.
    pub unscanned: usize,
    /// Skills that still wait for the second scanner, of whatever source.
    pub waiting: usize,
    /// The number of the catalog.
    pub generation: u64,
}

impl Catalogs {
    /// Lets a second scanner look at everything, too. Said once, before the catalog is read.
    pub fn add_scanner(&self, scanner: SkillScanner) {
        // A second word is a mistake of whoever puts the server together; the first one counts.
        let _ = self.second_scanner().set(scanner);
    }

    /// Scans a skill again; returns what is served afterwards.
    pub async fn rescan_skill(&self, id: &EntryId) -> Result<Arc<Snapshot>, RefreshFailed> {
        self.rebuild(Reread::Kept, &Rescan::Skill(id.to_string())).await
    }

    /// Scans the skills of a hub again. Where there are many, the second scanner goes on after the answer.
    pub async fn rescan_hub(&self, id: HubId) -> Result<Rescanned, RefreshFailed> {
        let snapshot = self.rebuild(Reread::Kept, &Rescan::Hub(id)).await?;
        let waiting = self.waiting_scans().load(Ordering::Relaxed);
        let mut rescanned = Rescanned { waiting, generation: snapshot.generation(), ..Rescanned::default() };
        let is_its = |entry: &&Entry| matches!(&entry.id, EntryId::Hub(hub, _) if *hub == id);
        for entry in snapshot.entries().iter().chain(snapshot.blocked()).filter(is_its) {
            match entry.scan.status {
                ScanStatus::Passed => rescanned.passed += 1,
                ScanStatus::Flagged => rescanned.flagged += 1,
                ScanStatus::Unscanned => rescanned.unscanned += 1,
            }
        }
        Ok(rescanned)
    }
}
