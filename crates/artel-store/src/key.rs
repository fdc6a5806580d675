//! API keys and the token of the first administrator; only their hashes.

use artel_model::access::UserId;
use artel_model::catalog::ApiKey;
use artel_model::time::Timestamp;
use async_trait::async_trait;

use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// Keys. All but the time of their last use survives a power cut when the answer comes.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Keeps a key; says whether its id was free and its owner has fewer than `keys_max` that are good at the time it is
    /// made. Those that were revoked or expired do not count, so that keys can be changed for ever.
    async fn create_key(&self, key: &ApiKey, keys_max: u64) -> Result<bool, StoreError>;

    /// Returns a key by its public part, also when it is not good any more.
    async fn key(&self, key_id: &str) -> Result<Option<ApiKey>, StoreError>;

    /// Returns the keys of one owner, or of all: the last made first, and of those made at the same time the last kept.
    async fn keys(&self, owner: Option<&UserId>, page: &PageRequest) -> Result<Page<ApiKey>, StoreError>;

    /// Revokes a key; says whether there is one. One that was revoked stays so since then.
    async fn revoke_key(&self, key_id: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Remembers that a key was used; an earlier use is no news.
    async fn touch_key(&self, key_id: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Returns the hash of the administrator's token.
    async fn admin_token_hash(&self) -> Result<Option<String>, StoreError>;

    /// Keeps the hash of the administrator's token, instead of the one before.
    async fn set_admin_token_hash(&self, hash: &str) -> Result<(), StoreError>;

    /// Keeps it only if there is none, and returns the one that is kept: of several who start at once, one wins.
    async fn first_admin_token_hash(&self, hash: &str) -> Result<String, StoreError>;
}
