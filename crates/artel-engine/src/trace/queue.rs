//! Spans that ended and wait to be sent. There is room for so many; further ones are lost and counted, because nobody who works
//! waits for whoever collects traces.

use std::sync::OnceLock;
use std::time::Duration;

use artel_model::limit::SPANS_WAITING_MAX;
use tokio::sync::mpsc;

use super::metrics::no_room;
use super::ratio::SampleRatio;
use super::span::EndedSpan;
use crate::clock::moment;

/// Where spans go in this process.
pub(super) struct Tracer {
    pub(super) ratio: SampleRatio,
    ended: mpsc::Sender<EndedSpan>,
}

static TRACER: OnceLock<Tracer> = OnceLock::new();

/// Spans are traced already.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("traces are recorded already")]
pub struct AlreadyTracing;

/// Spans that ended, for who sends them.
pub struct EndedSpans {
    ended: mpsc::Receiver<EndedSpan>,
    /// Those that were taken out, for the next batch.
    waiting: Vec<EndedSpan>,
}

/// Begins to record spans, and returns where they come out.
pub fn install(ratio: SampleRatio) -> Result<EndedSpans, AlreadyTracing> {
    let (sender, ended) = mpsc::channel(SPANS_WAITING_MAX);
    TRACER.set(Tracer { ratio, ended: sender }).map_err(|_| AlreadyTracing)?;
    Ok(EndedSpans { ended, waiting: Vec::new() })
}

/// Returns where spans go; nothing while nobody asked for traces.
pub(super) fn tracer() -> Option<&'static Tracer> {
    TRACER.get()
}

impl Tracer {
    pub(super) fn keep(&self, span: EndedSpan) {
        if self.ended.try_send(span).is_err() {
            no_room();
        }
    }
}

impl EndedSpans {
    /// Waits for spans, at most so many; the first waits so long for others. Giving up the wait loses nothing.
    pub async fn batch(&mut self, spans_max: usize, patience: Duration) -> Vec<EndedSpan> {
        if self.waiting.is_empty() {
            self.ended.recv_many(&mut self.waiting, spans_max).await;
        }
        let until = moment() + patience;
        while self.waiting.len() < spans_max {
            let room = spans_max - self.waiting.len();
            match tokio::time::timeout_at(until, self.ended.recv_many(&mut self.waiting, room)).await {
                Ok(count) if count > 0 => {}
                Ok(_) | Err(_) => break,
            }
        }
        std::mem::take(&mut self.waiting)
    }

    /// Returns the spans that wait at this moment, at most so many.
    pub fn rest(&mut self, spans_max: usize) -> Vec<EndedSpan> {
        let mut spans = std::mem::take(&mut self.waiting);
        let room = spans_max.saturating_sub(spans.len());
        spans.extend(std::iter::from_fn(|| self.ended.try_recv().ok()).take(room));
        spans
    }
}
