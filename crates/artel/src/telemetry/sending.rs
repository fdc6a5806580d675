//! Sends spans from a thread of its own, in batches, while a command works and once more at its end. A collector that is slow
//! or gone costs spans, never the command.

use std::thread;
use std::time::Duration;

use artel_engine::trace::{self, EndedSpan, EndedSpans};
use tokio::sync::oneshot;

use super::otlp::Exporter;
use crate::config::Config;
use crate::failure::Failure;

/// Spans that are sent together.
const BATCH_MAX: usize = 512;
/// How long a span waits for others.
const BATCH_PATIENCE: Duration = Duration::from_secs(1);
/// How long the end of a command waits for the last spans to be taken.
const LAST_PATIENCE: Duration = Duration::from_secs(3);
/// The variable that says at which place in a trace the process was started.
const TRACE_PARENT: &str = "TRACEPARENT";

/// Does the work of a command, and sends what is traced of it to the collector that is named, if one is.
pub(crate) fn traced(config: &Config, work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    if let Some(place) = config.environment.get(TRACE_PARENT).and_then(|text| text.parse().ok()) {
        trace::set_outer(place);
    }
    let settings = &config.telemetry.value;
    let Some(url) = &settings.traces_url else { return work() };
    let exporter = Exporter::new(url, settings)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::missing(format!("cannot send traces: {error}")))?;
    let spans = trace::install(settings.sample_ratio)
        .map_err(|error| Failure::failed(format!("cannot trace: {error}")))?;
    thread::scope(|scope| {
        let (end, ended) = oneshot::channel();
        scope.spawn(move || runtime.block_on(Sending { spans, exporter, is_failing: false }.run(ended)));
        // Dropped when the work is over, also after a panic; the thread then sends for the last time.
        let _end: oneshot::Sender<()> = end;
        work()
    })
}

struct Sending {
    spans: EndedSpans,
    exporter: Exporter,
    /// Whether the last batch was not taken: an operator is told once, not for every batch.
    is_failing: bool,
}

impl Sending {
    async fn run(mut self, mut ended: oneshot::Receiver<()>) {
        loop {
            let batch = tokio::select! {
                batch = self.spans.batch(BATCH_MAX, BATCH_PATIENCE) => batch,
                _ = &mut ended => break,
            };
            self.send(batch).await;
        }
        let last = async {
            loop {
                let batch = self.spans.rest(BATCH_MAX);
                if batch.is_empty() || !self.send(batch).await {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(LAST_PATIENCE, last).await;
    }

    /// Says whether the collector took them.
    async fn send(&mut self, batch: Vec<EndedSpan>) -> bool {
        let count = batch.len();
        match self.exporter.send(batch).await {
            Ok(()) => trace::sent(count),
            Err(why) => {
                trace::unsent(count);
                if !self.is_failing {
                    tracing::warn!(why, "the collector does not take traces; what it misses is counted");
                }
                self.is_failing = true;
                return false;
            }
        }
        if std::mem::take(&mut self.is_failing) {
            tracing::info!("the collector takes traces again");
        }
        true
    }
}
