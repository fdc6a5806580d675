//! What scanners said, by the hash of what they scanned, and what administrators said about that.

use artel_model::catalog::{FindingRecord, Override, Severity, SourceKind, VerdictRecord};
use async_trait::async_trait;

use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// Which findings a list holds; everything that is not said fits.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FindingFilter {
    /// Where the skill comes from.
    pub source_type: Option<SourceKind>,
    /// The hub or the saved skill.
    pub source_id: Option<String>,
    /// The skill's id in the catalog.
    pub skill_id: Option<String>,
    /// At least this bad.
    pub severity_min: Option<Severity>,
    /// About exactly these files.
    pub content_revision: Option<String>,
}

/// Verdicts, findings and overrides. Overrides survive a power cut when the answer comes; what scanners say can be asked
/// again.
#[async_trait]
pub trait ScanStore: Send + Sync {
    /// Keeps what an engine said, instead of what it said before of the same files.
    async fn set_verdict(&self, verdict: &VerdictRecord) -> Result<(), StoreError>;

    /// Returns what all engines said of these files, by engine.
    async fn verdicts(&self, content_hash: &str) -> Result<Vec<VerdictRecord>, StoreError>;

    /// Returns every verdict without its findings, by hash and engine.
    async fn all_verdicts(&self) -> Result<Vec<VerdictRecord>, StoreError>;

    /// Returns findings: the last first, and of those made at the same time the greatest id first.
    async fn findings(
        &self,
        filter: &FindingFilter,
        page: &PageRequest,
    ) -> Result<Page<FindingRecord>, StoreError>;

    /// Keeps an override, instead of the one before of the same files.
    async fn set_override(&self, given: &Override) -> Result<(), StoreError>;

    /// Takes an override back; says whether there was one.
    async fn delete_override(&self, content_hash: &str) -> Result<bool, StoreError>;

    /// Returns all overrides, by hash.
    async fn overrides(&self) -> Result<Vec<Override>, StoreError>;
}
