//! The audit log and the number of the catalog as tables.

use artel_model::access::UserId;
use artel_model::catalog::{AuditAction, AuditEntry};
use artel_store::{AuditFilter, AuditStore, GenerationStore, Page, PageRequest, StoreError};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::change::Change;
use crate::effort::Effort;
use crate::listing::{Conditions, Numbered, numbered_place};
use crate::row::{json, natural, parsed};
use crate::store::SqliteStore;

const GENERATION: &str = "SELECT number, content_hash FROM catalog_generation";

#[async_trait]
impl AuditStore for SqliteStore {
    async fn add_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        self.write_synced(Add { entry: entry.clone(), document: json(entry) }).await
    }

    async fn audit(&self, filter: &AuditFilter, page: &PageRequest) -> Result<Page<AuditEntry>, StoreError> {
        let (filter, after, limit) = (filter.clone(), numbered_place(page)?, page.limit);
        let query = move |connection: &Connection| {
            let mut conditions = Conditions::default();
            conditions.text("action = ?", filter.action.map(AuditAction::as_str));
            conditions.text("user = ?", filter.user.as_ref().map(UserId::as_str));
            conditions.text("subject = ?", filter.subject.as_deref());
            conditions.within("at", filter.from, filter.before);
            let list = Numbered { columns: "document", table: "audit", time: "at" };
            list.page(connection, conditions, after, limit, |row| parsed(row, 0))
        };
        self.readers.read("read the audit log", query).await
    }
}

/// Adds an entry, unless it is there.
struct Add {
    entry: AuditEntry,
    document: String,
}

impl Change for Add {
    type Answer = ();
    const WHAT: &'static str = "write the audit log";

    fn effort(&self) -> Effort {
        Effort::rows(1, self.document.len())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO audit (id, at, user, action, subject, document) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (id) DO NOTHING",
        )?;
        let entry = &self.entry;
        insert.execute(params![
            entry.id.into_bytes(),
            entry.at.as_millis(),
            entry.user.as_str(),
            entry.action.as_str(),
            entry.subject,
            self.document,
        ])?;
        Ok(())
    }
}

#[async_trait]
impl GenerationStore for SqliteStore {
    async fn generation_of(&self, content_hash: &str) -> Result<u64, StoreError> {
        // Mostly nothing has changed, and then nothing needs the writer.
        match self.generation().await? {
            Some((number, hash)) if hash == content_hash => Ok(number),
            Some(_) | None => self.writer.write(Generation { content_hash: content_hash.to_owned() }).await,
        }
    }

    async fn generation(&self) -> Result<Option<(u64, String)>, StoreError> {
        let query = |connection: &Connection| {
            let row = |row: &Row<'_>| Ok((natural(row, 0)?, row.get(1)?));
            connection.prepare_cached(GENERATION)?.query_row([], row).optional()
        };
        self.readers.read("read the number of the catalog", query).await
    }
}

/// Returns the number of a content, which grows unless it is the one that is kept.
struct Generation {
    content_hash: String,
}

impl Change for Generation {
    type Answer = u64;
    const WHAT: &'static str = "number the catalog";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let mut upsert = connection.prepare_cached(
            "INSERT INTO catalog_generation (key, number, content_hash) VALUES (1, 1, ?1) \
             ON CONFLICT (key) DO UPDATE SET number = number + (content_hash <> excluded.content_hash), \
             content_hash = excluded.content_hash RETURNING number",
        )?;
        upsert.query_row([&self.content_hash], |row| natural(row, 0))
    }
}
