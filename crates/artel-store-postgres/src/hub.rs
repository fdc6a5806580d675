//! Registered hubs as a table.

use artel_model::catalog::{Hub, HubStatus};
use artel_model::id::HubId;
use artel_store::{HubRefused, HubStore, StoreError};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use crate::id::Id;
use crate::row::{bigint, column, corrupt, count, document, json, parsed};
use crate::statement::{COUNTED, Statement};
use crate::store::{PostgresStore, Sent};

/// The columns of [`hub`], in its order.
const HUB_COLUMNS: &str = "SELECT document, status, position FROM hubs";
const READING: &str = "reading a hub";
const KEEPING: &str = "keeping a hub";

#[async_trait]
impl HubStore for PostgresStore {
    async fn create_hub(&self, hub: &Hub, hubs_max: u64) -> Result<Result<u64, HubRefused>, StoreError> {
        let statement =
            Statement::new("SELECT refused, other, kept_at FROM create_hub($1, $2, $3, $4, $5, $6, $7)");
        let statement = with_hub(statement, hub).with(json(&hub.status)).with(bigint(hubs_max));
        let answer = self.write_synced(KEEPING, &statement).await?;
        let row = answer.rows.first().ok_or_else(|| corrupt(KEEPING, "no answer"))?;
        match refusal(row)? {
            // It was kept before the connection was lost.
            Some(HubRefused::SameLocation(id)) if answer.sent == Sent::Twice && id == hub.id => {}
            Some(refused) => return Ok(Err(refused)),
            None => {}
        }
        count(KEEPING, row, 2).map(Ok)
    }

    async fn update_hub(&self, hub: &Hub) -> Result<Result<(), HubRefused>, StoreError> {
        let statement = Statement::new("SELECT refused, other FROM update_hub($1, $2, $3, $4, $5)");
        let answer = self.write_synced(KEEPING, &with_hub(statement, hub)).await?;
        let row = answer.rows.first().ok_or_else(|| corrupt(KEEPING, "no answer"))?;
        Ok(refusal(row)?.map_or(Ok(()), Err))
    }

    async fn set_hub_status(&self, id: HubId, status: &HubStatus) -> Result<(), StoreError> {
        let update = "WITH changed AS (UPDATE hubs SET status = $2 WHERE id = $1 RETURNING id)";
        let statement = Statement::new(update).then(COUNTED).with(Id(id.0)).with(json(status));
        self.write("writing what came of fetching a hub", &statement).await.map(drop)
    }

    async fn delete_hub(&self, id: HubId) -> Result<bool, StoreError> {
        let delete = "WITH changed AS (DELETE FROM hubs WHERE id = $1 RETURNING id)";
        let statement = Statement::new(delete).then(COUNTED).with(Id(id.0));
        self.has_changed("removing a hub", &statement).await
    }

    async fn hub(&self, id: HubId) -> Result<Option<Hub>, StoreError> {
        let statement = Statement::new(HUB_COLUMNS).then(" WHERE id = ").place(Id(id.0));
        let answer = self.read(READING, &statement).await?;
        answer.rows.first().map(hub).transpose()
    }

    async fn hubs(&self) -> Result<Vec<Hub>, StoreError> {
        let statement = Statement::new(HUB_COLUMNS).then(" ORDER BY position");
        let answer = self.read("listing hubs", &statement).await?;
        answer.rows.iter().map(hub).collect()
    }
}

/// Adds what somebody said of a hub; the document knows neither the status nor the position.
fn with_hub(statement: Statement, hub: &Hub) -> Statement {
    let bare = Hub { status: HubStatus::default(), position: 0, ..hub.clone() };
    statement
        .with(Id(hub.id.0))
        .with(hub.kind.as_str())
        .with(hub.location.as_bytes())
        .with(hub.is_enabled)
        .with(json(&bare))
}

/// Reads `refused, other`.
fn refusal(row: &PgRow) -> Result<Option<HubRefused>, StoreError> {
    Ok(Some(match column::<Option<&str>>(KEEPING, row, 0)? {
        None => return Ok(None),
        Some("unknown") => HubRefused::Unknown,
        Some("too_many") => HubRefused::TooMany,
        Some("same") => HubRefused::SameLocation(parsed(KEEPING, row, 1)?),
        Some(other) => return Err(corrupt(KEEPING, &format!("`{other}` is no reason"))),
    }))
}

/// Reads [`HUB_COLUMNS`].
fn hub(row: &PgRow) -> Result<Hub, StoreError> {
    let hub: Hub = document(READING, row, 0)?;
    Ok(Hub { status: document(READING, row, 1)?, position: count(READING, row, 2)?, ..hub })
}
