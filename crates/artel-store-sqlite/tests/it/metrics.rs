//! What is counted while the store writes and reads, as Prometheus is shown it. The recorder is the test's own.

use artel_store::RunStore;
use artel_store::contract::run_id;
use artel_store_sqlite::METRICS;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::support::{Folder, append, create};

#[tokio::test]
async fn writes_syncs_and_reads_are_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let folder = Folder::new();
    // The handles stay with this recorder, on whatever thread they count.
    let store = metrics::with_local_recorder(&recorder, || folder.open());
    create(&store).await;
    store.append(append(1, "first")).await.unwrap();
    store.append(append(2, "second")).await.unwrap();
    assert!(store.append(append(2, "in conflict")).await.is_err());
    store.sync().await.unwrap();
    store.run(run_id(1)).await.unwrap();
    let text = recorder.handle().render();
    for line in [
        "artel_sqlite_appends_total 2",
        "artel_sqlite_changes_total{outcome=\"written\"} 4",
        "artel_sqlite_changes_total{outcome=\"failed\"} 0",
        "artel_sqlite_queue_changes 0",
        "artel_sqlite_batch_changes_sum 4",
        "artel_sqlite_transaction_duration_seconds_count 4",
        "artel_sqlite_sync_requests_total 1",
        "artel_sqlite_sync_duration_seconds_count 1",
        "artel_sqlite_read_duration_seconds_count 1",
        "artel_sqlite_reads 0",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing in\n{text}");
    }
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for name in kinds.filter_map(|line| line.split(' ').next()) {
        assert!(METRICS.iter().any(|metric| metric.name == name), "{name}");
    }
}
