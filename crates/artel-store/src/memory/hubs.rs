//! Registered hubs in memory.

use std::collections::BTreeMap;

use artel_model::catalog::{Hub, HubKind, HubStatus};
use artel_model::id::HubId;
use async_trait::async_trait;

use super::store::MemoryStore;
use crate::error::StoreError;
use crate::hub::{HubRefused, HubStore};

/// All hubs, by position.
#[derive(Debug, Default)]
pub(super) struct HubTable {
    hubs: BTreeMap<u64, Hub>,
    /// The last position that was given out.
    last: u64,
}

#[async_trait]
impl HubStore for MemoryStore {
    async fn create_hub(&self, hub: &Hub, hubs_max: u64) -> Result<Result<u64, HubRefused>, StoreError> {
        let mut tables = self.tables();
        let created = tables.hubs.create(hub, hubs_max);
        tables.version += u64::from(created.is_ok());
        Ok(created)
    }

    async fn update_hub(&self, hub: &Hub) -> Result<Result<(), HubRefused>, StoreError> {
        let mut tables = self.tables();
        let updated = tables.hubs.update(hub);
        tables.version += u64::from(updated.is_ok());
        Ok(updated)
    }

    async fn set_hub_status(&self, id: HubId, status: &HubStatus) -> Result<(), StoreError> {
        let mut tables = self.tables();
        if let Some(hub) = tables.hubs.hubs.values_mut().find(|hub| hub.id == id) {
            hub.status = status.clone();
            tables.version += 1;
        }
        Ok(())
    }

    async fn delete_hub(&self, id: HubId) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let before = tables.hubs.hubs.len();
        tables.hubs.hubs.retain(|_, hub| hub.id != id);
        let is_gone = tables.hubs.hubs.len() < before;
        tables.version += u64::from(is_gone);
        Ok(is_gone)
    }

    async fn hub(&self, id: HubId) -> Result<Option<Hub>, StoreError> {
        Ok(self.tables().hubs.hubs.values().find(|hub| hub.id == id).cloned())
    }

    async fn hubs(&self) -> Result<Vec<Hub>, StoreError> {
        Ok(self.tables().hubs.hubs.values().cloned().collect())
    }
}

impl HubTable {
    fn at(&self, kind: HubKind, location: &str) -> Option<&Hub> {
        self.hubs.values().find(|hub| hub.kind == kind && hub.location == location)
    }

    fn create(&mut self, hub: &Hub, hubs_max: u64) -> Result<u64, HubRefused> {
        if let Some(same) = self.at(hub.kind, &hub.location) {
            return Err(HubRefused::SameLocation(same.id));
        }
        if self.hubs.values().any(|other| other.id == hub.id) {
            return Err(HubRefused::SameLocation(hub.id));
        }
        if self.hubs.len() as u64 >= hubs_max {
            return Err(HubRefused::TooMany);
        }
        self.last += 1;
        self.hubs.insert(self.last, Hub { position: self.last, ..hub.clone() });
        Ok(self.last)
    }

    fn update(&mut self, hub: &Hub) -> Result<(), HubRefused> {
        if !self.hubs.values().any(|kept| kept.id == hub.id) {
            return Err(HubRefused::Unknown);
        }
        if let Some(same) = self.at(hub.kind, &hub.location).filter(|same| same.id != hub.id) {
            return Err(HubRefused::SameLocation(same.id));
        }
        for kept in self.hubs.values_mut().filter(|kept| kept.id == hub.id) {
            *kept = Hub { position: kept.position, status: kept.status.clone(), ..hub.clone() };
        }
        Ok(())
    }
}
