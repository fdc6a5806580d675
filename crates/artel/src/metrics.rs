//! Numbers about this process in a file, in the format of Prometheus: for who collects them from files, such as the
//! textfile collector of `node_exporter`. Knows nothing of what the numbers mean; the crates that count list them.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use artel_model::metric::{Metric, MetricKind};
use camino::Utf8Path;
use metrics::{describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use crate::failure::Failure;

/// How often the file is written while a command runs, and values are summed up.
const EVERY: Duration = Duration::from_secs(15);

/// Does the work of a command, and keeps a file with its numbers if one is named. A file that cannot be written is told
/// before anything is done.
pub(crate) fn measured(
    file: Option<&Utf8Path>,
    work: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(file) = file else { return work() };
    let handle = handle()?;
    write(file, &handle)
        .map_err(|error| Failure::missing(format!("cannot write metrics to `{file}`: {error}")))?;
    thread::scope(|scope| {
        let (end, ended) = channel();
        scope.spawn(|| write_now_and_then(file, &handle, ended));
        // Dropped when the work is over, also after a panic; the thread then writes for the last time.
        let _end = end;
        work()
    })
}

/// Begins to measure, unless it has begun, and returns what writes all numbers as Prometheus reads them.
pub(crate) fn renderer() -> Result<Arc<dyn Fn() -> String + Send + Sync>, Failure> {
    let handle = handle()?;
    Ok(Arc::new(move || handle.render()))
}

/// Sums up now and then what was measured, until it is dropped: a histogram keeps every single value until somebody looks,
/// and nobody may.
pub(crate) async fn keep_small() {
    let Ok(handle) = handle() else { return };
    loop {
        tokio::time::sleep(EVERY).await;
        handle.run_upkeep();
    }
}

/// Numbers are counted once for the whole process, so there is one handle.
fn handle() -> Result<PrometheusHandle, Failure> {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    if let Some(handle) = HANDLE.get() {
        return Ok(handle.clone());
    }
    let recorder = recorder()?;
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder)
        .map_err(|error| Failure::failed(format!("cannot measure: {error}")))?;
    all().for_each(describe);
    Ok(HANDLE.get_or_init(|| handle).clone())
}

/// Returns everything that is measured.
fn all() -> impl Iterator<Item = &'static Metric> {
    [
        artel_engine::METRICS,
        artel_engine::trace::METRICS,
        artel_store_sqlite::METRICS,
        artel_store_postgres::METRICS,
        artel_bus::METRICS,
        artel_agents::METRICS,
        artel_app::METRICS,
        artel_server::METRICS,
    ]
    .into_iter()
    .flatten()
}

fn recorder() -> Result<PrometheusRecorder, Failure> {
    let mut builder = PrometheusBuilder::new();
    for metric in all() {
        match metric.kind {
            MetricKind::Counter | MetricKind::Gauge => {}
            MetricKind::Histogram { buckets } => {
                builder = builder
                    .set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), buckets)
                    .map_err(|error| Failure::failed(format!("cannot measure `{}`: {error}", metric.name)))?;
            }
        }
    }
    Ok(builder.build_recorder())
}

fn describe(metric: &Metric) {
    match metric.kind {
        MetricKind::Counter => describe_counter!(metric.name, metric.about),
        MetricKind::Gauge => describe_gauge!(metric.name, metric.about),
        MetricKind::Histogram { .. } => describe_histogram!(metric.name, metric.about),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the receiver belongs to this thread")]
fn write_now_and_then(file: &Utf8Path, handle: &PrometheusHandle, ended: Receiver<()>) {
    loop {
        let is_over = match ended.recv_timeout(EVERY) {
            Err(RecvTimeoutError::Timeout) => false,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
        };
        if let Err(error) = write(file, handle) {
            tracing::warn!(%file, %error, "cannot write metrics");
        }
        if is_over {
            return;
        }
    }
}

/// Writes beside the file and moves it there, so that who collects never sees half of it.
fn write(path: &Utf8Path, handle: &PrometheusHandle) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    // The process's mask is taken off: who collects is somebody else.
    let mode = Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(mode).tempfile_in(folder)?;
    file.write_all(handle.render().as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
