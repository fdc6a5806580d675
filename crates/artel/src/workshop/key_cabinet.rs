//! The keys in a store, without a server.

use artel_app::operations::KeyDesk;
use artel_app::{KeyRing, Stores};
use artel_engine::Clock;

use super::foundation::stores;
use super::store::Store;

/// The keys in a store, and what it takes to make and to revoke them.
pub(crate) struct KeyCabinet {
    stores: Stores,
    clock: Clock,
    keys: KeyRing,
}

impl KeyCabinet {
    /// Opens the keys of a store.
    pub(crate) fn of(store: Store) -> Self {
        let stores = stores(&store);
        let keys = KeyRing::new(stores.keys.clone());
        Self { stores, clock: Clock::system(), keys }
    }

    /// Returns where keys are made and revoked.
    pub(crate) fn desk(&self) -> KeyDesk<'_> {
        KeyDesk { stores: &self.stores, clock: &self.clock, keys: &self.keys }
    }
}
