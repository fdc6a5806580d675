//! Whether a server says that it is ready when it is, and what it misses when it is not.

use std::sync::Arc;

use artel_agents::{Office, OfficeConfig, OfficeParts};
use artel_bus::{BusConfig, InProcessBus};
use artel_engine::Clock;
use artel_server::AppParts;
use artel_store::MemoryStore;
use serde_json::json;

use crate::place::{Place, catalogs};

/// Returns a post office whose bus is not there.
fn office_without_its_bus() -> Office {
    let (store, clock) = (Arc::new(MemoryStore::new()), Clock::system());
    let config = BusConfig::new(artel_bus::Clock::new(move || clock.now()));
    let parts = OfficeParts {
        mail: store.clone(),
        waits: store.clone(),
        agents: store.clone(),
        runs: store,
        bus: Arc::new(InProcessBus::standing_in(config, "connection refused by 10.1.2.3".to_owned())),
        clock,
    };
    Office::new(OfficeConfig::default(), parts)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_ready_when_store_catalog_and_bus_are_there() {
    let place = Place::open(&[]).await;
    let ready = place.admin.with(None).get("/readyz").await.expect(200);
    assert_eq!(ready["checked"], json!(["store", "catalog", "bus"]));
    let place =
        Place::open_with_parts(&[], |parts| AppParts { office: office_without_its_bus(), ..parts }).await;
    let answer = place.admin.with(None).get("/readyz").await;
    answer.refused(503, "not_ready");
    assert!(answer.text.contains("the bus is not there"), "{}", answer.text);
    assert_eq!(place.admin.with(None).get("/healthz").await.status, 200, "it is alive all the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_not_read_its_catalog_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let base = camino::Utf8Path::from_path(folder.path()).unwrap();
    let place =
        Place::open_with_parts(&[], |parts| AppParts { catalogs: catalogs(base, &parts.stores), ..parts })
            .await;
    let answer = place.admin.with(None).get("/readyz").await;
    answer.refused(503, "not_ready");
    assert!(answer.text.contains("the catalog is not there"), "{}", answer.text);
}
