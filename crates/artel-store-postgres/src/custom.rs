//! Skills that people saved as tables: every revision stays, and content that stays the same is kept once.

use artel_model::access::UserId;
use artel_model::catalog::{CustomFile, CustomSkill, SkillChange};
use artel_model::id::CustomSkillId;
use artel_model::time::Timestamp;
use artel_store::{Cursor, CustomSkillStore, Page, PageRequest, SaveRefused, StoreError};
use async_trait::async_trait;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::id::Id;
use crate::row::{bigint, column, corrupt, count, document, json, parsed, rows_of, text};
use crate::statement::Statement;
use crate::store::{Answer, PostgresStore, Sent};

const READING: &str = "reading a skill";
const SAVING: &str = "saving a skill";
const DELETING: &str = "deleting a skill";

const CREATE: &str = "SELECT refused, actual FROM create_skill($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
const UPDATE: &str = "SELECT refused, actual FROM update_skill($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

#[async_trait]
impl CustomSkillStore for PostgresStore {
    async fn create_skill(
        &self,
        skill: &CustomSkill,
        skills_max: u64,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        let statement = with_skill(Statement::new(CREATE), skill, 1).with(bigint(skills_max));
        let answer = self.write_synced(SAVING, &statement).await?;
        match refusal(SAVING, &answer)? {
            Err(SaveRefused::Exists) if self.was_saved(&answer, skill, 1).await? => Ok(Ok(())),
            refused => Ok(refused),
        }
    }

    async fn update_skill(
        &self,
        expected: u64,
        skill: &CustomSkill,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        let revision = expected.saturating_add(1);
        let statement = with_skill(Statement::new(UPDATE), skill, revision).with(bigint(expected));
        let answer = self.write_synced(SAVING, &statement).await?;
        match refusal(SAVING, &answer)? {
            Err(SaveRefused::Conflict { .. }) if self.was_saved(&answer, skill, revision).await? => {
                Ok(Ok(()))
            }
            refused => Ok(refused),
        }
    }

    async fn delete_skill(
        &self,
        id: CustomSkillId,
        expected: Option<u64>,
        by: &UserId,
        at: Timestamp,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        let statement = Statement::new("SELECT refused, actual FROM delete_skill($1, $2, $3, $4)")
            .with(Id(id.0))
            .with(at.as_millis())
            .with(by.as_str())
            .with(expected.map(bigint));
        let answer = self.write_synced(DELETING, &statement).await?;
        let refused = refusal(DELETING, &answer)?;
        if answer.sent == Sent::Twice && refused == Err(SaveRefused::Unknown) {
            let last = self.skill_history(id, &PageRequest { after: None, limit: 1 }).await?;
            let is_ours =
                |change: &SkillChange| change.saved.is_none() && change.by == *by && change.at == at;
            return Ok(if last.items.first().is_some_and(is_ours) { Ok(()) } else { refused });
        }
        Ok(refused)
    }

    async fn custom_skill(&self, id: CustomSkillId) -> Result<Option<CustomSkill>, StoreError> {
        let statement = Statement::new(
            "SELECT changes.revision, changes.at, changes.by_user, changes.document \
             FROM custom_skills JOIN custom_skill_changes AS changes \
             ON changes.skill = custom_skills.id AND changes.revision = custom_skills.revision \
             WHERE custom_skills.id = $1",
        );
        let answer = self.read(READING, &statement.with(Id(id.0))).await?;
        let changes = self.changes(id, &answer.rows).await?;
        Ok(changes.into_iter().next().and_then(|change| change.saved))
    }

    async fn custom_skills(&self) -> Result<Vec<(CustomSkillId, u64, String)>, StoreError> {
        let what = "listing skills";
        let list = "SELECT id::text, revision, content_hash FROM custom_skills ORDER BY created_at, id";
        let answer = self.read(what, &Statement::new(list)).await?;
        let skill = |row| Ok((parsed(what, row, 0)?, count(what, row, 1)?, text(what, row, 2)?));
        answer.rows.iter().map(skill).collect()
    }

    async fn skill_history(
        &self,
        id: CustomSkillId,
        page: &PageRequest,
    ) -> Result<Page<SkillChange>, StoreError> {
        let after = page.after.as_ref().map(Cursor::place).transpose()?;
        let before = after.map_or(i64::MAX, |(_, place)| i64::try_from(place.as_u128()).unwrap_or(i64::MAX));
        let statement = Statement::new(
            "SELECT revision, at, by_user, document FROM custom_skill_changes \
             WHERE skill = $1 AND revision < $2 ORDER BY revision DESC LIMIT $3",
        );
        let statement = statement.with(Id(id.0)).with(before).with(rows_of(page));
        let answer = self.read(READING, &statement).await?;
        let changes = self.changes(id, &answer.rows).await?;
        Ok(Page::cut(changes, page.limit, |change| {
            (Timestamp::from_millis(0), Uuid::from_u128(change.revision.into()))
        }))
    }
}

impl PostgresStore {
    /// Reads changes with their files. A revision never changes, so its files can be read after it.
    async fn changes(&self, id: CustomSkillId, rows: &[PgRow]) -> Result<Vec<SkillChange>, StoreError> {
        let mut changes = rows.iter().map(|row| change(id, row)).collect::<Result<Vec<_>, _>>()?;
        let revisions: Vec<i64> = changes.iter().map(|change| bigint(change.revision)).collect();
        let statement = Statement::new(
            "SELECT revision, path, is_executable, content FROM custom_skill_files \
             JOIN blobs ON blobs.hash = custom_skill_files.blob \
             WHERE skill = $1 AND revision = ANY($2) ORDER BY revision, place",
        );
        let answer = self.read(READING, &statement.with(Id(id.0)).with(revisions)).await?;
        for row in &answer.rows {
            let revision = count(READING, row, 0)?;
            let file = CustomFile {
                path: text(READING, row, 1)?,
                is_executable: column(READING, row, 2)?,
                content: column(READING, row, 3)?,
            };
            let of_it = changes.iter_mut().find(|change| change.revision == revision);
            if let Some(saved) = of_it.and_then(|change| change.saved.as_mut()) {
                saved.files.push(file);
            }
        }
        Ok(changes)
    }

    /// Says whether a skill was saved before the connection was lost.
    async fn was_saved(
        &self,
        answer: &Answer,
        skill: &CustomSkill,
        revision: u64,
    ) -> Result<bool, StoreError> {
        if answer.sent == Sent::Once {
            return Ok(false);
        }
        let kept = self.custom_skill(skill.id).await?;
        Ok(kept == Some(CustomSkill { revision, ..skill.clone() }))
    }
}

/// Adds a revision of a skill.
fn with_skill(statement: Statement, skill: &CustomSkill, revision: u64) -> Statement {
    // The files lie elsewhere, so they are not copied here.
    let bare = CustomSkill { revision, files: Vec::new(), ..skill.clone() };
    let files = || skill.files.iter();
    statement
        .with(Id(skill.id.0))
        .with(skill.updated_at.as_millis())
        .with(skill.updated_by.as_str())
        .with(skill.created_at.as_millis())
        .with(skill.content_hash.as_bytes())
        .with(json(&bare))
        .with(files().map(|file| file.path.as_bytes()).collect::<Vec<_>>())
        .with(files().map(|file| file.is_executable).collect::<Vec<_>>())
        .with(files().map(|file| file.content.as_slice()).collect::<Vec<_>>())
}

/// Reads `refused, actual`.
fn refusal(what: &str, answer: &Answer) -> Result<Result<(), SaveRefused>, StoreError> {
    let row = answer.rows.first().ok_or_else(|| corrupt(what, "no answer"))?;
    Ok(Err(match column::<Option<&str>>(what, row, 0)? {
        None => return Ok(Ok(())),
        Some("exists") => SaveRefused::Exists,
        Some("unknown") => SaveRefused::Unknown,
        Some("too_many") => SaveRefused::TooMany,
        Some("conflict") => SaveRefused::Conflict { actual: count(what, row, 1)? },
        Some(other) => return Err(corrupt(what, &format!("`{other}` is no reason"))),
    }))
}

/// Reads `revision, at, by_user, document`.
fn change(id: CustomSkillId, row: &PgRow) -> Result<SkillChange, StoreError> {
    let is_deleted = column::<Option<&str>>(READING, row, 3)?.is_none();
    Ok(SkillChange {
        id,
        revision: count(READING, row, 0)?,
        at: Timestamp::from_millis(column(READING, row, 1)?),
        by: parsed(READING, row, 2)?,
        saved: if is_deleted { None } else { Some(document(READING, row, 3)?) },
    })
}
