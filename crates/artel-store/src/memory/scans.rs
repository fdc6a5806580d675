//! Verdicts, findings and overrides in memory.

use std::collections::BTreeMap;

use artel_model::catalog::{FindingRecord, Override, VerdictRecord};
use async_trait::async_trait;

use super::listing::page_of;
use super::store::MemoryStore;
use crate::error::StoreError;
use crate::page::{Page, PageRequest};
use crate::scan::{FindingFilter, ScanStore};

/// Verdicts by hash and engine, overrides by hash.
#[derive(Debug, Default)]
pub(super) struct ScanTables {
    verdicts: BTreeMap<(String, String), VerdictRecord>,
    overrides: BTreeMap<String, Override>,
}

#[async_trait]
impl ScanStore for MemoryStore {
    async fn set_verdict(&self, verdict: &VerdictRecord) -> Result<(), StoreError> {
        let mut tables = self.tables();
        let key = (verdict.content_hash.clone(), verdict.engine.clone());
        tables.scans.verdicts.insert(key, verdict.clone());
        tables.version += 1;
        Ok(())
    }

    async fn verdicts(&self, content_hash: &str) -> Result<Vec<VerdictRecord>, StoreError> {
        let tables = self.tables();
        let about = tables.scans.verdicts.values().filter(|verdict| verdict.content_hash == content_hash);
        Ok(about.cloned().collect())
    }

    async fn all_verdicts(&self) -> Result<Vec<VerdictRecord>, StoreError> {
        let bare = |verdict: &VerdictRecord| VerdictRecord { findings: Vec::new(), ..verdict.clone() };
        Ok(self.tables().scans.verdicts.values().map(bare).collect())
    }

    async fn findings(
        &self,
        filter: &FindingFilter,
        page: &PageRequest,
    ) -> Result<Page<FindingRecord>, StoreError> {
        let tables = self.tables();
        let all = tables.scans.verdicts.values().flat_map(|verdict| &verdict.findings);
        let fitting = all.filter(|finding| fits(filter, finding)).cloned();
        page_of(fitting, page, |finding| (finding.created_at, finding.id))
    }

    async fn set_override(&self, given: &Override) -> Result<(), StoreError> {
        let mut tables = self.tables();
        tables.scans.overrides.insert(given.content_hash.clone(), given.clone());
        tables.version += 1;
        Ok(())
    }

    async fn delete_override(&self, content_hash: &str) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let is_gone = tables.scans.overrides.remove(content_hash).is_some();
        tables.version += u64::from(is_gone);
        Ok(is_gone)
    }

    async fn overrides(&self) -> Result<Vec<Override>, StoreError> {
        Ok(self.tables().scans.overrides.values().cloned().collect())
    }
}

fn fits(filter: &FindingFilter, finding: &FindingRecord) -> bool {
    filter.source_type.is_none_or(|source| source == finding.source_type)
        && (filter.source_id.is_none() || filter.source_id == finding.source_id)
        && filter.skill_id.as_ref().is_none_or(|skill| *skill == finding.skill_id)
        && filter.severity_min.is_none_or(|least| finding.severity >= least)
        && filter.content_revision.as_ref().is_none_or(|hash| *hash == finding.content_revision)
}
