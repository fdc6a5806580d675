//! What is counted while the store writes and reads, as Prometheus is shown it. The recorder is the test's own.

use artel_store::contract::{new_run, note, run_id};
use artel_store::{Fence, Revision, RunAppend, RunStore as _};
use artel_store_postgres::{METRICS, PostgresStore};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::runtime::Builder;

use crate::server::Place;

fn append(expected: u64) -> RunAppend {
    RunAppend {
        run: run_id(1),
        expected: Revision(expected),
        fence: Some(Fence(1)),
        events: vec![note(11, "next")],
        summary: None,
        executions: Vec::new(),
        health: Vec::new(),
    }
}

#[test]
fn writes_syncs_reads_and_errors_are_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let place = Place::any();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    // The handles stay with this recorder, whoever counts with them.
    let connect = PostgresStore::connect(place.url(), place.options.clone());
    let store = metrics::with_local_recorder(&recorder, || runtime.block_on(connect)).unwrap();
    runtime.block_on(async {
        store.create(new_run(run_id(1), 10)).await.unwrap();
        store.append(append(1)).await.unwrap();
        store.append(append(2)).await.unwrap();
        store.sync().await.unwrap();
        store.run(run_id(1)).await.unwrap();
        place.run("ALTER TABLE runs RENAME TO elsewhere").await;
        store.append(append(3)).await.unwrap_err();
        store.run(run_id(1)).await.unwrap_err();
    });
    let text = recorder.handle().render();
    for line in [
        "artel_postgres_appends_total 2",
        "artel_postgres_changes_total{outcome=\"written\"} 3",
        "artel_postgres_changes_total{outcome=\"failed\"} 1",
        "artel_postgres_transaction_duration_seconds_count 3",
        "artel_postgres_waiting_statements 0",
        "artel_postgres_wait_duration_seconds_count 7",
        "artel_postgres_sync_requests_total 1",
        "artel_postgres_sync_duration_seconds_count 1",
        "artel_postgres_read_duration_seconds_count 2",
        "artel_postgres_reads 0",
        "artel_postgres_resent_total 0",
        "artel_postgres_errors_total{kind=\"corrupt\"} 2",
        "artel_postgres_errors_total{kind=\"unavailable\"} 0",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing in\n{text}");
    }
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for name in kinds.filter_map(|line| line.split(' ').next()) {
        assert!(METRICS.iter().any(|metric| metric.name == name), "{name}");
    }
}
