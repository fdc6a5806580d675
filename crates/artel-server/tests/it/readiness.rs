//! Whether a server says that it is ready when it is, and what it misses when it is not.

use std::sync::Arc;

use artel_agents::{Office, OfficeConfig, OfficeParts};
use artel_app::Probe;
use artel_bus::{BusConfig, InProcessBus};
use artel_engine::Clock;
use artel_model::quota::Quotas;
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
    assert_eq!((&ready["checked"], &ready["degraded"]), (&json!(["store", "catalog", "bus"]), &json!([])));
    let place = Place::open_with_parts(&[], |mut parts| {
        parts.app.office = office_without_its_bus();
        parts
    })
    .await;
    let answer = place.admin.with(None).get("/readyz").await;
    // Work goes on without the bus.
    let ready = answer.expect(200);
    assert_eq!((&ready["checked"], &ready["degraded"]), (&json!(["store", "catalog"]), &json!(["bus"])));
    assert_eq!(place.admin.with(None).get("/healthz").await.status, 200, "it is alive all the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_not_read_its_catalog_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let base = camino::Utf8Path::from_path(folder.path()).unwrap();
    let place = Place::open_with_parts(&[], |mut parts| {
        parts.app.catalogs = catalogs(base, &parts.app.stores, Quotas::default());
        parts
    })
    .await;
    let answer = place.admin.with(None).get("/readyz").await;
    answer.refused(503, "not_ready");
    assert!(answer.text.contains("the catalog is not there"), "{}", answer.text);
}

/// Something that cannot be written.
struct FullFolder;

#[async_trait::async_trait]
impl Probe for FullFolder {
    fn name(&self) -> &'static str {
        "data folder"
    }

    async fn ready(&self) -> Result<(), String> {
        Err("cannot write `/var/lib/artel/.probe`: no space left on device".to_owned())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_server_is_not_ready_is_told_to_administrators_alone() {
    let place = Place::open_with_parts(&[], |mut parts| {
        parts.app.probes = vec![Arc::new(FullFolder)];
        parts
    })
    .await;
    let reader = place.somebody("ann", &["catalog:read"]).await;
    for client in [place.admin.with(None), reader] {
        let answer = client.get("/readyz").await;
        answer.refused(503, "not_ready");
        assert!(answer.text.contains("the data folder is not there"), "{}", answer.text);
        assert!(!answer.text.contains("/var/lib") && !answer.text.contains("space"), "{}", answer.text);
    }
    let answer = place.admin.get("/readyz").await;
    answer.refused(503, "not_ready");
    assert!(answer.text.contains("no space left on device"), "{}", answer.text);
}
