//! The keys in a store, without a server.

use artel_engine::Clock;
use artel_model::access::WeakToken;
use artel_server::{Authenticator, KeyDesk, Stores, fresh_admin_token};

use super::foundation::stores;
use super::store::Store;
use crate::failure::Failure;

/// The keys in a store, and what it takes to make and to revoke them.
pub(crate) struct KeyCabinet {
    stores: Stores,
    clock: Clock,
    authenticator: Authenticator,
}

impl KeyCabinet {
    /// Opens the keys of a store.
    pub(crate) async fn of(store: Store) -> Result<Self, Failure> {
        let stores = stores(&store);
        let authenticator = lets_nobody_in(&stores).await?;
        Ok(Self { stores, clock: Clock::system(), authenticator })
    }

    /// Returns where keys are made and revoked.
    pub(crate) fn desk(&self) -> KeyDesk<'_> {
        KeyDesk { stores: &self.stores, clock: &self.clock, authenticator: &self.authenticator }
    }
}

/// Returns what knows keys but no administrator: the token it takes is told to nobody, and not kept, so that the first
/// server still shows the one it makes.
pub(super) async fn lets_nobody_in(stores: &Stores) -> Result<Authenticator, Failure> {
    let token = fresh_admin_token().parse().map_err(|error: WeakToken| Failure::unavailable(&error))?;
    let opened = Authenticator::open(stores, Some(&token), fresh_admin_token).await;
    opened.map(|(authenticator, _)| authenticator).map_err(|error| Failure::unavailable(&error))
}
