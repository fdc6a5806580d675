//! The post office for who only sends and reads: nothing is driven.

use artel_agents::Office;

use crate::command::Context;
use crate::failure::Failure;
use crate::workshop::{Store, open_office};

/// A post office and its store.
pub(super) struct Counter {
    pub(super) office: Office,
    pub(super) store: Store,
}

impl Counter {
    /// Opens the post office; the store is made when it is not there.
    pub(super) async fn open(context: Context<'_>) -> Result<Self, Failure> {
        let store = Store::open(context.config).await?;
        let office = open_office(context, &store).await?;
        Ok(Self { office, store })
    }
}
