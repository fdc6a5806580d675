//! Skills that people saved as tables: every revision stays, and content that stays the same is kept once.

use artel_model::access::UserId;
use artel_model::catalog::{CustomFile, CustomSkill, SkillChange};
use artel_model::id::CustomSkillId;
use artel_model::time::Timestamp;
use artel_store::{Cursor, CustomSkillStore, Page, PageRequest, SaveRefused, StoreError};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::change::Change;
use crate::effort::Effort;
use crate::row::{json, natural, parsed, user_of};
use crate::store::SqliteStore;

#[async_trait]
impl CustomSkillStore for SqliteStore {
    async fn create_skill(
        &self,
        skill: &CustomSkill,
        skills_max: u64,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        let skills_max = i64::try_from(skills_max).unwrap_or(i64::MAX);
        self.write_synced(Create { skill: SkillColumns::of(skill, 1), skills_max }).await
    }

    async fn update_skill(
        &self,
        expected: u64,
        skill: &CustomSkill,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        let skill = SkillColumns::of(skill, expected.saturating_add(1));
        self.write_synced(Update { expected, skill }).await
    }

    async fn delete_skill(
        &self,
        id: CustomSkillId,
        expected: Option<u64>,
        by: &UserId,
        at: Timestamp,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        let delete = Delete { id: id.0.into_bytes(), expected, by: by.to_string(), at: at.as_millis() };
        self.write_synced(delete).await
    }

    async fn custom_skill(&self, id: CustomSkillId) -> Result<Option<CustomSkill>, StoreError> {
        let query = move |connection: &Connection| {
            let mut find = connection.prepare_cached(
                "SELECT changes.key, changes.revision, changes.at, changes.by_user, changes.document \
                 FROM custom_skills JOIN custom_skill_changes AS changes \
                 ON changes.skill = custom_skills.id AND changes.revision = custom_skills.revision \
                 WHERE custom_skills.id = ?1",
            )?;
            let found = find.query_row([id.0.into_bytes()], |row| change(row, id)).optional()?;
            let found = found.map(|found| with_files(connection, found)).transpose()?;
            Ok(found.and_then(|change| change.saved))
        };
        self.readers.read("read a skill", query).await
    }

    async fn custom_skills(&self) -> Result<Vec<(CustomSkillId, u64, String)>, StoreError> {
        let query = |connection: &Connection| {
            let mut list = connection.prepare_cached(
                "SELECT id, revision, content_hash FROM custom_skills ORDER BY created_at, id",
            )?;
            let skill = |row: &Row<'_>| {
                Ok((CustomSkillId(Uuid::from_bytes(row.get(0)?)), natural(row, 1)?, row.get(2)?))
            };
            list.query_map([], skill)?.collect()
        };
        self.readers.read("list skills", query).await
    }

    async fn skill_history(
        &self,
        id: CustomSkillId,
        page: &PageRequest,
    ) -> Result<Page<SkillChange>, StoreError> {
        let after = page.after.as_ref().map(Cursor::place).transpose()?;
        let before = after.map_or(i64::MAX, |(_, place)| i64::try_from(place.as_u128()).unwrap_or(i64::MAX));
        let limit = page.limit;
        let query = move |connection: &Connection| {
            let mut list = connection.prepare_cached(
                "SELECT key, revision, at, by_user, document FROM custom_skill_changes \
                 WHERE skill = ?1 AND revision < ?2 ORDER BY revision DESC LIMIT ?3",
            )?;
            let rows_max = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
            let values = params![id.0.into_bytes(), before, rows_max];
            let found = list.query_map(values, |row| change(row, id))?;
            let changes = found.map(|found| with_files(connection, found?));
            let changes = changes.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(Page::cut(changes, limit, |change| {
                (Timestamp::from_millis(0), Uuid::from_u128(change.revision.into()))
            }))
        };
        self.readers.read("read the history of a skill", query).await
    }
}

/// Reads `key, revision, at, by_user, document`, and returns the key too; files lie elsewhere.
pub(crate) fn change(row: &Row<'_>, id: CustomSkillId) -> rusqlite::Result<(i64, SkillChange)> {
    let is_deleted = row.get_ref(4)? == rusqlite::types::ValueRef::Null;
    let change = SkillChange {
        id,
        revision: natural(row, 1)?,
        at: Timestamp::from_millis(row.get(2)?),
        by: user_of(3, row.get(3)?)?,
        saved: if is_deleted { None } else { Some(parsed(row, 4)?) },
    };
    Ok((row.get(0)?, change))
}

/// A revision never changes, so its files can be read after it.
fn with_files(
    connection: &Connection,
    (key, mut change): (i64, SkillChange),
) -> rusqlite::Result<SkillChange> {
    if let Some(skill) = &mut change.saved {
        let mut list = connection.prepare_cached(
            "SELECT path, content, is_executable FROM custom_skill_files JOIN blobs ON blobs.key = blob \
             WHERE change = ?1 ORDER BY place",
        )?;
        let file = |row: &Row<'_>| {
            Ok(CustomFile { path: row.get(0)?, content: row.get(1)?, is_executable: row.get(2)? })
        };
        skill.files = list.query_map([key], file)?.collect::<rusqlite::Result<_>>()?;
    }
    Ok(change)
}

/// A revision of a skill as it is written.
struct SkillColumns {
    id: [u8; 16],
    revision: u64,
    at: i64,
    by: String,
    created_at: i64,
    content_hash: String,
    document: String,
    files: Vec<FileColumns>,
}

struct FileColumns {
    path: String,
    is_executable: bool,
    hash: [u8; 32],
    content: Vec<u8>,
}

impl SkillColumns {
    fn of(skill: &CustomSkill, revision: u64) -> Self {
        let file = |file: &CustomFile| FileColumns {
            path: file.path.clone(),
            is_executable: file.is_executable,
            hash: Sha256::digest(&file.content).into(),
            content: file.content.clone(),
        };
        let files = skill.files.iter().map(file).collect();
        // The files lie elsewhere, so they are not copied here.
        let bare = CustomSkill { revision, files: Vec::new(), ..skill.clone() };
        Self {
            id: skill.id.0.into_bytes(),
            revision,
            at: skill.updated_at.as_millis(),
            by: skill.updated_by.to_string(),
            created_at: skill.created_at.as_millis(),
            content_hash: skill.content_hash.clone(),
            document: json(&bare),
            files,
        }
    }

    fn effort(&self) -> Effort {
        let bytes = self.files.iter().map(|file| file.content.len()).sum::<usize>();
        Effort::rows(2 + self.files.len() * 2, self.document.len() + bytes)
    }

    fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        let change =
            insert_change(connection, self.id, self.revision, self.at, &self.by, Some(&self.document))?;
        for (place, file) in (0_i64..).zip(&self.files) {
            let mut insert = connection.prepare_cached(
                "INSERT INTO custom_skill_files (change, place, path, is_executable, blob) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let blob = kept_blob(connection, file)?;
            insert.execute(params![change, place, file.path, file.is_executable, blob])?;
        }
        let mut replace = connection.prepare_cached(
            "INSERT OR REPLACE INTO custom_skills (id, revision, content_hash, created_at) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let revision = i64::try_from(self.revision).unwrap_or(i64::MAX);
        replace.execute(params![self.id, revision, self.content_hash, self.created_at])?;
        Ok(())
    }
}

/// Writes an entry of a history, and returns its key.
fn insert_change(
    connection: &Connection,
    id: [u8; 16],
    revision: u64,
    at: i64,
    by: &str,
    document: Option<&str>,
) -> rusqlite::Result<i64> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO custom_skill_changes (skill, revision, at, by_user, document) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let revision = i64::try_from(revision).unwrap_or(i64::MAX);
    insert.insert(params![id, revision, at, by, document])
}

/// Returns the key of a file's content, which is written unless it is there.
fn kept_blob(connection: &Connection, file: &FileColumns) -> rusqlite::Result<i64> {
    let mut find = connection.prepare_cached("SELECT key FROM blobs WHERE hash = ?1")?;
    if let Some(key) = find.query_row([file.hash], |row| row.get(0)).optional()? {
        return Ok(key);
    }
    let mut insert = connection.prepare_cached("INSERT INTO blobs (hash, content) VALUES (?1, ?2)")?;
    insert.insert(params![file.hash, file.content])
}

/// Returns the last revision of a skill that was not deleted.
fn last_revision(connection: &Connection, id: [u8; 16]) -> rusqlite::Result<Option<u64>> {
    let mut find = connection.prepare_cached("SELECT revision FROM custom_skills WHERE id = ?1")?;
    find.query_row([id], |row| natural(row, 0)).optional()
}

/// Keeps a skill.
struct Create {
    skill: SkillColumns,
    skills_max: i64,
}

impl Change for Create {
    type Answer = Result<(), SaveRefused>;
    const WHAT: &'static str = "keep a skill";

    fn effort(&self) -> Effort {
        self.skill.effort()
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer> {
        let mut find = connection.prepare_cached("SELECT 1 FROM custom_skill_changes WHERE skill = ?1")?;
        if find.exists([self.skill.id])? {
            return Ok(Err(SaveRefused::Exists));
        }
        let mut count = connection.prepare_cached("SELECT count(*) FROM custom_skills")?;
        if count.query_row([], |row| row.get::<_, i64>(0))? >= self.skills_max {
            return Ok(Err(SaveRefused::TooMany));
        }
        self.skill.insert(connection).map(Ok)
    }
}

/// Keeps another revision of a skill.
struct Update {
    expected: u64,
    skill: SkillColumns,
}

impl Change for Update {
    type Answer = Result<(), SaveRefused>;
    const WHAT: &'static str = "save a skill";

    fn effort(&self) -> Effort {
        self.skill.effort()
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer> {
        match last_revision(connection, self.skill.id)? {
            None => Ok(Err(SaveRefused::Unknown)),
            Some(actual) if actual != self.expected => Ok(Err(SaveRefused::Conflict { actual })),
            Some(_) => self.skill.insert(connection).map(Ok),
        }
    }
}

/// Removes a skill, and writes that into its history.
struct Delete {
    id: [u8; 16],
    expected: Option<u64>,
    by: String,
    at: i64,
}

impl Change for Delete {
    type Answer = Result<(), SaveRefused>;
    const WHAT: &'static str = "delete a skill";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer> {
        let Some(actual) = last_revision(connection, self.id)? else {
            return Ok(Err(SaveRefused::Unknown));
        };
        if self.expected.is_some_and(|expected| expected != actual) {
            return Ok(Err(SaveRefused::Conflict { actual }));
        }
        insert_change(connection, self.id, actual + 1, self.at, &self.by, None)?;
        connection.prepare_cached("DELETE FROM custom_skills WHERE id = ?1")?.execute([self.id])?;
        Ok(Ok(()))
    }
}
