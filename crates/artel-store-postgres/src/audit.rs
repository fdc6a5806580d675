//! The audit log and the number of the catalog as tables.

use artel_model::access::UserId;
use artel_model::catalog::{AuditAction, AuditEntry};
use artel_store::{AuditFilter, AuditStore, GenerationStore, Page, PageRequest, StoreError};
use async_trait::async_trait;

use crate::id::Id;
use crate::row::{
    corrupt, count, document, fitting, fitting_bytes, json, numbered_after, numbered_page, rows_of, text,
    within,
};
use crate::statement::{COUNTED, Statement};
use crate::store::PostgresStore;

const READING: &str = "reading the audit log";
const NUMBERING: &str = "numbering the catalog";

/// Who asks for another content at the same time waits for this row, and then finds the content that is kept.
const NUMBER: &str = "WITH changed AS (\
        INSERT INTO catalog_generation AS kept (key, number, content_hash) VALUES (true, 1, $1) \
        ON CONFLICT (key) DO UPDATE SET \
            number = kept.number + (kept.content_hash <> excluded.content_hash)::integer, \
            content_hash = excluded.content_hash \
        RETURNING number\
    ) UPDATE write_counts SET writes = writes + 1 FROM changed WHERE slot = pg_backend_pid() % 64 \
    RETURNING changed.number";

#[async_trait]
impl AuditStore for PostgresStore {
    async fn add_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let insert = "WITH changed AS (\
            INSERT INTO audit (id, at, by_user, action, subject, document) VALUES ($1, $2, $3, $4, $5, $6) \
            ON CONFLICT (id) DO NOTHING RETURNING id)";
        let statement = Statement::new(insert)
            .then(COUNTED)
            .with(Id(entry.id))
            .with(entry.at.as_millis())
            .with(entry.user.as_str())
            .with(entry.action.as_str())
            .with(entry.subject.as_bytes())
            .with(json(entry));
        self.write_synced("writing the audit log", &statement).await.map(drop)
    }

    async fn audit(&self, filter: &AuditFilter, page: &PageRequest) -> Result<Page<AuditEntry>, StoreError> {
        let statement = Statement::new("SELECT at, place, document FROM audit WHERE true");
        let statement = fitting(statement, " AND action = ", filter.action.map(AuditAction::as_str));
        let statement = fitting(statement, " AND by_user = ", filter.user.as_ref().map(UserId::as_str));
        let statement = fitting_bytes(statement, " AND subject = ", filter.subject.as_deref());
        let statement = within(statement, [" AND at >= ", " AND at < "], [filter.from, filter.before]);
        let statement = numbered_after(statement, " AND (at, place)", page)?;
        let statement = statement.then(" ORDER BY at DESC, place DESC LIMIT ").place(rows_of(page));
        let answer = self.read(READING, &statement).await?;
        numbered_page(READING, &answer.rows, page, |row| document(READING, row, 2))
    }
}

#[async_trait]
impl GenerationStore for PostgresStore {
    async fn generation_of(&self, content_hash: &str) -> Result<u64, StoreError> {
        // Mostly nothing has changed, and then nothing is written.
        match self.generation().await? {
            Some((number, hash)) if hash == content_hash => Ok(number),
            Some(_) | None => {
                let statement = Statement::new(NUMBER).with(content_hash.as_bytes());
                let answer = self.write(NUMBERING, &statement).await?;
                let row = answer.rows.first().ok_or_else(|| corrupt(NUMBERING, "no answer"))?;
                count(NUMBERING, row, 0)
            }
        }
    }

    async fn generation(&self) -> Result<Option<(u64, String)>, StoreError> {
        let read = "SELECT number, content_hash FROM catalog_generation";
        let answer = self.read(NUMBERING, &Statement::new(read)).await?;
        let row = answer.rows.first();
        row.map(|row| Ok((count(NUMBERING, row, 0)?, text(NUMBERING, row, 1)?))).transpose()
    }
}
