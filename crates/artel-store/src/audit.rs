//! The audit log, and the number that grows with every change of the catalog.

use artel_model::access::UserId;
use artel_model::catalog::{AuditAction, AuditEntry};
use artel_model::time::Timestamp;
use async_trait::async_trait;

use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// Which entries a list holds; everything that is not said fits.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AuditFilter {
    /// What was done.
    pub action: Option<AuditAction>,
    /// By whom.
    pub user: Option<UserId>,
    /// To what.
    pub subject: Option<String>,
    /// From then on.
    pub from: Option<Timestamp>,
    /// Until before then.
    pub before: Option<Timestamp>,
}

/// The audit log: it only grows.
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Adds an entry, on the disk before it returns. One whose id is there already is the same.
    async fn add_audit(&self, entry: &AuditEntry) -> Result<(), StoreError>;

    /// Returns entries: the last first, and of those at the same time the last added.
    async fn audit(&self, filter: &AuditFilter, page: &PageRequest) -> Result<Page<AuditEntry>, StoreError>;
}

/// The number that all who serve one catalog share.
#[async_trait]
pub trait GenerationStore: Send + Sync {
    /// Returns the number of the catalog whose content has that hash: the one that is kept when the hash is the same,
    /// otherwise one more, which is kept with the hash.
    async fn generation_of(&self, content_hash: &str) -> Result<u64, StoreError>;

    /// Returns the number and the hash that were kept last; nothing before the first.
    async fn generation(&self) -> Result<Option<(u64, String)>, StoreError>;
}
