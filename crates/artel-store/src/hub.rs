//! Registered hubs.

use artel_model::catalog::{Hub, HubStatus};
use artel_model::id::HubId;
use async_trait::async_trait;

use crate::error::StoreError;

/// Why a hub was not kept; nothing was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HubRefused {
    /// There is one with the same kind and location, or with the same id.
    SameLocation(HubId),
    /// There is none with that id.
    Unknown,
    /// There are as many as there may be.
    TooMany,
}

/// Hubs. What somebody said of one survives a power cut when the answer comes; what came of fetching it is found again.
#[async_trait]
pub trait HubStore: Send + Sync {
    /// Keeps a hub behind all others, unless there are `hubs_max`; its position is the store's to say, and
    /// returned. It is greater than all before it, also than those of hubs that are gone.
    async fn create_hub(&self, hub: &Hub, hubs_max: u64) -> Result<Result<u64, HubRefused>, StoreError>;

    /// Changes what somebody said of a hub; neither its position nor its status.
    async fn update_hub(&self, hub: &Hub) -> Result<Result<(), HubRefused>, StoreError>;

    /// Says what came of fetching a hub; nothing when it is gone.
    async fn set_hub_status(&self, id: HubId, status: &HubStatus) -> Result<(), StoreError>;

    /// Removes a hub; says whether there was one.
    async fn delete_hub(&self, id: HubId) -> Result<bool, StoreError>;

    /// Returns a hub.
    async fn hub(&self, id: HubId) -> Result<Option<Hub>, StoreError>;

    /// Returns all hubs, by position.
    async fn hubs(&self) -> Result<Vec<Hub>, StoreError>;
}
