//! Listens to what a script writes, as it comes: events to the sink in batches, files into the store, the end of stderr.
//! Never holds more than one line, one batch and the tail. Knows nothing of the process that writes.

use std::io;

use artel_model::limit::ASSET_BYTES_PER_ATTEMPT_MAX;
use artel_model::protocol::{Collector, Heard, ToolEvent, Violation, ViolationKind};
use artel_model::run::{AssetRecord, ErrorKind, StepError};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;

use super::attempt::EventSink;
use super::output::{Batch, Tail};
use crate::asset::{AssetError, AssetOrigin, AssetStore};

/// Bytes that are read at once: as many as a pipe holds. Memory that was not read into is never touched.
const READ_BYTES: usize = 64 * 1024;
/// Bytes that are read of a stream that was cut off: as many as a pipe can be made to hold.
const LEFT_BYTES_MAX: usize = 1024 * 1024;

/// What was heard of an attempt.
pub(super) struct Listener {
    pub(super) collector: Collector,
    /// Events that were not handed on.
    pub(super) batch: Batch,
    pub(super) kept: Vec<AssetRecord>,
    /// What went wrong that is not the script's fault.
    pub(super) trouble: Option<StepError>,
    store: AssetStore,
    origin: AssetOrigin,
    asset_bytes_left: u64,
    is_over: bool,
    /// Somebody else still held the stream when it was left.
    is_cut: bool,
}

/// The script is not listened to any more.
struct Over;

impl Listener {
    pub(super) fn new(store: AssetStore, origin: AssetOrigin) -> Self {
        Self {
            collector: Collector::default(),
            batch: Batch::default(),
            kept: Vec::new(),
            trouble: None,
            store,
            origin,
            asset_bytes_left: ASSET_BYTES_PER_ATTEMPT_MAX,
            is_over: false,
            is_cut: false,
        }
    }

    /// Listens until the stream ends, is cut off, or the script violates the protocol.
    pub(super) async fn listen(
        mut self,
        mut stdout: pipe::Receiver,
        mut cut: watch::Receiver<bool>,
        sink: &mut dyn EventSink,
    ) -> Self {
        let mut buffer = Vec::with_capacity(READ_BYTES);
        loop {
            buffer.clear();
            let read = tokio::select! {
                biased;
                () = self.batch.is_due() => {
                    sink.take(self.batch.take()).await;
                    continue;
                }
                () = cut_off(&mut cut) => {
                    self.is_cut = true;
                    let left = left_in(&stdout);
                    let _ = self.hear(&left).await;
                    return self;
                }
                read = stdout.read_buf(&mut buffer) => read,
            };
            // An error means that nothing more can be read, as the end does.
            let Ok(1..) = read else { return self };
            if let Err(Over) = self.hear(&buffer).await {
                return self;
            }
            if self.batch.is_full() {
                sink.take(self.batch.take()).await;
            }
        }
    }

    /// Returns whether the script was given up.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes the last line, if it has no newline. That of a script that did not end well may be half a line.
    pub(super) async fn end(&mut self, ended_well: bool) {
        if self.is_over {
            return;
        }
        let mut heard = Vec::new();
        let taken = if ended_well && !self.is_cut {
            self.collector.last_line(&mut heard)
        } else {
            self.collector.last_line_cut_off(&mut heard)
        };
        let _ = self.take(heard, taken).await;
    }

    async fn hear(&mut self, bytes: &[u8]) -> Result<(), Over> {
        let mut heard = Vec::new();
        let taken = self.collector.push(bytes, &mut heard);
        self.take(heard, taken).await
    }

    async fn take(&mut self, heard: Vec<Heard>, taken: Result<(), Violation>) -> Result<(), Over> {
        for Heard { line, bytes, event } in heard {
            if let Err(error) = self.keep(&event).await {
                self.give_up(line, &event, &error);
                return Err(Over);
            }
            self.batch.push(event, bytes);
        }
        taken.map_err(|_| {
            self.is_over = true;
            Over
        })
    }

    /// Keeps the file that an event is about, if it is about one.
    async fn keep(&mut self, event: &ToolEvent) -> Result<(), AssetError> {
        let ToolEvent::Asset { asset_id, kind, media_type, path, metadata, .. } = event else {
            return Ok(());
        };
        let kept = self.store.keep(&self.origin, path, self.asset_bytes_left).await?;
        self.asset_bytes_left -= kept.size;
        self.kept.push(AssetRecord {
            asset_id: asset_id.clone(),
            kind: kind.clone(),
            media_type: media_type.clone(),
            hash: kept.hash,
            size: kept.size,
            path: path.clone(),
            metadata: metadata.clone(),
        });
        Ok(())
    }

    fn give_up(&mut self, line: u64, event: &ToolEvent, error: &AssetError) {
        self.is_over = true;
        if !error.is_the_scripts_fault() {
            self.trouble = Some(StepError::new(ErrorKind::ToolExecutionFailed, format!("the asset {error}")));
            return;
        }
        let text = serde_json::to_vec(event).unwrap_or_default();
        let kind = ViolationKind::BadAsset { problem: error.to_string() };
        self.collector.refuse(Violation::at(line, kind, &text));
    }
}

/// Reads stderr until it ends or is cut off, and returns the end of it.
pub(super) async fn read_stderr(mut stderr: pipe::Receiver, mut cut: watch::Receiver<bool>) -> String {
    let (mut tail, mut buffer) = (Tail::default(), Vec::with_capacity(READ_BYTES));
    loop {
        buffer.clear();
        tokio::select! {
            biased;
            () = cut_off(&mut cut) => {
                tail.push(&left_in(&stderr));
                return tail.into_text();
            }
            read = stderr.read_buf(&mut buffer) => match read {
                Ok(0) | Err(_) => return tail.into_text(),
                Ok(_) => tail.push(&buffer),
            },
        }
    }
}

/// Waits until the streams are cut off.
async fn cut_off(cut: &mut watch::Receiver<bool>) {
    if cut.wait_for(|is_cut| *is_cut).await.is_err() {
        std::future::pending().await
    }
}

/// Returns what is in a pipe, without waiting for more.
fn left_in(pipe: &pipe::Receiver) -> Vec<u8> {
    let (mut left, mut buffer) = (Vec::new(), vec![0; READ_BYTES]);
    while left.len() < LEFT_BYTES_MAX {
        match pipe.try_read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => left.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    left
}
