//! API keys and the hash of the administrator's token as tables.

use artel_model::access::UserId;
use artel_model::catalog::ApiKey;
use artel_model::time::Timestamp;
use artel_store::{KeyStore, Page, PageRequest, StoreError};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use crate::row::{
    bigint, column, corrupt, document, fitting, json, numbered_after, numbered_page, rows_of, text,
};
use crate::statement::{COUNTED, Statement};
use crate::store::{PostgresStore, Sent};

const READING: &str = "reading a key";
const CHANGING: &str = "changing a key";
const TOKEN: &str = "keeping the hash of the administrator's token";

#[async_trait]
impl KeyStore for PostgresStore {
    async fn create_key(&self, key: &ApiKey, keys_max: u64) -> Result<bool, StoreError> {
        let what = "keeping a key";
        let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
        let statement = Statement::new("SELECT is_kept FROM create_key($1, $2, $3, $4, $5, $6, $7, $8)")
            .with(key.key_id.as_bytes())
            .with(key.owner_user_id.as_str())
            .with(key.created_at.as_millis())
            .with(millis(key.expires_at))
            .with(millis(key.revoked_at))
            .with(millis(key.last_used_at))
            .with(json(key))
            .with(bigint(keys_max));
        let answer = self.write_synced(what, &statement).await?;
        let row = answer.rows.first().ok_or_else(|| corrupt(what, "no answer"))?;
        let is_kept: bool = column(what, row, 0)?;
        // It may have been kept before the connection was lost.
        Ok(is_kept || (answer.sent == Sent::Twice && self.key(&key.key_id).await?.as_ref() == Some(key)))
    }

    async fn key(&self, key_id: &str) -> Result<Option<ApiKey>, StoreError> {
        let statement =
            Statement::new("SELECT document, revoked_at, last_used_at FROM api_keys WHERE id = $1");
        let answer = self.read(READING, &statement.with(key_id.as_bytes())).await?;
        answer.rows.first().map(|row| api_key(row, 0)).transpose()
    }

    async fn keys(&self, owner: Option<&UserId>, page: &PageRequest) -> Result<Page<ApiKey>, StoreError> {
        let statement = Statement::new(
            "SELECT created_at, place, document, revoked_at, last_used_at FROM api_keys WHERE true",
        );
        let statement = fitting(statement, " AND owner_user = ", owner.map(UserId::as_str));
        let statement = numbered_after(statement, " AND (created_at, place)", page)?;
        let statement = statement.then(" ORDER BY created_at DESC, place DESC LIMIT ").place(rows_of(page));
        let answer = self.read("listing keys", &statement).await?;
        numbered_page("listing keys", &answer.rows, page, |row| api_key(row, 2))
    }

    async fn revoke_key(&self, key_id: &str, at: Timestamp) -> Result<bool, StoreError> {
        let update = "WITH changed AS (\
            UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1 RETURNING place)";
        let statement = Statement::new(update).then(COUNTED).with(key_id.as_bytes()).with(at.as_millis());
        Ok(!self.write_synced(CHANGING, &statement).await?.rows.is_empty())
    }

    async fn touch_key(&self, key_id: &str, at: Timestamp) -> Result<(), StoreError> {
        let update = "WITH changed AS (\
            UPDATE api_keys SET last_used_at = GREATEST(last_used_at, $2) WHERE id = $1 RETURNING place)";
        let statement = Statement::new(update).then(COUNTED).with(key_id.as_bytes()).with(at.as_millis());
        self.write(CHANGING, &statement).await.map(drop)
    }

    async fn admin_token_hash(&self) -> Result<Option<String>, StoreError> {
        let answer = self.read(TOKEN, &Statement::new("SELECT hash FROM admin_token")).await?;
        answer.rows.first().map(|row| text(TOKEN, row, 0)).transpose()
    }

    async fn set_admin_token_hash(&self, hash: &str) -> Result<(), StoreError> {
        let upsert = "WITH changed AS (INSERT INTO admin_token (key, hash) VALUES (true, $1) \
            ON CONFLICT (key) DO UPDATE SET hash = excluded.hash RETURNING key)";
        let statement = Statement::new(upsert).then(COUNTED).with(hash.as_bytes());
        self.write_synced(TOKEN, &statement).await.map(drop)
    }

    async fn first_admin_token_hash(&self, hash: &str) -> Result<String, StoreError> {
        let insert = "WITH changed AS (INSERT INTO admin_token (key, hash) VALUES (true, $1) \
            ON CONFLICT DO NOTHING RETURNING key)";
        let statement = Statement::new(insert).then(COUNTED).with(hash.as_bytes());
        self.write_synced(TOKEN, &statement).await?;
        self.admin_token_hash().await?.ok_or_else(|| corrupt(TOKEN, "none is kept"))
    }
}

/// Reads `document, revoked_at, last_used_at` from a column on; what happened to the key later is not in its document.
fn api_key(row: &PgRow, first: usize) -> Result<ApiKey, StoreError> {
    let key: ApiKey = document(READING, row, first)?;
    let moment = |index: usize| column::<Option<i64>>(READING, row, index);
    Ok(ApiKey {
        revoked_at: moment(first + 1)?.map(Timestamp::from_millis),
        last_used_at: moment(first + 2)?.map(Timestamp::from_millis),
        ..key
    })
}
