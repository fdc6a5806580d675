//! The trails of skills as a table.

use artel_model::access::UserId;
use artel_model::catalog::{TrailEntry, TrailKind};
use artel_model::time::Timestamp;
use artel_store::{Page, PageRequest, StoreError, TrailFilter, TrailStore};
use async_trait::async_trait;

use crate::id::Id;
use crate::row::{after, bigint, count, document, fitting, json, rows_of};
use crate::statement::{COUNTED, Statement};
use crate::store::PostgresStore;

const READING: &str = "reading the trail of a skill";
const PRUNING: &str = "removing old trails";

/// Entries that are removed at once, so that no statement takes long.
const PRUNED_MAX: i64 = 1000;

const ADD: &str = "WITH changed AS (\
    INSERT INTO trail (id, at, skill_id, kind, about_user, private_to, document) \
    SELECT * FROM UNNEST($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING RETURNING id)";

/// The oldest go first: they are those that are too old, and those that are too many.
const PRUNE: &str = "WITH doomed AS (\
        SELECT id FROM trail WHERE about_user IS NOT NULL AND (at < $1 OR $2 < (\
            SELECT count(*) FROM trail WHERE about_user IS NOT NULL\
        )) ORDER BY at, id LIMIT greatest(least($3, (\
            SELECT greatest(count(*) - $2, count(*) FILTER (WHERE at < $1)) FROM trail WHERE about_user IS NOT NULL\
        )), 0)\
    ), changed AS (DELETE FROM trail USING doomed WHERE trail.id = doomed.id RETURNING trail.id), \
    counted AS (UPDATE write_counts SET writes = writes + 1 \
        WHERE slot = pg_backend_pid() % 64 AND EXISTS (SELECT FROM changed)) \
    SELECT count(*) FROM changed";

#[async_trait]
impl TrailStore for PostgresStore {
    async fn add_trail(&self, entries: &[TrailEntry]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let all = || entries.iter();
        let user = |user: &Option<UserId>| user.as_ref().map(|user| user.as_str().to_owned());
        let statement = Statement::new(ADD)
            .then(COUNTED)
            .with(all().map(|entry| Id(entry.id)).collect::<Vec<_>>())
            .with(all().map(|entry| entry.at.as_millis()).collect::<Vec<_>>())
            .with(all().map(|entry| entry.skill_id.as_bytes()).collect::<Vec<_>>())
            .with(all().map(|entry| entry.event.kind().as_str()).collect::<Vec<_>>())
            .with(all().map(|entry| user(&entry.user)).collect::<Vec<_>>())
            .with(all().map(|entry| user(&entry.private_to)).collect::<Vec<_>>())
            .with(all().map(json::<TrailEntry>).collect::<Vec<_>>());
        self.write("writing the trail of a skill", &statement).await.map(drop)
    }

    async fn trail(&self, filter: &TrailFilter, page: &PageRequest) -> Result<Page<TrailEntry>, StoreError> {
        let skill = filter.skill_id.as_bytes();
        let statement = Statement::new("SELECT document FROM trail WHERE sha256(skill_id) = sha256(");
        let statement = statement.place(skill).then(") AND skill_id = ").place(skill);
        let statement = fitting(statement, " AND kind = ", filter.kind.map(TrailKind::as_str));
        let statement = nobody_or(statement, " AND coalesce(about_user = ", filter.about.as_ref());
        let statement = nobody_or(statement, " AND coalesce(private_to = ", filter.reader.as_ref());
        let statement = after(statement, " AND (at, id)", page.after.as_ref())?;
        let statement = statement.then(" ORDER BY at DESC, id DESC LIMIT ").place(rows_of(page));
        let answer = self.read(READING, &statement).await?;
        let entries = answer.rows.iter().map(|row| document(READING, row, 0));
        let entries = entries.collect::<Result<Vec<TrailEntry>, _>>()?;
        Ok(Page::cut(entries, page.limit, |entry| (entry.at, entry.id)))
    }

    async fn prune_trail(&self, before: Timestamp, entries_max: u64) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let statement =
                Statement::new(PRUNE).with(before.as_millis()).with(bigint(entries_max)).with(PRUNED_MAX);
            let answer = self.write(PRUNING, &statement).await?;
            let pruned = answer.rows.first().map_or(Ok(0), |row| count(PRUNING, row, 0))?;
            removed += pruned;
            if pruned == 0 {
                return Ok(removed);
            }
        }
    }
}

/// Keeps what has this user in a column, or nobody.
fn nobody_or(statement: Statement, is: &'static str, user: Option<&UserId>) -> Statement {
    match user {
        Some(user) => statement.then(is).place(user.as_str()).then(", true)"),
        None => statement,
    }
}
