//! How well skills have been doing.

use std::collections::BTreeMap;

use artel_model::data_scope::OwnerKey;
use artel_model::health::{Counted, Health, due_probe, seen_by};
use artel_model::id::RunId;
use artel_model::name::SkillName;
use artel_model::time::Timestamp;
use async_trait::async_trait;

use crate::error::StoreError;

/// What one principal went through with one skill's files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HealthCount {
    /// The skill.
    pub skill: SkillName,
    /// The hash of the files.
    pub content_hash: String,
    /// Who ran it.
    pub principal: OwnerKey,
    /// What they went through.
    pub counted: Counted,
}

/// The health of one skill's files, as one principal sees it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillHealth {
    /// The skill.
    pub skill: SkillName,
    /// The hash of the files that did so well or badly.
    pub content_hash: String,
    /// How well.
    pub health: Health,
}

/// How well skills have been doing. It is changed by [`RunStore::append`](crate::RunStore::append): each outcome by
/// [`count`](artel_model::health::count), for the principal of the run and the files that ran.
#[async_trait]
pub trait HealthStore: Send + Sync {
    /// Returns what is known, by the skill's name, the hash and the principal. What is not there has not failed.
    async fn health_counts(&self) -> Result<Vec<HealthCount>, StoreError>;

    /// Forgets what is known about a skill, or only about some of its files: an operator says that it may be tried again.
    async fn reset_health(&self, skill: &SkillName, content_hash: Option<&str>) -> Result<(), StoreError>;

    /// Takes a probe for one run, and says whether it has it: of all that ask on all nodes, one does, until the claim ends. The
    /// same run may ask again.
    async fn claim_probe(&self, claim: ProbeClaim) -> Result<bool, StoreError>;

    /// Forgets what is known about some files of skills and has not changed since `before`, and claims that ended before it.
    async fn prune_health(&self, files: &[SkillFiles], before: Timestamp) -> Result<(), StoreError>;
}

/// Some files of a skill.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SkillFiles {
    /// The skill.
    pub skill: SkillName,
    /// The hash of the files.
    pub content_hash: String,
}

/// A run that wants to be the one that tries a skill again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProbeClaim {
    /// What it tries.
    pub files: SkillFiles,
    /// The last failure, which names the probe: after the next one there is another probe.
    pub since: Timestamp,
    /// The run.
    pub run: RunId,
    /// When it asks.
    pub now: Timestamp,
    /// When its claim ends, should it never say how it went.
    pub until: Timestamp,
}

/// Returns which probes a principal would take by running skills: for each of the files that are due, the last failure.
pub fn due_probes(
    counts: &[HealthCount],
    principal: &OwnerKey,
    now: Timestamp,
) -> Vec<(SkillFiles, Timestamp)> {
    let due = by_files(counts).into_iter().filter_map(|((skill, content_hash), counted)| {
        let since = due_probe(&counted, principal, now)?;
        Some((SkillFiles { skill: skill.clone(), content_hash: content_hash.to_owned() }, since))
    });
    due.collect()
}

fn by_files(counts: &[HealthCount]) -> BTreeMap<(&SkillName, &str), BTreeMap<OwnerKey, Counted>> {
    let mut files: BTreeMap<(&SkillName, &str), BTreeMap<OwnerKey, Counted>> = BTreeMap::new();
    for count in counts {
        let counted = files.entry((&count.skill, &count.content_hash)).or_default();
        counted.insert(count.principal.clone(), count.counted);
    }
    files
}

/// Returns the health of skills as a principal sees it at a moment, by name and hash. What is not there is healthy.
pub fn seen_health(counts: &[HealthCount], principal: &OwnerKey, now: Timestamp) -> Vec<SkillHealth> {
    let seen = by_files(counts).into_iter().map(|((skill, content_hash), counted)| SkillHealth {
        skill: skill.clone(),
        content_hash: content_hash.to_owned(),
        health: seen_by(&counted, principal, now),
    });
    seen.filter(|seen| seen.health != Health::NEW).collect()
}
