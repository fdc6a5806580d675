//! Skills that people saved, in memory: every revision whole.

use std::collections::BTreeMap;

use artel_model::access::UserId;
use artel_model::catalog::{CustomSkill, SkillChange};
use artel_model::id::CustomSkillId;
use artel_model::time::Timestamp;
use async_trait::async_trait;
use uuid::Uuid;

use super::listing::page_of;
use super::store::MemoryStore;
use crate::custom::{CustomSkillStore, SaveRefused};
use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// The changes of every skill, also of those that were deleted, the first first.
#[derive(Debug, Default)]
pub(super) struct CustomTable {
    histories: BTreeMap<CustomSkillId, Vec<SkillChange>>,
}

#[async_trait]
impl CustomSkillStore for MemoryStore {
    async fn create_skill(
        &self,
        skill: &CustomSkill,
        skills_max: u64,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        let mut tables = self.tables();
        let created = tables.custom.create(skill, skills_max);
        tables.version += u64::from(created.is_ok());
        Ok(created)
    }

    async fn update_skill(
        &self,
        expected: u64,
        skill: &CustomSkill,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        let mut tables = self.tables();
        let (at, by) = (skill.updated_at, skill.updated_by.clone());
        let changed = tables.custom.change(skill.id, Some(expected), |revision| SkillChange {
            id: skill.id,
            revision,
            at,
            by,
            saved: Some(CustomSkill { revision, ..skill.clone() }),
        });
        tables.version += u64::from(changed.is_ok());
        Ok(changed)
    }

    async fn delete_skill(
        &self,
        id: CustomSkillId,
        expected: Option<u64>,
        by: &UserId,
        at: Timestamp,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        let mut tables = self.tables();
        let by = by.clone();
        let deleted = |revision| SkillChange { id, revision, at, by, saved: None };
        let changed = tables.custom.change(id, expected, deleted);
        tables.version += u64::from(changed.is_ok());
        Ok(changed)
    }

    async fn custom_skill(&self, id: CustomSkillId) -> Result<Option<CustomSkill>, StoreError> {
        Ok(self.tables().custom.skill(id).cloned())
    }

    async fn custom_skills(&self) -> Result<Vec<(CustomSkillId, u64, String)>, StoreError> {
        let tables = self.tables();
        let mut skills: Vec<&CustomSkill> = tables.custom.skills().collect();
        skills.sort_by_key(|skill| (skill.created_at, skill.id));
        let shown = |skill: &CustomSkill| (skill.id, skill.revision, skill.content_hash.clone());
        Ok(skills.into_iter().map(shown).collect())
    }

    async fn skill_history(
        &self,
        id: CustomSkillId,
        page: &PageRequest,
    ) -> Result<Page<SkillChange>, StoreError> {
        let tables = self.tables();
        let changes = tables.custom.histories.get(&id).into_iter().flatten().cloned();
        page_of(changes, page, |change| (Timestamp::from_millis(0), Uuid::from_u128(change.revision.into())))
    }
}

impl CustomTable {
    fn skills(&self) -> impl Iterator<Item = &CustomSkill> {
        self.histories.values().filter_map(|history| history.last()?.saved.as_ref())
    }

    fn skill(&self, id: CustomSkillId) -> Option<&CustomSkill> {
        self.histories.get(&id)?.last()?.saved.as_ref()
    }

    fn create(&mut self, skill: &CustomSkill, skills_max: u64) -> Result<(), SaveRefused> {
        if self.histories.contains_key(&skill.id) {
            return Err(SaveRefused::Exists);
        }
        if self.skills().count() as u64 >= skills_max {
            return Err(SaveRefused::TooMany);
        }
        let saved = CustomSkill { revision: 1, ..skill.clone() };
        let (at, by) = (skill.updated_at, skill.updated_by.clone());
        let first = SkillChange { id: skill.id, revision: 1, at, by, saved: Some(saved) };
        self.histories.insert(skill.id, vec![first]);
        Ok(())
    }

    fn change(
        &mut self,
        id: CustomSkillId,
        expected: Option<u64>,
        change: impl FnOnce(u64) -> SkillChange,
    ) -> Result<(), SaveRefused> {
        let history = self.histories.get_mut(&id).ok_or(SaveRefused::Unknown)?;
        let last = history.last().filter(|last| last.saved.is_some()).ok_or(SaveRefused::Unknown)?;
        let actual = last.revision;
        if expected.is_some_and(|expected| expected != actual) {
            return Err(SaveRefused::Conflict { actual });
        }
        history.push(change(actual + 1));
        Ok(())
    }
}
