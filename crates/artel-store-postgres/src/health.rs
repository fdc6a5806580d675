//! The health of skills as a table. The model alone knows how outcomes change it; the database is given the answers.

use std::collections::BTreeMap;

use artel_model::data_scope::OwnerKey;
use artel_model::health::{Counted, Tally};
use artel_model::name::SkillName;
use artel_model::time::Timestamp;
use artel_store::{HealthChange, HealthCount, HealthStore, ProbeClaim, SkillFiles, StoreError};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use crate::row::{column, parsed};
use crate::statement::Statement;
use crate::store::PostgresStore;

const RESET: &str = include_str!("sql/reset_health.sql");
const PRUNE: &str = include_str!("sql/prune_health.sql");
const CLAIM_PROBE: &str = include_str!("sql/claim_probe.sql");
const RELEASE: &str =
    "DELETE FROM health_probes WHERE skill = $1 AND ($2::text IS NULL OR content_hash = $2)";
const READING: &str = "reading the health of skills";

#[async_trait]
impl HealthStore for PostgresStore {
    async fn health_counts(&self) -> Result<Vec<HealthCount>, StoreError> {
        let statement = Statement::new(
            "SELECT skill, content_hash, principal, tally, at FROM health_counts \
             ORDER BY skill, content_hash, principal",
        );
        let answer = self.read(READING, &statement).await?;
        answer.rows.iter().map(health_row).collect()
    }

    async fn reset_health(&self, skill: &SkillName, content_hash: Option<&str>) -> Result<(), StoreError> {
        let statement = Statement::new(RESET).with(skill.as_str()).with(content_hash.map(str::to_owned));
        self.write("forgetting the health of a skill", &statement).await?;
        let release = Statement::new(RELEASE).with(skill.as_str()).with(content_hash.map(str::to_owned));
        self.write("releasing the probes of a skill", &release).await?;
        Ok(())
    }

    async fn claim_probe(&self, claim: ProbeClaim) -> Result<bool, StoreError> {
        let ProbeClaim { files, since, run, now, until } = claim;
        let statement = Statement::new(CLAIM_PROBE)
            .with(files.skill.as_str())
            .with(files.content_hash)
            .with(since.as_millis())
            .with(run.to_string())
            .with(until.as_millis())
            .with(now.as_millis());
        let answer = self.write("claiming the probe of a skill", &statement).await?;
        Ok(!answer.rows.is_empty())
    }

    async fn prune_health(&self, files: &[SkillFiles], before: Timestamp) -> Result<(), StoreError> {
        for SkillFiles { skill, content_hash } in files {
            let statement = Statement::new(PRUNE).with(skill.as_str()).with(content_hash.as_str());
            self.write("forgetting the health of files", &statement.with(before.as_millis())).await?;
        }
        let ended = Statement::new("DELETE FROM health_probes WHERE until < $1").with(before.as_millis());
        self.write("forgetting probes", &ended).await?;
        Ok(())
    }
}

fn health_row(row: &PgRow) -> Result<HealthCount, StoreError> {
    let principal: &str = column(READING, row, 2)?;
    let principal = OwnerKey::kept(principal).ok_or_else(|| StoreError::Corrupt {
        what: READING.to_owned(),
        source: format!("`{principal}` is no principal").into(),
    })?;
    let at = Timestamp::from_millis(column(READING, row, 4)?);
    Ok(HealthCount {
        skill: parsed(READING, row, 0)?,
        content_hash: column(READING, row, 1)?,
        principal,
        counted: Counted { tally: parsed(READING, row, 3)?, at },
    })
}

/// Adds changes as arrays: what the tally of each skill's files is when there was none, and what every other one becomes. All of
/// them are of one principal, the owner of the run.
pub(crate) fn with_health(statement: Statement, changes: &[HealthChange]) -> Statement {
    let mut files: BTreeMap<(&SkillName, &str), Vec<&HealthChange>> = BTreeMap::new();
    for change in changes {
        files.entry((&change.skill, &change.content_hash)).or_default().push(change);
    }
    let (mut names, mut hashes, mut from_clear, mut at) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut step_files, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for ((skill, content_hash), changes) in files {
        let becomes = |tally: Tally| {
            changes.iter().fold(tally, |tally, change| tally.after(change.outcome)).to_string()
        };
        names.push(skill.as_str());
        hashes.push(content_hash);
        from_clear.push(becomes(Tally::CLEAR));
        at.push(changes.last().map_or(0, |change| change.at.as_millis()));
        for tally in Tally::all() {
            step_files.push(format!("{skill} {content_hash}"));
            before.push(tally.to_string());
            after.push(becomes(tally));
        }
    }
    let principal = changes.first().map_or(OwnerKey::LOCAL, |change| change.principal.as_str());
    let statement = statement.with(names).with(hashes).with(from_clear);
    statement.with(step_files).with(before).with(after).with(principal).with(at)
}
