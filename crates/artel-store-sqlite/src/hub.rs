//! Registered hubs as a table.

use artel_model::catalog::{Hub, HubKind, HubStatus};
use artel_model::id::HubId;
use artel_store::{HubRefused, HubStore, StoreError};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::change::Change;
use crate::effort::Effort;
use crate::row::{json, natural, parsed};
use crate::store::SqliteStore;

/// The columns that [`hub`] reads.
pub(crate) const HUB_COLUMNS: &str = "document, status, position";

#[async_trait]
impl HubStore for SqliteStore {
    async fn create_hub(&self, hub: &Hub, hubs_max: u64) -> Result<Result<u64, HubRefused>, StoreError> {
        let hubs_max = i64::try_from(hubs_max).unwrap_or(i64::MAX);
        self.write_synced(Create { hub: HubColumns::of(hub), status: json(&hub.status), hubs_max }).await
    }

    async fn update_hub(&self, hub: &Hub) -> Result<Result<(), HubRefused>, StoreError> {
        self.write_synced(Update(HubColumns::of(hub))).await
    }

    async fn set_hub_status(&self, id: HubId, status: &HubStatus) -> Result<(), StoreError> {
        self.writer.write(SetStatus { id: id.0.into_bytes(), status: json(status) }).await
    }

    async fn delete_hub(&self, id: HubId) -> Result<bool, StoreError> {
        self.write_synced(Delete { id: id.0.into_bytes() }).await
    }

    async fn hub(&self, id: HubId) -> Result<Option<Hub>, StoreError> {
        let query = move |connection: &Connection| {
            let mut find =
                connection.prepare_cached(&format!("SELECT {HUB_COLUMNS} FROM hubs WHERE id = ?1"))?;
            find.query_row([id.0.into_bytes()], hub).optional()
        };
        self.readers.read("read a hub", query).await
    }

    async fn hubs(&self) -> Result<Vec<Hub>, StoreError> {
        let query = |connection: &Connection| {
            let mut list =
                connection.prepare_cached(&format!("SELECT {HUB_COLUMNS} FROM hubs ORDER BY position"))?;
            list.query_map([], hub)?.collect()
        };
        self.readers.read("list hubs", query).await
    }
}

/// Reads [`HUB_COLUMNS`]; the document knows neither the status nor the position.
pub(crate) fn hub(row: &Row<'_>) -> rusqlite::Result<Hub> {
    let hub: Hub = parsed(row, 0)?;
    Ok(Hub { status: parsed(row, 1)?, position: natural(row, 2)?, ..hub })
}

/// What somebody said of a hub, as it is written.
struct HubColumns {
    id: [u8; 16],
    kind: HubKind,
    location: String,
    is_enabled: bool,
    document: String,
}

impl HubColumns {
    fn of(hub: &Hub) -> Self {
        let bare = Hub { status: HubStatus::default(), position: 0, ..hub.clone() };
        Self {
            id: hub.id.0.into_bytes(),
            kind: hub.kind,
            location: hub.location.clone(),
            is_enabled: hub.is_enabled,
            document: json(&bare),
        }
    }

    /// Returns who is at the same location.
    fn at_location(&self, connection: &Connection) -> rusqlite::Result<Option<[u8; 16]>> {
        let mut find = connection.prepare_cached("SELECT id FROM hubs WHERE kind = ?1 AND location = ?2")?;
        find.query_row(params![self.kind.as_str(), self.location], |row| row.get(0)).optional()
    }

    fn exists(&self, connection: &Connection) -> rusqlite::Result<bool> {
        connection.prepare_cached("SELECT 1 FROM hubs WHERE id = ?1")?.exists([self.id])
    }
}

fn same_location(id: [u8; 16]) -> HubRefused {
    HubRefused::SameLocation(HubId(Uuid::from_bytes(id)))
}

/// Keeps a hub behind all others.
struct Create {
    hub: HubColumns,
    status: String,
    hubs_max: i64,
}

impl Change for Create {
    type Answer = Result<u64, HubRefused>;
    const WHAT: &'static str = "keep a hub";

    fn effort(&self) -> Effort {
        Effort::rows(1, self.hub.document.len() + self.status.len())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer> {
        let hub = &self.hub;
        if let Some(other) = hub.at_location(connection)? {
            return Ok(Err(same_location(other)));
        }
        if hub.exists(connection)? {
            return Ok(Err(same_location(hub.id)));
        }
        let mut count = connection.prepare_cached("SELECT count(*) FROM hubs")?;
        if count.query_row([], |row| row.get::<_, i64>(0))? >= self.hubs_max {
            return Ok(Err(HubRefused::TooMany));
        }
        let mut insert = connection.prepare_cached(
            "INSERT INTO hubs (id, kind, location, is_enabled, document, status) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let values =
            params![hub.id, hub.kind.as_str(), hub.location, hub.is_enabled, hub.document, self.status];
        Ok(Ok(insert.insert(values)?.unsigned_abs()))
    }
}

/// Changes what somebody said of a hub.
struct Update(HubColumns);

impl Change for Update {
    type Answer = Result<(), HubRefused>;
    const WHAT: &'static str = "change a hub";

    fn effort(&self) -> Effort {
        Effort::rows(1, self.0.document.len())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer> {
        let hub = &self.0;
        if !hub.exists(connection)? {
            return Ok(Err(HubRefused::Unknown));
        }
        if let Some(other) = hub.at_location(connection)?.filter(|other| *other != hub.id) {
            return Ok(Err(same_location(other)));
        }
        let mut update = connection.prepare_cached(
            "UPDATE hubs SET kind = ?2, location = ?3, is_enabled = ?4, document = ?5 WHERE id = ?1",
        )?;
        update.execute(params![hub.id, hub.kind.as_str(), hub.location, hub.is_enabled, hub.document])?;
        Ok(Ok(()))
    }
}

/// Says what came of fetching a hub.
struct SetStatus {
    id: [u8; 16],
    status: String,
}

impl Change for SetStatus {
    type Answer = ();
    const WHAT: &'static str = "write what came of fetching a hub";

    fn effort(&self) -> Effort {
        Effort::rows(1, self.status.len())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut update = connection.prepare_cached("UPDATE hubs SET status = ?2 WHERE id = ?1")?;
        update.execute(params![self.id, self.status]).map(drop)
    }
}

/// Removes a hub.
struct Delete {
    id: [u8; 16],
}

impl Change for Delete {
    /// Whether there was one.
    type Answer = bool;
    const WHAT: &'static str = "remove a hub";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<bool> {
        Ok(connection.prepare_cached("DELETE FROM hubs WHERE id = ?1")?.execute([self.id])? > 0)
    }
}
