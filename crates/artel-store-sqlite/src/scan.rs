//! Verdicts, findings and overrides as tables.

use artel_model::catalog::{FindingRecord, Override, Severity, SourceKind, VerdictRecord};
use artel_store::{Cursor, FindingFilter, Page, PageRequest, ScanStore, StoreError};
use async_trait::async_trait;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params};

use crate::change::Change;
use crate::effort::Effort;
use crate::listing::{Conditions, Query};
use crate::row::{json, parsed};
use crate::store::SqliteStore;

#[async_trait]
impl ScanStore for SqliteStore {
    async fn set_verdict(&self, verdict: &VerdictRecord) -> Result<(), StoreError> {
        self.writer.write(SetVerdict::new(verdict)).await
    }

    async fn verdicts(&self, content_hash: &str) -> Result<Vec<VerdictRecord>, StoreError> {
        let content_hash = content_hash.to_owned();
        let query = move |connection: &Connection| {
            // One moment of the store: a verdict may be replaced between it and its findings.
            let transaction = connection.unchecked_transaction()?;
            let mut list = transaction.prepare_cached(
                "SELECT key, document FROM verdicts WHERE content_hash = ?1 ORDER BY engine",
            )?;
            let found = list.query_map([content_hash], |row| Ok((row.get(0)?, parsed(row, 1)?)))?;
            found.map(|found| with_findings(&transaction, found?)).collect()
        };
        self.readers.read("read verdicts", query).await
    }

    async fn all_verdicts(&self) -> Result<Vec<VerdictRecord>, StoreError> {
        let query = |connection: &Connection| {
            let mut list =
                connection.prepare_cached("SELECT document FROM verdicts ORDER BY content_hash, engine")?;
            list.query_map([], |row| parsed(row, 0))?.collect()
        };
        self.readers.read("read all verdicts", query).await
    }

    async fn findings(
        &self,
        filter: &FindingFilter,
        page: &PageRequest,
    ) -> Result<Page<FindingRecord>, StoreError> {
        let (filter, limit) = (filter.clone(), page.limit);
        let after = page.after.as_ref().map(Cursor::place).transpose()?;
        let query = move |connection: &Connection| {
            let list = Query { columns: "document", table: "findings", time: "created_at" };
            let rows = list.rows(connection, conditions(&filter), after, limit, |row| parsed(row, 0))?;
            Ok(Page::cut(rows, limit, |finding: &FindingRecord| (finding.created_at, finding.id)))
        };
        self.readers.read("list findings", query).await
    }

    async fn set_override(&self, given: &Override) -> Result<(), StoreError> {
        let change = SetOverride { content_hash: given.content_hash.clone(), document: Some(json(given)) };
        self.write_synced(change).await.map(drop)
    }

    async fn delete_override(&self, content_hash: &str) -> Result<bool, StoreError> {
        self.write_synced(SetOverride { content_hash: content_hash.to_owned(), document: None }).await
    }

    async fn overrides(&self) -> Result<Vec<Override>, StoreError> {
        let query = |connection: &Connection| {
            let mut list =
                connection.prepare_cached("SELECT document FROM overrides ORDER BY content_hash")?;
            list.query_map([], |row| parsed(row, 0))?.collect()
        };
        self.readers.read("list overrides", query).await
    }
}

fn conditions(filter: &FindingFilter) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.text("source_type = ?", filter.source_type.map(SourceKind::as_str));
    conditions.text("source_id = ?", filter.source_id.as_deref());
    conditions.text("skill_id = ?", filter.skill_id.as_deref());
    conditions.one("severity >= ?", filter.severity_min.map(|least| Value::Integer(rank(least))));
    conditions.text("content_revision = ?", filter.content_revision.as_deref());
    conditions
}

/// Returns the place of a severity among all, from 0 for the least.
fn rank(severity: Severity) -> i64 {
    (0..).zip(Severity::ALL).find(|(_, other)| *other == severity).map_or(0, |(rank, _)| rank)
}

fn with_findings(
    connection: &Connection,
    (key, verdict): (i64, VerdictRecord),
) -> rusqlite::Result<VerdictRecord> {
    let mut list =
        connection.prepare_cached("SELECT document FROM findings WHERE verdict = ?1 ORDER BY key")?;
    let findings = list.query_map([key], |row: &Row<'_>| parsed(row, 0))?;
    Ok(VerdictRecord { findings: findings.collect::<rusqlite::Result<_>>()?, ..verdict })
}

/// Keeps what an engine said, instead of what it said before.
struct SetVerdict {
    content_hash: String,
    engine: String,
    document: String,
    findings: Vec<FindingColumns>,
}

struct FindingColumns {
    finding: FindingRecord,
    document: String,
}

impl SetVerdict {
    fn new(verdict: &VerdictRecord) -> Self {
        let columns =
            |finding: &FindingRecord| FindingColumns { finding: finding.clone(), document: json(finding) };
        Self {
            content_hash: verdict.content_hash.clone(),
            engine: verdict.engine.clone(),
            document: json(&VerdictRecord { findings: Vec::new(), ..verdict.clone() }),
            findings: verdict.findings.iter().map(columns).collect(),
        }
    }
}

impl Change for SetVerdict {
    type Answer = ();
    const WHAT: &'static str = "keep a verdict";

    fn effort(&self) -> Effort {
        // How many findings the verdict before had is not known.
        Effort::Long(self.document.len() + self.findings.iter().map(|one| one.document.len()).sum::<usize>())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut upsert = connection.prepare_cached(
            "INSERT INTO verdicts (content_hash, engine, document) VALUES (?1, ?2, ?3) \
             ON CONFLICT (content_hash, engine) DO UPDATE SET document = excluded.document RETURNING key",
        )?;
        let values = params![self.content_hash, self.engine, self.document];
        let verdict: i64 = upsert.query_row(values, |row| row.get(0))?;
        connection.prepare_cached("DELETE FROM findings WHERE verdict = ?1")?.execute([verdict])?;
        let mut insert = connection.prepare_cached(
            "INSERT INTO findings (verdict, id, source_type, source_id, skill_id, content_revision, severity, \
             created_at, document) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        for FindingColumns { finding, document } in &self.findings {
            insert.execute(params![
                verdict,
                finding.id.into_bytes(),
                finding.source_type.as_str(),
                finding.source_id,
                finding.skill_id,
                finding.content_revision,
                rank(finding.severity),
                finding.created_at.as_millis(),
                document,
            ])?;
        }
        Ok(())
    }
}

/// Keeps an override, or takes it back.
struct SetOverride {
    content_hash: String,
    document: Option<String>,
}

impl Change for SetOverride {
    /// Whether anything changed.
    type Answer = bool;
    const WHAT: &'static str = "change an override";

    fn effort(&self) -> Effort {
        Effort::rows(1, self.document.as_ref().map_or(0, String::len))
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let rows = match &self.document {
            Some(document) => connection
                .prepare_cached("INSERT OR REPLACE INTO overrides (content_hash, document) VALUES (?1, ?2)")?
                .execute(params![self.content_hash, document])?,
            None => connection
                .prepare_cached("DELETE FROM overrides WHERE content_hash = ?1")?
                .execute([&self.content_hash])?,
        };
        Ok(rows > 0)
    }
}
