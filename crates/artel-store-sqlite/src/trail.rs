//! The trails of skills as a table.

use artel_model::access::UserId;
use artel_model::catalog::{TrailEntry, TrailKind};
use artel_model::time::Timestamp;
use artel_store::{Cursor, Page, PageRequest, StoreError, TrailFilter, TrailStore};
use async_trait::async_trait;
use rusqlite::{Connection, params};

use crate::change::{Change, PRUNE_BYTES};
use crate::effort::Effort;
use crate::listing::{Conditions, Query};
use crate::row::{json, parsed};
use crate::store::SqliteStore;

/// Entries that are removed at once, so that other writes get their turn.
const PRUNED_MAX: u32 = 1000;

#[async_trait]
impl TrailStore for SqliteStore {
    async fn add_trail(&self, entries: &[TrailEntry]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let entries = entries.iter().map(|entry| (entry.clone(), json(entry))).collect();
        self.writer.write(Add { entries }).await
    }

    async fn trail(&self, filter: &TrailFilter, page: &PageRequest) -> Result<Page<TrailEntry>, StoreError> {
        let after = page.after.as_ref().map(Cursor::place).transpose()?;
        let (filter, limit) = (filter.clone(), page.limit);
        let query = move |connection: &Connection| {
            let mut conditions = Conditions::default();
            conditions.text("skill_id = ?", Some(&filter.skill_id));
            conditions.text("kind = ?", filter.kind.map(TrailKind::as_str));
            let user = |user: &Option<UserId>| user.as_ref().map(|user| user.as_str().to_owned());
            conditions.text("coalesce(about_user = ?, TRUE)", user(&filter.about).as_deref());
            conditions.text("coalesce(private_to = ?, TRUE)", user(&filter.reader).as_deref());
            let list = Query { columns: "document", table: "trail", time: "at" };
            let entries = list.rows(connection, conditions, after, limit, |row| parsed(row, 0))?;
            Ok(Page::cut(entries, limit, |entry: &TrailEntry| (entry.at, entry.id)))
        };
        self.readers.read("read the trail of a skill", query).await
    }

    async fn prune_trail(&self, before: Timestamp, entries_max: u64) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let count = self.writer.write(Prune { before_ms: before.as_millis(), entries_max }).await?;
            removed += count;
            if count == 0 {
                return Ok(removed);
            }
        }
    }
}

/// Adds entries, unless they are there.
struct Add {
    entries: Vec<(TrailEntry, String)>,
}

impl Change for Add {
    type Answer = ();
    const WHAT: &'static str = "write the trail of a skill";

    fn effort(&self) -> Effort {
        let bytes = self.entries.iter().map(|(_, document)| document.len()).sum();
        Effort::rows(self.entries.len(), bytes)
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO trail (id, at, skill_id, kind, about_user, private_to, document) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING",
        )?;
        for (entry, document) in &self.entries {
            insert.execute(params![
                entry.id.into_bytes(),
                entry.at.as_millis(),
                entry.skill_id,
                entry.event.kind().as_str(),
                entry.user.as_ref().map(UserId::as_str),
                entry.private_to.as_ref().map(UserId::as_str),
                document,
            ])?;
        }
        Ok(())
    }
}

/// Removes some of the oldest entries about people that are too old or too many.
struct Prune {
    before_ms: i64,
    entries_max: u64,
}

impl Change for Prune {
    /// How many were removed.
    type Answer = u64;
    const WHAT: &'static str = "remove old trails";

    fn effort(&self) -> Effort {
        Effort::Long(PRUNE_BYTES)
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let mut count =
            connection.prepare_cached("SELECT count(*) FROM trail WHERE about_user IS NOT NULL")?;
        let kept: i64 = count.query_row([], |row| row.get(0))?;
        let surplus = kept.saturating_sub(i64::try_from(self.entries_max).unwrap_or(i64::MAX)).max(0);
        let old = "DELETE FROM trail WHERE id IN (SELECT id FROM trail WHERE about_user IS NOT NULL AND at < ?1 \
                   ORDER BY at, id LIMIT ?2)";
        let removed = connection.prepare_cached(old)?.execute(params![self.before_ms, PRUNED_MAX])?;
        if removed > 0 {
            return Ok(removed as u64);
        }
        let oldest = "DELETE FROM trail WHERE id IN (SELECT id FROM trail WHERE about_user IS NOT NULL \
                      ORDER BY at, id LIMIT ?1)";
        let removed = connection.prepare_cached(oldest)?.execute([surplus.min(i64::from(PRUNED_MAX))])?;
        Ok(removed as u64)
    }
}
