//! Skills that people saved, and their history.

use artel_model::access::UserId;
use artel_model::catalog::{CustomSkill, SkillChange};
use artel_model::id::CustomSkillId;
use artel_model::time::Timestamp;
use async_trait::async_trait;

use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// Why a skill was not saved; nothing was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SaveRefused {
    /// There is one with that id, or there was: an id is never used again.
    Exists,
    /// There is none with that id.
    Unknown,
    /// Somebody saved it in between.
    Conflict {
        /// Its revision.
        actual: u64,
    },
    /// There are as many as there may be.
    TooMany,
}

/// Skills that people saved. What was saved survives a power cut when the answer comes.
#[async_trait]
pub trait CustomSkillStore: Send + Sync {
    /// Keeps a skill as revision 1, unless there are `skills_max`; those that were deleted do not count.
    async fn create_skill(
        &self,
        skill: &CustomSkill,
        skills_max: u64,
    ) -> Result<Result<(), SaveRefused>, StoreError>;

    /// Keeps a skill as the revision that follows `expected`, whatever it says of its revision itself.
    async fn update_skill(
        &self,
        expected: u64,
        skill: &CustomSkill,
    ) -> Result<Result<(), SaveRefused>, StoreError>;

    /// Removes a skill; its history stays. Whatever its revision, when none is expected.
    async fn delete_skill(
        &self,
        id: CustomSkillId,
        expected: Option<u64>,
        by: &UserId,
        at: Timestamp,
    ) -> Result<Result<(), SaveRefused>, StoreError>;

    /// Returns a skill with its files.
    async fn custom_skill(&self, id: CustomSkillId) -> Result<Option<CustomSkill>, StoreError>;

    /// Returns the id, revision and hash of every skill, by the time they were made and their ids.
    async fn custom_skills(&self) -> Result<Vec<(CustomSkillId, u64, String)>, StoreError>;

    /// Returns the changes of a skill, the last first; also after it was deleted. Files come with them.
    async fn skill_history(
        &self,
        id: CustomSkillId,
        page: &PageRequest,
    ) -> Result<Page<SkillChange>, StoreError>;
}
