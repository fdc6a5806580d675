//! What an identity provider told of people when they signed in.

use artel_model::access::{KnownTeams, UserId};
use async_trait::async_trait;

use crate::error::StoreError;

/// People whom an identity provider knows.
#[async_trait]
pub trait PersonStore: Send + Sync {
    /// Remembers the teams of a user, unless something later is known. What is remembered survives a power cut when the
    /// answer comes.
    async fn remember_teams(&self, user: &UserId, known: &KnownTeams) -> Result<(), StoreError>;

    /// Returns the teams of a user, as they were last told; nothing for a user whom no provider told of.
    async fn known_teams(&self, user: &UserId) -> Result<Option<KnownTeams>, StoreError>;
}
