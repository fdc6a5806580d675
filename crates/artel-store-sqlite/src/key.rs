//! API keys and the hash of the administrator's token as tables.

use artel_model::access::UserId;
use artel_model::catalog::ApiKey;
use artel_model::time::Timestamp;
use artel_store::{KeyStore, Page, PageRequest, StoreError};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::change::Change;
use crate::effort::Effort;
use crate::listing::{Conditions, Numbered, numbered_place};
use crate::row::{json, parsed};
use crate::store::SqliteStore;

/// The columns that [`api_key`] reads.
pub(crate) const KEY_COLUMNS: &str = "document, revoked_at, last_used_at";
const TOKEN: &str = "SELECT hash FROM admin_token";

#[async_trait]
impl KeyStore for SqliteStore {
    async fn create_key(&self, key: &ApiKey, keys_max: u64) -> Result<bool, StoreError> {
        let keys_max = i64::try_from(keys_max).unwrap_or(i64::MAX);
        self.write_synced(Create { key: key.clone(), document: json(key), keys_max }).await
    }

    async fn key(&self, key_id: &str) -> Result<Option<ApiKey>, StoreError> {
        let key_id = key_id.to_owned();
        let query = move |connection: &Connection| {
            let sql = format!("SELECT {KEY_COLUMNS} FROM api_keys WHERE id = ?1");
            connection.prepare_cached(&sql)?.query_row([key_id], api_key).optional()
        };
        self.readers.read("read a key", query).await
    }

    async fn keys(&self, owner: Option<&UserId>, page: &PageRequest) -> Result<Page<ApiKey>, StoreError> {
        let (after, limit) = (numbered_place(page)?, page.limit);
        let owner = owner.map(UserId::to_string);
        let query = move |connection: &Connection| {
            let mut conditions = Conditions::default();
            conditions.text("owner_user = ?", owner.as_deref());
            let list = Numbered { columns: KEY_COLUMNS, table: "api_keys", time: "created_at" };
            list.page(connection, conditions, after, limit, api_key)
        };
        self.readers.read("list keys", query).await
    }

    async fn revoke_key(&self, key_id: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.write_synced(Mark { sql: REVOKE, key_id: key_id.to_owned(), at: at.as_millis() }).await
    }

    async fn touch_key(&self, key_id: &str, at: Timestamp) -> Result<(), StoreError> {
        let mark = Mark { sql: TOUCH, key_id: key_id.to_owned(), at: at.as_millis() };
        self.writer.write(mark).await.map(drop)
    }

    async fn admin_token_hash(&self) -> Result<Option<String>, StoreError> {
        let query = |connection: &Connection| {
            connection.prepare_cached(TOKEN)?.query_row([], |row| row.get(0)).optional()
        };
        self.readers.read("read the hash of the administrator's token", query).await
    }

    async fn set_admin_token_hash(&self, hash: &str) -> Result<(), StoreError> {
        self.write_synced(SetToken { sql: REPLACE_TOKEN, hash: hash.to_owned() }).await.map(drop)
    }

    async fn first_admin_token_hash(&self, hash: &str) -> Result<String, StoreError> {
        self.write_synced(SetToken { sql: FIRST_TOKEN, hash: hash.to_owned() }).await
    }
}

/// Reads [`KEY_COLUMNS`]; what happened to the key later is not in its document.
pub(crate) fn api_key(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let key: ApiKey = parsed(row, 0)?;
    let moment = |column: usize| row.get::<_, Option<i64>>(column);
    Ok(ApiKey {
        revoked_at: moment(1)?.map(Timestamp::from_millis),
        last_used_at: moment(2)?.map(Timestamp::from_millis),
        ..key
    })
}

/// Keeps a key.
struct Create {
    key: ApiKey,
    document: String,
    keys_max: i64,
}

impl Change for Create {
    /// Whether it is kept.
    type Answer = bool;
    const WHAT: &'static str = "keep a key";

    fn effort(&self) -> Effort {
        Effort::rows(1, self.document.len())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let (key, owner) = (&self.key, self.key.owner_user_id.as_str());
        let created_at = key.created_at.as_millis();
        let mut count = connection.prepare_cached(
            "SELECT count(*) FROM api_keys WHERE owner_user = ?1 AND revoked_at IS NULL \
             AND (expires_at IS NULL OR expires_at > ?2)",
        )?;
        if count.query_row(params![owner, created_at], |row| row.get::<_, i64>(0))? >= self.keys_max {
            return Ok(false);
        }
        let mut insert = connection.prepare_cached(
            "INSERT INTO api_keys (id, owner_user, created_at, expires_at, revoked_at, last_used_at, document) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING",
        )?;
        let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
        let rows = insert.execute(params![
            key.key_id,
            owner,
            created_at,
            millis(key.expires_at),
            millis(key.revoked_at),
            millis(key.last_used_at),
            self.document,
        ])?;
        Ok(rows > 0)
    }
}

const REVOKE: &str = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1";
const TOUCH: &str = "UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, ?2), ?2) WHERE id = ?1";

/// Writes a moment of a key's life.
struct Mark {
    sql: &'static str,
    key_id: String,
    at: i64,
}

impl Change for Mark {
    /// Whether there is such a key.
    type Answer = bool;
    const WHAT: &'static str = "change a key";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<bool> {
        Ok(connection.prepare_cached(self.sql)?.execute(params![self.key_id, self.at])? > 0)
    }
}

const FIRST_TOKEN: &str = "INSERT INTO admin_token (key, hash) VALUES (1, ?1) ON CONFLICT DO NOTHING";
const REPLACE_TOKEN: &str =
    "INSERT INTO admin_token (key, hash) VALUES (1, ?1) ON CONFLICT (key) DO UPDATE SET hash = excluded.hash";

/// Keeps the hash of the administrator's token.
struct SetToken {
    sql: &'static str,
    hash: String,
}

impl Change for SetToken {
    /// The one that is kept.
    type Answer = String;
    const WHAT: &'static str = "keep the hash of the administrator's token";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<String> {
        connection.prepare_cached(self.sql)?.execute([&self.hash])?;
        connection.prepare_cached(TOKEN)?.query_row([], |row| row.get(0))
    }
}
