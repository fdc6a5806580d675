//! The audit log and the number of the catalog, in memory.

use artel_model::catalog::AuditEntry;
use async_trait::async_trait;
use uuid::Uuid;

use super::listing::{is_within, page_of};
use super::store::MemoryStore;
use crate::audit::{AuditFilter, AuditStore, GenerationStore};
use crate::error::StoreError;
use crate::page::{Page, PageRequest};

#[async_trait]
impl AuditStore for MemoryStore {
    async fn add_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let mut tables = self.tables();
        if tables.audit.iter().all(|kept| kept.id != entry.id) {
            tables.audit.push(entry.clone());
            tables.version += 1;
        }
        Ok(())
    }

    async fn audit(&self, filter: &AuditFilter, page: &PageRequest) -> Result<Page<AuditEntry>, StoreError> {
        let tables = self.tables();
        let numbered = (1_u128..).zip(&tables.audit).filter(|(_, entry)| fits(filter, entry));
        let found = page_of(numbered, page, |(number, entry)| (entry.at, Uuid::from_u128(*number)))?;
        let items = found.items.into_iter().map(|(_, entry)| entry.clone()).collect();
        Ok(Page { items, next: found.next })
    }
}

fn fits(filter: &AuditFilter, entry: &AuditEntry) -> bool {
    filter.action.is_none_or(|action| action == entry.action)
        && filter.user.as_ref().is_none_or(|user| *user == entry.user)
        && filter.subject.as_ref().is_none_or(|subject| *subject == entry.subject)
        && is_within(entry.at, filter.from, filter.before)
}

#[async_trait]
impl GenerationStore for MemoryStore {
    async fn generation_of(&self, content_hash: &str) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let last = tables.generation.take();
        let number = match &last {
            Some((number, hash)) if hash == content_hash => *number,
            Some((number, _)) => number + 1,
            None => 1,
        };
        tables.version += u64::from(last.is_none_or(|(before, _)| before != number));
        tables.generation = Some((number, content_hash.to_owned()));
        Ok(number)
    }

    async fn generation(&self) -> Result<Option<(u64, String)>, StoreError> {
        Ok(self.tables().generation.clone())
    }
}
