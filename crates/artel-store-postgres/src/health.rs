//! The health of skills as a table. The model alone knows how outcomes change it; the database is given the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use artel_model::health::{Health, RunOutcome};
use artel_model::name::SkillName;
use artel_store::{HealthChange, HealthStore, SkillHealth, StoreError};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use crate::row::{column, parsed};
use crate::statement::Statement;
use crate::store::PostgresStore;

const RESET: &str = include_str!("sql/reset_health.sql");
const READING: &str = "reading the health of skills";

/// Every health there can be, by the word that is kept.
static ALL: LazyLock<BTreeMap<String, Health>> = LazyLock::new(|| {
    let mut found = BTreeMap::new();
    let mut unseen = vec![Health::NEW];
    while let Some(health) = unseen.pop() {
        if found.insert(word(health), health).is_none() {
            let outcomes = [RunOutcome::Success, RunOutcome::Failure, RunOutcome::Transient];
            unseen.extend(outcomes.map(|outcome| health.after(outcome)));
        }
    }
    found
});

#[async_trait]
impl HealthStore for PostgresStore {
    async fn health(&self) -> Result<Vec<SkillHealth>, StoreError> {
        let statement = Statement::new("SELECT skill, content_hash, health FROM skill_health ORDER BY skill");
        let answer = self.read(READING, &statement).await?;
        answer.rows.iter().map(health_row).collect()
    }

    async fn reset_health(&self, skill: &SkillName) -> Result<(), StoreError> {
        let statement = Statement::new(RESET).with(skill.as_str());
        self.write("forgetting the health of a skill", &statement).await?;
        Ok(())
    }
}

fn health_row(row: &PgRow) -> Result<SkillHealth, StoreError> {
    let word: &str = column(READING, row, 2)?;
    let health = ALL.get(word).ok_or_else(|| StoreError::Corrupt {
        what: READING.to_owned(),
        source: format!("no health is called `{word}`").into(),
    })?;
    Ok(SkillHealth {
        skill: parsed(READING, row, 0)?,
        content_hash: column(READING, row, 1)?,
        health: *health,
    })
}

/// Adds changes as arrays: what each skill's health is when it begins anew, and what every other one becomes.
pub(crate) fn with_health(statement: Statement, changes: &[HealthChange]) -> Statement {
    let skills: BTreeSet<&SkillName> = changes.iter().map(|change| &change.skill).collect();
    let (mut names, mut hashes, mut from_new) = (Vec::new(), Vec::new(), Vec::new());
    let (mut step_names, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for skill in skills {
        let of_skill: Vec<&HealthChange> = changes.iter().filter(|change| change.skill == *skill).collect();
        let Some(last) = of_skill.last() else { continue };
        names.push(skill.as_str());
        hashes.push(last.content_hash.as_str());
        from_new.push(word(outcome_of(&of_skill, Health::NEW)));
        for (kept, health) in ALL.iter() {
            step_names.push(skill.as_str());
            before.push(kept.as_str());
            after.push(word(outcome_of(&of_skill, *health)));
        }
    }
    statement.with(names).with(hashes).with(from_new).with(step_names).with(before).with(after)
}

/// Returns the health after changes of one skill, if it was `health` for the files of the last one of them.
fn outcome_of(changes: &[&HealthChange], health: Health) -> Health {
    let Some(last) = changes.last() else { return health };
    let start = (last.content_hash.as_str(), health);
    let (_, health) = changes.iter().fold(start, |(hash, health), change| {
        let health = if change.content_hash == hash { health } else { health.reset() };
        (change.content_hash.as_str(), health.after(change.outcome))
    });
    health
}

/// Returns the word that is kept for a health.
fn word(health: Health) -> String {
    match health {
        Health::Healthy { failures }
        | Health::Degraded { failures }
        | Health::TemporaryFailure { failures } => {
            format!("{} {failures}", health.as_str())
        }
        Health::PermanentFailure => health.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(outcomes: &[(&str, RunOutcome)]) -> Vec<HealthChange> {
        let change = |&(hash, outcome): &(&str, RunOutcome)| HealthChange {
            skill: "grasp".parse().unwrap(),
            content_hash: hash.to_owned(),
            outcome,
        };
        outcomes.iter().map(change).collect()
    }

    #[test]
    fn every_health_has_a_word_of_its_own() {
        assert!(ALL.contains_key("healthy 0") && ALL.contains_key("permanentFailure"));
        assert!(ALL.len() < 32, "{:?}", ALL.keys());
        assert!(ALL.iter().all(|(kept, health)| *kept == word(*health)));
    }

    #[test]
    fn other_files_in_between_begin_anew() {
        let failed = RunOutcome::Failure;
        let check = |outcomes: &[(&str, RunOutcome)], start: Health, expected: &str| {
            let changes = changes(outcomes);
            let changes: Vec<&HealthChange> = changes.iter().collect();
            assert_eq!(word(outcome_of(&changes, start)), expected, "{outcomes:?}");
        };
        let twice = Health::NEW.after(failed).after(failed);
        check(&[("a", failed)], twice, "degraded 3");
        check(&[("a", failed), ("a", RunOutcome::Success)], twice, "healthy 0");
        check(&[("b", failed), ("a", failed)], twice, "healthy 1");
        check(&[("a", failed), ("b", failed), ("a", failed)], twice, "healthy 1");
    }
}
