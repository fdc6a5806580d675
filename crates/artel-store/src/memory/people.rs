//! What an identity provider told of people, in memory.

use artel_model::access::{KnownTeams, UserId};
use async_trait::async_trait;

use super::store::MemoryStore;
use crate::error::StoreError;
use crate::person::PersonStore;

#[async_trait]
impl PersonStore for MemoryStore {
    async fn remember_teams(&self, user: &UserId, known: &KnownTeams) -> Result<(), StoreError> {
        let mut tables = self.tables();
        if tables.people.get(user).is_none_or(|before| before.at <= known.at) {
            tables.people.insert(user.clone(), known.clone());
            tables.version += 1;
        }
        Ok(())
    }

    async fn known_teams(&self, user: &UserId) -> Result<Option<KnownTeams>, StoreError> {
        Ok(self.tables().people.get(user).cloned())
    }
}
