//! Saving skills: who may, what is checked, and what is served afterwards.

use artel_catalog::shared::custom::{CheckedSkill, CustomDraft, DraftError, check};
use artel_catalog::shared::{Entry, EntryId, Snapshot};
use artel_catalog::{Loaded, file_hash};
use artel_model::access::Principal;
use artel_model::catalog::{CustomFile, CustomSkill, SkillChange, Visibility};
use artel_model::id::CustomSkillId;
use artel_model::limit::CUSTOM_SKILLS_MAX;
use artel_model::name::SkillName;
use artel_model::quota::{Quota, QuotaExceeded};
use artel_store::{Page, PageRequest, SaveRefused, StoreError};
use std::sync::Arc;
use uuid::Uuid;

use super::service::{Catalogs, RefreshFailed, Reread};
use crate::precondition::IfMatch;
use crate::quota_turns::QuotaTurn;

/// Why a skill was not saved; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// What was sent is wrong.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// The caller may not show it to those people.
    #[error("{0}")]
    Forbidden(&'static str),
    /// There is no such skill, or it is not the caller's to see.
    #[error("there is no such skill")]
    Unknown,
    /// There is no such file of it.
    #[error("the skill has no such file")]
    NoFile,
    /// It is not what the caller said it changes.
    #[error("the skill is not the one that `If-Match` names; it has revision {actual}. Read it again")]
    Mismatch {
        /// Its revision.
        actual: u64,
    },
    /// Another caller saved it while this change was under way.
    #[error("the skill was changed in between; it has revision {actual}")]
    Conflict {
        /// Its revision.
        actual: u64,
    },
    /// A skill of the server has the name; people would take one for the other.
    #[error("the name `{0}` belongs to a skill of this server; choose another one")]
    NameTaken(SkillName),
    /// There are as many saved skills as there may be.
    #[error("there are as many saved skills as there may be ({CUSTOM_SKILLS_MAX})")]
    TooMany,
    /// Its owner has saved as much as they may.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The store does not answer.
    #[error("the store does not answer")]
    Store(#[source] StoreError),
    /// It was saved, and cannot be served.
    #[error("the skill was saved, and will be served when the catalog can be read again")]
    NotServed(#[source] RefreshFailed),
}

/// What happens to one file of a saved skill.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileChange {
    /// It is put there, or replaced.
    Put {
        /// Its path below the skill's folder.
        path: String,
        /// Its bytes.
        content: Vec<u8>,
        /// Whether it may be executed; nothing leaves what it was.
        is_executable: Option<bool>,
    },
    /// It is removed.
    Remove {
        /// Its path below the skill's folder.
        path: String,
    },
}

impl FileChange {
    fn path(&self) -> &str {
        match self {
            Self::Put { path, .. } | Self::Remove { path } => path,
        }
    }
}

/// A skill that was saved, and what is served since.
pub struct Saved {
    /// What was saved.
    pub skill: CustomSkill,
    /// What should be known about it.
    pub warnings: Vec<String>,
    /// What is served.
    pub snapshot: Arc<Snapshot>,
}

impl Saved {
    /// Returns the skill as it stands in the catalog, also when it is held back.
    pub fn entry(&self) -> Option<&Entry> {
        self.snapshot.any(&EntryId::Custom(self.skill.id))
    }
}

impl Catalogs {
    /// Saves a skill for the first time.
    pub async fn create(&self, caller: &Principal, draft: CustomDraft) -> Result<Saved, SaveError> {
        let (checked, warnings) = checked(caller, draft, &caller.viewer.user).await?;
        self.check_name(checked.name()).await?;
        let now = self.parts().clock.now();
        let skill = checked.into_first(CustomSkillId(Uuid::now_v7()), caller.viewer.user.clone(), now);
        let turn = self.room(caller, &skill, None).await?;
        let kept = self.parts().stores.skills.create_skill(&skill, CUSTOM_SKILLS_MAX as u64).await;
        kept.map_err(SaveError::Store)?.map_err(|why| refused(why, &IfMatch::Any))?;
        let saved = self.saved(skill, warnings).await;
        drop(turn);
        saved
    }

    /// Saves a skill again, if it is still what the caller says it is.
    pub async fn update(
        &self,
        caller: &Principal,
        id: CustomSkillId,
        expected: &IfMatch,
        draft: CustomDraft,
    ) -> Result<Saved, SaveError> {
        let before = self.owned(caller, id).await?;
        matching(expected, &before, None)?;
        self.save_again(caller, before, expected, draft).await
    }

    /// Changes one file of a skill, if the skill or the file is still what the caller says it is. The skill is checked
    /// and scanned as a whole.
    pub async fn change_file(
        &self,
        caller: &Principal,
        id: CustomSkillId,
        expected: &IfMatch,
        change: FileChange,
    ) -> Result<Saved, SaveError> {
        let before = self.owned(caller, id).await?;
        matching(expected, &before, Some(change.path()))?;
        let mut draft = draft_of(&before);
        apply(change, &mut draft.files)?;
        self.save_again(caller, before, expected, draft).await
    }

    async fn save_again(
        &self,
        caller: &Principal,
        before: CustomSkill,
        expected: &IfMatch,
        draft: CustomDraft,
    ) -> Result<Saved, SaveError> {
        let (checked, warnings) = checked(caller, draft, &before.owner_user_id).await?;
        // A skill that was there first keeps its name.
        if *checked.name() != before.name {
            self.check_name(checked.name()).await?;
        }
        let skill = checked.into_next(&before, caller.viewer.user.clone(), self.parts().clock.now());
        let turn = self.room(caller, &skill, Some(skill.id)).await?;
        let kept = self.parts().stores.skills.update_skill(before.revision, &skill).await;
        kept.map_err(SaveError::Store)?.map_err(|why| refused(why, expected))?;
        let saved = self.saved(skill, warnings).await;
        drop(turn);
        saved
    }

    /// Waits until the caller may save a skill, and refuses when there is no room for it. What is saved is counted when it
    /// was read again, so the turn lasts until then.
    async fn room(
        &self,
        caller: &Principal,
        skill: &CustomSkill,
        replaced: Option<CustomSkillId>,
    ) -> Result<Option<QuotaTurn>, SaveError> {
        let Some(turn) = self.save_turns().turn(caller).await else { return Ok(None) };
        let (quotas, used) =
            (self.parts().config.quotas, self.saved_by(&skill.owner_user_id, replaced).await);
        let bytes = skill.content.len() + skill.files.iter().map(|file| file.content.len()).sum::<usize>();
        quotas.allow(Quota::SavedSkills, used.skills, 1)?;
        quotas.allow(Quota::SavedBytes, used.bytes, bytes as u64)?;
        Ok(Some(turn))
    }

    /// Refuses the names of skills that the server brings along, also of those that are switched off.
    async fn check_name(&self, name: &SkillName) -> Result<(), SaveError> {
        let is_it = |loaded: &Loaded| loaded.skill.as_ref().is_some_and(|skill| skill.name == *name);
        let is_taken =
            self.folders().await.is_some_and(|folders| folders.list().iter().any(|loaded| is_it(loaded)));
        if is_taken { Err(SaveError::NameTaken(name.clone())) } else { Ok(()) }
    }

    /// Deletes a skill; its history stays.
    pub async fn delete(
        &self,
        caller: &Principal,
        id: CustomSkillId,
        expected: &IfMatch,
    ) -> Result<CustomSkill, SaveError> {
        let before = self.owned(caller, id).await?;
        matching(expected, &before, None)?;
        let now = self.parts().clock.now();
        let revision = (*expected != IfMatch::Any).then_some(before.revision);
        let gone = self.parts().stores.skills.delete_skill(id, revision, &caller.viewer.user, now).await;
        gone.map_err(SaveError::Store)?.map_err(|why| refused(why, expected))?;
        self.refresh(Reread::Kept).await.map_err(SaveError::NotServed)?;
        Ok(before)
    }

    /// Returns the changes of a skill, the last first; also after it was deleted.
    pub async fn history(
        &self,
        caller: &Principal,
        id: CustomSkillId,
        page: &PageRequest,
    ) -> Result<Page<SkillChange>, SaveError> {
        match self.owned(caller, id).await {
            Err(SaveError::Unknown) => self.once_owned(caller, id).await?,
            owned => drop(owned?),
        }
        self.parts().stores.skills.skill_history(id, page).await.map_err(SaveError::Store)
    }

    /// Checks that a skill was deleted, and was the caller's.
    async fn once_owned(&self, caller: &Principal, id: CustomSkillId) -> Result<(), SaveError> {
        let end = PageRequest { after: None, limit: 2 };
        let page = self.parts().stores.skills.skill_history(id, &end).await.map_err(SaveError::Store)?;
        let is_deleted = page.items.first().is_some_and(|change| change.saved.is_none());
        let last = page.items.into_iter().find_map(|change| change.saved);
        let owner = last.map(|skill| skill.owner_user_id);
        match is_deleted && owner.is_some() && caller.owns(owner.as_ref()) {
            true => Ok(()),
            false => Err(SaveError::Unknown),
        }
    }

    /// Returns a skill that the caller may change. One that they may only see is told apart from one that they may not.
    pub async fn owned(&self, caller: &Principal, id: CustomSkillId) -> Result<CustomSkill, SaveError> {
        let found = self.parts().stores.skills.custom_skill(id).await.map_err(SaveError::Store)?;
        let skill = found.ok_or(SaveError::Unknown)?;
        if caller.owns(Some(&skill.owner_user_id)) {
            return Ok(skill);
        }
        match skill.visibility.is_seen_by(&caller.viewer) {
            true => Err(SaveError::Forbidden("Only its owner and administrators can change a skill.")),
            false => Err(SaveError::Unknown),
        }
    }

    async fn saved(&self, skill: CustomSkill, warnings: Vec<String>) -> Result<Saved, SaveError> {
        let snapshot = self.refresh(Reread::Kept).await.map_err(SaveError::NotServed)?;
        Ok(Saved { skill, warnings, snapshot })
    }
}

/// Returns what somebody would send to save the skill as it is.
fn draft_of(skill: &CustomSkill) -> CustomDraft {
    let team_ids = match &skill.visibility {
        Visibility::Team { team_ids } => team_ids.iter().map(ToString::to_string).collect(),
        Visibility::Global | Visibility::Personal { .. } => Vec::new(),
    };
    CustomDraft {
        name: skill.name.to_string(),
        title: skill.title.clone(),
        description: skill.description.clone(),
        content: skill.content.clone(),
        metadata: skill.metadata.clone(),
        visibility: skill.visibility.as_str().to_owned(),
        team_ids,
        files: skill.files.clone(),
    }
}

fn apply(change: FileChange, files: &mut Vec<CustomFile>) -> Result<(), SaveError> {
    let place = |path: &str| files.iter().position(|file| file.path == path);
    match change {
        FileChange::Remove { path } => {
            let place = place(&path).ok_or(SaveError::NoFile)?;
            files.remove(place);
        }
        FileChange::Put { path, content, is_executable } => match place(&path) {
            Some(place) => {
                files[place].content = content;
                files[place].is_executable = is_executable.unwrap_or(files[place].is_executable);
            }
            None => {
                files.push(CustomFile { path, content, is_executable: is_executable.unwrap_or(false) });
            }
        },
    }
    Ok(())
}

/// Checks a draft, and whether the caller may show it to those it is for.
async fn checked(
    caller: &Principal,
    draft: CustomDraft,
    owner: &artel_model::access::UserId,
) -> Result<(CheckedSkill, Vec<String>), SaveError> {
    let owner = owner.clone();
    // Hashing and reading files takes a while.
    let checked = tokio::task::spawn_blocking(move || check(draft, &owner)).await;
    let checked = checked.unwrap_or_else(|_| Err(DraftError::Invalid(Vec::new())))?;
    match checked.visibility() {
        _ if caller.is_admin() => {}
        Visibility::Personal { .. } => {}
        Visibility::Global => {
            return Err(SaveError::Forbidden("Only administrators can show a skill to everybody."));
        }
        Visibility::Team { team_ids } if team_ids.is_subset(&caller.viewer.teams) => {}
        Visibility::Team { .. } => {
            return Err(SaveError::Forbidden(
                "A skill can only be shown to teams that its author belongs to.",
            ));
        }
    }
    let warnings = checked.warnings().to_vec();
    Ok((checked, warnings))
}

/// Checks that a skill, or the file of it that is changed, is what the caller says it is.
fn matching(expected: &IfMatch, before: &CustomSkill, path: Option<&str>) -> Result<(), SaveError> {
    let file = path.and_then(|path| before.files.iter().find(|file| file.path == path));
    let is_file = || file.is_some_and(|file| expected.names(&file_hash(&file.content).to_string()));
    match expected.allows_revision(before.revision) || is_file() {
        true => Ok(()),
        false => Err(SaveError::Mismatch { actual: before.revision }),
    }
}

fn refused(refused: SaveRefused, expected: &IfMatch) -> SaveError {
    match refused {
        SaveRefused::Exists | SaveRefused::Unknown => SaveError::Unknown,
        SaveRefused::Conflict { actual } if *expected == IfMatch::Any => SaveError::Conflict { actual },
        SaveRefused::Conflict { actual } => SaveError::Mismatch { actual },
        SaveRefused::TooMany => SaveError::TooMany,
    }
}
