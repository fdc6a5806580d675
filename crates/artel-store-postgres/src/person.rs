//! What an identity provider told of people, as a table.

use artel_model::access::{KnownTeams, UserId};
use artel_model::time::Timestamp;
use artel_store::{PersonStore, StoreError};
use async_trait::async_trait;

use crate::row::{column, document, json};
use crate::statement::{COUNTED, Statement};
use crate::store::PostgresStore;

const TEAMS: &str = "remembering the teams of a person";

#[async_trait]
impl PersonStore for PostgresStore {
    async fn remember_teams(&self, user: &UserId, known: &KnownTeams) -> Result<(), StoreError> {
        let upsert = "WITH changed AS (INSERT INTO people AS kept (id, told_at, teams) VALUES ($1, $2, $3) \
            ON CONFLICT (id) DO UPDATE SET told_at = excluded.told_at, teams = excluded.teams \
            WHERE excluded.told_at >= kept.told_at RETURNING kept.id)";
        let statement = Statement::new(upsert)
            .then(COUNTED)
            .with(user.as_str())
            .with(known.at.as_millis())
            .with(json(&known.teams));
        self.write_synced(TEAMS, &statement).await.map(drop)
    }

    async fn known_teams(&self, user: &UserId) -> Result<Option<KnownTeams>, StoreError> {
        let statement = Statement::new("SELECT teams, told_at FROM people WHERE id = $1");
        let answer = self.read(TEAMS, &statement.with(user.as_str())).await?;
        let Some(row) = answer.rows.first() else { return Ok(None) };
        let at = Timestamp::from_millis(column(TEAMS, row, 1)?);
        Ok(Some(KnownTeams { teams: document(TEAMS, row, 0)?, at }))
    }
}
