//! API keys and the hash of the administrator's token, in memory.

use std::collections::BTreeMap;

use artel_model::access::UserId;
use artel_model::catalog::ApiKey;
use artel_model::time::Timestamp;
use async_trait::async_trait;
use uuid::Uuid;

use super::listing::page_of;
use super::store::MemoryStore;
use crate::error::StoreError;
use crate::key::KeyStore;
use crate::page::{Page, PageRequest};

/// All keys in the order in which they came, and the token's hash.
#[derive(Debug, Default)]
pub(super) struct KeyTable {
    keys: BTreeMap<u64, ApiKey>,
    admin_token_hash: Option<String>,
}

impl KeyTable {
    fn key(&mut self, key_id: &str) -> Option<&mut ApiKey> {
        self.keys.values_mut().find(|key| key.key_id == key_id)
    }

    fn create(&mut self, key: &ApiKey, keys_max: u64) -> bool {
        let theirs = self.keys.values().filter(|kept| kept.owner_user_id == key.owner_user_id);
        let good = theirs.filter(|kept| kept.is_good(key.created_at)).count() as u64;
        let is_free = self.key(&key.key_id).is_none();
        if is_free && good < keys_max {
            self.keys.insert(self.keys.len() as u64 + 1, key.clone());
        }
        is_free && good < keys_max
    }
}

#[async_trait]
impl KeyStore for MemoryStore {
    async fn create_key(&self, key: &ApiKey, keys_max: u64) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let is_kept = tables.keys_of_users.create(key, keys_max);
        tables.version += u64::from(is_kept);
        Ok(is_kept)
    }

    async fn key(&self, key_id: &str) -> Result<Option<ApiKey>, StoreError> {
        Ok(self.tables().keys_of_users.key(key_id).cloned())
    }

    async fn keys(&self, owner: Option<&UserId>, page: &PageRequest) -> Result<Page<ApiKey>, StoreError> {
        let tables = self.tables();
        let fits = |key: &ApiKey| owner.is_none_or(|owner| *owner == key.owner_user_id);
        let keys = tables.keys_of_users.keys.iter().filter(|(_, key)| fits(key));
        let found =
            page_of(keys, page, |(number, key)| (key.created_at, Uuid::from_u128((**number).into())))?;
        let items = found.items.into_iter().map(|(_, key)| key.clone()).collect();
        Ok(Page { items, next: found.next })
    }

    async fn revoke_key(&self, key_id: &str, at: Timestamp) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let Some(key) = tables.keys_of_users.key(key_id) else { return Ok(false) };
        key.revoked_at.get_or_insert(at);
        tables.version += 1;
        Ok(true)
    }

    async fn touch_key(&self, key_id: &str, at: Timestamp) -> Result<(), StoreError> {
        let mut tables = self.tables();
        if let Some(key) = tables.keys_of_users.key(key_id) {
            key.last_used_at = key.last_used_at.max(Some(at));
            tables.version += 1;
        }
        Ok(())
    }

    async fn admin_token_hash(&self) -> Result<Option<String>, StoreError> {
        Ok(self.tables().keys_of_users.admin_token_hash.clone())
    }

    async fn set_admin_token_hash(&self, hash: &str) -> Result<(), StoreError> {
        let mut tables = self.tables();
        tables.keys_of_users.admin_token_hash = Some(hash.to_owned());
        tables.version += 1;
        Ok(())
    }

    async fn first_admin_token_hash(&self, hash: &str) -> Result<String, StoreError> {
        let mut tables = self.tables();
        tables.version += u64::from(tables.keys_of_users.admin_token_hash.is_none());
        Ok(tables.keys_of_users.admin_token_hash.get_or_insert_with(|| hash.to_owned()).clone())
    }
}
