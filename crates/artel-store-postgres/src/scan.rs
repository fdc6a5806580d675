//! Verdicts, findings and overrides as tables.

use artel_model::catalog::{FindingRecord, Override, Severity, SourceKind, VerdictRecord};
use artel_store::{FindingFilter, Page, PageRequest, ScanStore, StoreError};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use crate::id::Id;
use crate::row::{after, column, document, fitting, fitting_bytes, json, parsed_json, rows_of};
use crate::statement::{COUNTED, Statement};
use crate::store::PostgresStore;

const READING: &str = "reading a verdict";
const LISTING: &str = "listing findings";
const OVERRIDING: &str = "changing an override";

#[async_trait]
impl ScanStore for PostgresStore {
    async fn set_verdict(&self, verdict: &VerdictRecord) -> Result<(), StoreError> {
        let bare = VerdictRecord { findings: Vec::new(), ..verdict.clone() };
        let all = || verdict.findings.iter();
        let statement = Statement::new("SELECT set_verdict($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)")
            .with(verdict.content_hash.as_bytes())
            .with(verdict.engine.as_bytes())
            .with(json(&bare))
            .with(all().map(|finding| Id(finding.id)).collect::<Vec<_>>())
            .with(all().map(|finding| finding.source_type.as_str()).collect::<Vec<_>>())
            .with(all().map(|finding| finding.source_id.as_deref().map(str::as_bytes)).collect::<Vec<_>>())
            .with(all().map(|finding| finding.skill_id.as_bytes()).collect::<Vec<_>>())
            .with(all().map(|finding| finding.content_revision.as_bytes()).collect::<Vec<_>>())
            .with(all().map(|finding| rank(finding.severity)).collect::<Vec<_>>())
            .with(all().map(|finding| finding.created_at.as_millis()).collect::<Vec<_>>())
            .with(all().map(json::<FindingRecord>).collect::<Vec<_>>());
        self.write("keeping a verdict", &statement).await.map(drop)
    }

    async fn verdicts(&self, content_hash: &str) -> Result<Vec<VerdictRecord>, StoreError> {
        // In one statement, because a verdict may be replaced between it and its findings.
        let statement = Statement::new(
            "SELECT document, ARRAY(\
                 SELECT findings.document FROM findings WHERE verdict = verdicts.key ORDER BY place\
             ) FROM verdicts WHERE content_hash = $1 ORDER BY engine",
        );
        let answer = self.read(READING, &statement.with(content_hash.as_bytes())).await?;
        answer.rows.iter().map(verdict).collect()
    }

    async fn all_verdicts(&self) -> Result<Vec<VerdictRecord>, StoreError> {
        let list = "SELECT document FROM verdicts ORDER BY content_hash, engine";
        let answer = self.read(READING, &Statement::new(list)).await?;
        answer.rows.iter().map(|row| document(READING, row, 0)).collect()
    }

    async fn findings(
        &self,
        filter: &FindingFilter,
        page: &PageRequest,
    ) -> Result<Page<FindingRecord>, StoreError> {
        let statement = filtered(Statement::new("SELECT document FROM findings WHERE true"), filter);
        let statement = after(statement, " AND (created_at, id)", page.after.as_ref())?;
        let statement = statement.then(" ORDER BY created_at DESC, id DESC LIMIT ").place(rows_of(page));
        let answer = self.read(LISTING, &statement).await?;
        let findings = answer.rows.iter().map(|row| document(LISTING, row, 0));
        let findings = findings.collect::<Result<Vec<FindingRecord>, _>>()?;
        Ok(Page::cut(findings, page.limit, |finding| (finding.created_at, finding.id)))
    }

    async fn set_override(&self, given: &Override) -> Result<(), StoreError> {
        let upsert = "WITH changed AS (INSERT INTO overrides (content_hash, document) VALUES ($1, $2) \
            ON CONFLICT (content_hash) DO UPDATE SET document = excluded.document RETURNING content_hash)";
        let statement = Statement::new(upsert).then(COUNTED);
        let statement = statement.with(given.content_hash.as_bytes()).with(json(given));
        self.write_synced(OVERRIDING, &statement).await.map(drop)
    }

    async fn delete_override(&self, content_hash: &str) -> Result<bool, StoreError> {
        let delete = "WITH changed AS (DELETE FROM overrides WHERE content_hash = $1 RETURNING content_hash)";
        let statement = Statement::new(delete).then(COUNTED).with(content_hash.as_bytes());
        self.has_changed(OVERRIDING, &statement).await
    }

    async fn overrides(&self) -> Result<Vec<Override>, StoreError> {
        let what = "listing overrides";
        let list = "SELECT document FROM overrides ORDER BY content_hash";
        let answer = self.read(what, &Statement::new(list)).await?;
        answer.rows.iter().map(|row| document(what, row, 0)).collect()
    }
}

fn filtered(statement: Statement, filter: &FindingFilter) -> Statement {
    let source_type = filter.source_type.map(SourceKind::as_str);
    let mut statement = fitting(statement, " AND source_type = ", source_type);
    statement = fitting_bytes(statement, " AND source_id = ", filter.source_id.as_deref());
    statement = fitting_bytes(statement, " AND skill_id = ", filter.skill_id.as_deref());
    statement = fitting_bytes(statement, " AND content_revision = ", filter.content_revision.as_deref());
    match filter.severity_min {
        Some(least) => statement.then(" AND severity >= ").place(rank(least)),
        None => statement,
    }
}

/// Returns the place of a severity among all, from 0 for the least.
fn rank(severity: Severity) -> i64 {
    (0..).zip(Severity::ALL).find(|(_, other)| *other == severity).map_or(0, |(rank, _)| rank)
}

/// Reads a verdict and its findings.
fn verdict(row: &PgRow) -> Result<VerdictRecord, StoreError> {
    let verdict: VerdictRecord = document(READING, row, 0)?;
    let findings: Vec<String> = column(READING, row, 1)?;
    let findings = findings.iter().map(|finding| parsed_json(READING, finding));
    Ok(VerdictRecord { findings: findings.collect::<Result<_, _>>()?, ..verdict })
}
