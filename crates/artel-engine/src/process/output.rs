//! What is kept of a script's output on the way: the end of stderr, and the events that were not handed on. Knows nothing
//! of processes.

use std::mem;
use std::pin::Pin;

use artel_model::limit::STDERR_BYTES_MAX;
use artel_model::protocol::ToolEvent;
use tokio::time::{Duration, Sleep, sleep};

/// Bytes of events after which they are handed on.
const BATCH_BYTES: usize = 64 * 1024;
/// How long an event may wait for others.
const BATCH_WAIT: Duration = Duration::from_millis(100);

/// The end of a stream.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Tail {
    /// Adds what came next, and forgets what is too long ago.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let piece = &piece[piece.len().saturating_sub(STDERR_BYTES_MAX)..];
        // Moving the bytes only when twice as many have gathered makes every byte move once.
        if self.bytes.len() + piece.len() > 2 * STDERR_BYTES_MAX {
            let kept = STDERR_BYTES_MAX - piece.len();
            self.bytes.drain(..self.bytes.len() - kept);
            self.is_cut = true;
        }
        self.bytes.extend_from_slice(piece);
    }

    /// Returns the end as text. NUL, which some databases cannot hold in a text, is shown like bytes that are no UTF-8.
    pub(super) fn into_text(self) -> String {
        let start = self.bytes.len().saturating_sub(STDERR_BYTES_MAX);
        let mut end = &self.bytes[start..];
        if self.is_cut || start > 0 {
            // The rest of a character whose beginning was cut off.
            let rest = end.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
            end = &end[rest..];
        }
        String::from_utf8_lossy(end).replace('\0', "\u{fffd}")
    }
}

/// Events that wait to be handed on together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    events: Vec<ToolEvent>,
    bytes: usize,
    due: Timer,
}

/// A moment that may come; never, when there is none.
#[derive(Debug, Default)]
pub(super) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    /// Sets it to a moment from here on, unless it is set to an earlier one.
    pub(super) fn set_earliest(&mut self, wait: Duration) {
        let next = sleep(wait);
        if self.0.as_ref().is_none_or(|known| next.deadline() < known.deadline()) {
            self.0 = Some(Box::pin(next));
        }
    }

    /// Makes it never come.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Waits until it has come; it is cleared then. May be dropped while it waits.
    pub(super) async fn wait(&mut self) {
        match &mut self.0 {
            Some(moment) => moment.as_mut().await,
            None => std::future::pending().await,
        }
        self.clear();
    }
}

impl Batch {
    pub(super) fn push(&mut self, event: ToolEvent, bytes: usize) {
        if self.events.is_empty() {
            self.due.set_earliest(BATCH_WAIT);
        }
        self.events.push(event);
        self.bytes += bytes;
    }

    /// Returns whether it is large enough to be handed on at once.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES
    }

    /// Waits until it is to be handed on however small; forever while it is empty.
    pub(super) async fn is_due(&mut self) {
        self.due.wait().await;
    }

    /// Takes the events out.
    pub(super) fn take(&mut self) -> Vec<ToolEvent> {
        mem::take(self).events
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    fn tail(pieces: &[&[u8]]) -> String {
        let mut tail = Tail::default();
        pieces.iter().for_each(|piece| tail.push(piece));
        assert!(tail.bytes.len() <= 2 * STDERR_BYTES_MAX);
        tail.into_text()
    }

    #[test]
    fn the_end_of_a_long_stream_is_kept() {
        assert_eq!(tail(&[]), "");
        assert_eq!(tail(&[b"a\0", b"b\xff"]), "a\u{fffd}b\u{fffd}");
        let long = "0123456789".repeat(STDERR_BYTES_MAX / 5 + 7);
        for size in [1, 7, 4096, STDERR_BYTES_MAX, STDERR_BYTES_MAX + 1, long.len()] {
            let pieces: Vec<&[u8]> = long.as_bytes().chunks(size).collect();
            assert_eq!(tail(&pieces), long[long.len() - STDERR_BYTES_MAX..], "{size}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn events_wait_for_each_other_but_not_long() {
        let event = || serde_json::from_str(r#"{"version":"0","type":"done","ok":true}"#).unwrap();
        let mut batch = Batch::default();
        let is_never_due = timeout(BATCH_WAIT * 100, batch.is_due()).await.is_err();
        assert!(is_never_due);
        batch.push(event(), 10);
        assert!(timeout(BATCH_WAIT / 2, batch.is_due()).await.is_err());
        batch.push(event(), 10);
        assert!(timeout(BATCH_WAIT / 2, batch.is_due()).await.is_ok());
        assert!(!batch.is_full());
        batch.push(event(), BATCH_BYTES);
        assert!(batch.is_full());
        assert_eq!((batch.take().len(), batch.is_full()), (3, false));
    }

    #[tokio::test(start_paused = true)]
    async fn the_earliest_moment_counts() {
        let mut timer = Timer::default();
        timer.set_earliest(Duration::from_secs(60));
        timer.set_earliest(Duration::from_secs(1));
        timer.set_earliest(Duration::from_secs(30));
        assert!(timeout(Duration::from_secs(2), timer.wait()).await.is_ok());
        assert!(timeout(Duration::from_secs(100), timer.wait()).await.is_err());
    }

    #[test]
    fn a_character_is_not_cut_in_half() {
        let long = "\u{1f680}".repeat(STDERR_BYTES_MAX);
        for shift in 0..4 {
            let text = tail(&[long.as_bytes(), &b"xxxx"[..shift]]);
            assert!(!text.contains('\u{fffd}'), "{shift}");
            assert!(text.len() > STDERR_BYTES_MAX - 4 && text.len() <= STDERR_BYTES_MAX);
        }
    }
}
