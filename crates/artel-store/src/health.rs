//! How well skills have been doing.

use artel_model::health::Health;
use artel_model::name::SkillName;
use async_trait::async_trait;

use crate::error::StoreError;

/// The health of one skill's files.
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
/// [`Health::after`], from the beginning when the hash is another one.
#[async_trait]
pub trait HealthStore: Send + Sync {
    /// Returns what is known, by the skill's name. What is not there has not run.
    async fn health(&self) -> Result<Vec<SkillHealth>, StoreError>;

    /// Forgets what is known about a skill: an operator says that it may be tried again.
    async fn reset_health(&self, skill: &SkillName) -> Result<(), StoreError>;
}
