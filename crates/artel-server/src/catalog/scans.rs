//! What scanners and administrators said, and scanning what nobody has scanned.

use std::collections::BTreeSet;

use artel_catalog::scan::{ENGINE, ENGINE_VERSION, ScanOptions, Scanned, verdict_of_report};
use artel_catalog::shared::Sealed;
use artel_model::catalog::{Override, SourceKind, VerdictRecord};
use artel_model::time::Timestamp;
use artel_store::{ScanStore, StoreError};

/// What was said so far; a store that fails leaves what it said before.
#[derive(Default)]
pub(super) struct Scans {
    verdicts: Vec<VerdictRecord>,
    overrides: Vec<Override>,
    failure: Option<String>,
}

impl Scans {
    /// Reads what was said.
    pub(super) async fn read(&mut self, store: &dyn ScanStore) {
        match self.try_read(store).await {
            Ok(()) => self.failure = None,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "verdicts cannot be read");
                self.failure = Some("the store does not say what scanners found".to_owned());
            }
        }
    }

    async fn try_read(&mut self, store: &dyn ScanStore) -> Result<(), StoreError> {
        let verdicts = store.all_verdicts().await?;
        self.overrides = store.overrides().await?;
        self.verdicts = verdicts;
        Ok(())
    }

    /// Scans every skill whose files have no verdict by the rules of this version, and keeps the verdicts.
    pub(super) async fn scan_missing(
        &mut self,
        skills: Vec<(SourceKind, Option<String>, String, Sealed)>,
        store: &dyn ScanStore,
        now: Timestamp,
    ) {
        let is_current =
            |verdict: &&VerdictRecord| verdict.engine == ENGINE && verdict.engine_version == ENGINE_VERSION;
        let mut known: BTreeSet<String> =
            self.verdicts.iter().filter(is_current).map(|verdict| verdict.content_hash.clone()).collect();
        for (source, source_id, skill_id, sealed) in skills {
            if !known.insert(sealed.content_hash().to_owned()) {
                continue;
            }
            let scanned = tokio::task::spawn_blocking(move || {
                let report = sealed.scan(&ScanOptions::default());
                let content_hash = sealed.content_hash().to_owned();
                verdict_of_report(&report, &Scanned { source, source_id, skill_id, content_hash }, now)
            });
            // A scanner that fails has said nothing.
            let Ok(verdict) = scanned.await else { continue };
            self.keep(verdict, store).await;
        }
    }

    async fn keep(&mut self, verdict: VerdictRecord, store: &dyn ScanStore) {
        if let Err(error) = store.set_verdict(&verdict).await {
            tracing::error!(error = &error as &dyn std::error::Error, "a verdict cannot be kept");
        }
        let is_same = |other: &VerdictRecord| {
            other.content_hash == verdict.content_hash && other.engine == verdict.engine
        };
        self.verdicts.retain(|other| !is_same(other));
        self.verdicts.push(VerdictRecord { findings: Vec::new(), ..verdict });
    }

    /// Returns every verdict, without its findings.
    pub(super) fn verdicts(&self) -> Vec<VerdictRecord> {
        self.verdicts.clone()
    }

    /// Returns every override.
    pub(super) fn overrides(&self) -> Vec<Override> {
        self.overrides.clone()
    }

    /// Returns why it is not known what was said.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
