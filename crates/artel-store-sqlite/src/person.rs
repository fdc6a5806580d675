//! What an identity provider told of people, as a table.

use artel_model::access::{KnownTeams, UserId};
use artel_model::time::Timestamp;
use artel_store::{PersonStore, StoreError};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::change::Change;
use crate::effort::Effort;
use crate::row::{json, parsed};
use crate::store::SqliteStore;

#[async_trait]
impl PersonStore for SqliteStore {
    async fn remember_teams(&self, user: &UserId, known: &KnownTeams) -> Result<(), StoreError> {
        let told =
            RememberTeams { user: user.to_string(), at: known.at.as_millis(), teams: json(&known.teams) };
        self.write_synced(told).await
    }

    async fn known_teams(&self, user: &UserId) -> Result<Option<KnownTeams>, StoreError> {
        let user = user.to_string();
        let query = move |connection: &Connection| {
            let sql = "SELECT teams, told_at FROM people WHERE id = ?1";
            connection.prepare_cached(sql)?.query_row([user], known_teams).optional()
        };
        self.readers.read("read the teams of a person", query).await
    }
}

fn known_teams(row: &Row<'_>) -> rusqlite::Result<KnownTeams> {
    Ok(KnownTeams { teams: parsed(row, 0)?, at: Timestamp::from_millis(row.get(1)?) })
}

/// Remembers the teams of a person.
struct RememberTeams {
    user: String,
    at: i64,
    teams: String,
}

impl Change for RememberTeams {
    type Answer = ();
    const WHAT: &'static str = "remember the teams of a person";

    fn effort(&self) -> Effort {
        Effort::rows(1, self.teams.len())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO people (id, told_at, teams) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE \
                   SET told_at = excluded.told_at, teams = excluded.teams WHERE excluded.told_at >= told_at";
        connection.prepare_cached(sql)?.execute(params![self.user, self.at, self.teams]).map(drop)
    }
}
