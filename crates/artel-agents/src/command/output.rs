//! What a program writes, on its way into the agent's record: in pieces, with a limit on each and on all of them. Knows nothing
//! of what it means.

use artel_model::limit::{AGENT_OUTPUT_BYTES_MAX, AGENT_OUTPUT_LINE_BYTES_MAX};
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use crate::agent_tools::AgentTools;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;
/// Bytes of standard output that an answer is looked for in; the last ones.
const STDOUT_TAIL_BYTES: usize = 256 * 1024;
/// Bytes of standard error that a failure quotes; the last ones.
const STDERR_TAIL_BYTES: usize = 4 * 1024;
/// Pieces that are kept; more are counted.
const PIECES_MAX: usize = 100_000;

/// What is remembered of what a program wrote.
#[derive(Debug)]
pub(super) struct Output {
    /// The end of its standard output.
    pub(super) stdout: Tail,
    /// The end of its standard error.
    pub(super) stderr: Tail,
}

/// The end of a stream.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// Whether the stream had more than is here.
    pub(super) is_cut: bool,
}

/// One stream, cut into pieces: lines, as many as came at once.
struct Stream<'o> {
    by: &'static str,
    pending: Vec<u8>,
    tail: &'o mut Tail,
}

/// What may still be kept.
struct Budget {
    bytes: usize,
    pieces: usize,
    dropped: u64,
}

/// Puts what a program writes into the record of its agent, until both streams end; `output` is what was heard so far.
pub(super) async fn listen(
    agent_tools: &AgentTools,
    mut stdout: pipe::Receiver,
    mut stderr: pipe::Receiver,
    output: &mut Output,
) {
    let mut streams = [Stream::new("stdout", &mut output.stdout), Stream::new("stderr", &mut output.stderr)];
    let mut budget = Budget { bytes: AGENT_OUTPUT_BYTES_MAX, pieces: PIECES_MAX, dropped: 0 };
    let mut buffers = [vec![0; READ_BYTES], vec![0; READ_BYTES]];
    let mut is_open = [true, true];
    while is_open != [false, false] {
        let [first, second] = &mut buffers;
        let (which, read) = tokio::select! {
            read = stdout.read(first), if is_open[0] => (0, read),
            read = stderr.read(second), if is_open[1] => (1, read),
        };
        // An error means that nothing more can be read, as the end does.
        let count = read.unwrap_or(0);
        let pieces = if count == 0 {
            is_open[which] = false;
            streams[which].rest()
        } else {
            streams[which].take(&buffers[which][..count])
        };
        for piece in pieces {
            if budget.allows(&piece) {
                let text = String::from_utf8_lossy(&piece).into_owned();
                agent_tools.say(streams[which].by, Value::String(text)).await;
            }
        }
    }
    if budget.dropped > 0 {
        let what = format!("{} bytes more were written, which are not kept", budget.dropped);
        agent_tools.say("artel", Value::String(what)).await;
    }
}

impl Default for Output {
    fn default() -> Self {
        Self { stdout: Tail::new(STDOUT_TAIL_BYTES), stderr: Tail::new(STDERR_TAIL_BYTES) }
    }
}

impl<'o> Stream<'o> {
    fn new(by: &'static str, tail: &'o mut Tail) -> Self {
        Self { by, pending: Vec::new(), tail }
    }

    /// Takes what was read, and returns the pieces that are whole.
    fn take(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.tail.add(bytes);
        self.pending.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        loop {
            let within = &self.pending[..self.pending.len().min(AGENT_OUTPUT_LINE_BYTES_MAX)];
            if let Some(line_end) = within.iter().rposition(|byte| *byte == b'\n') {
                let mut piece: Vec<u8> = self.pending.drain(..=line_end).collect();
                piece.pop();
                pieces.push(piece);
            } else if self.pending.len() >= AGENT_OUTPUT_LINE_BYTES_MAX {
                let end = character_end(within);
                pieces.push(self.pending.drain(..end).collect());
            } else {
                return pieces;
            }
        }
    }

    /// Returns what is left at the end.
    fn rest(&mut self) -> Vec<Vec<u8>> {
        let rest = std::mem::take(&mut self.pending);
        if rest.is_empty() { Vec::new() } else { vec![rest] }
    }
}

/// Returns where to cut a long line, so that no character is cut in two.
fn character_end(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}

impl Tail {
    fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max, is_cut: false }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let excess = self.bytes.len().saturating_sub(self.bytes_max);
        self.is_cut |= excess > 0;
        self.bytes.drain(..excess);
    }

    /// Returns the end of the stream as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Budget {
    /// Says whether a piece is kept, and counts it.
    fn allows(&mut self, piece: &[u8]) -> bool {
        if piece.len() > self.bytes || self.pieces == 0 {
            // Nothing is kept after a gap, so that what is kept is what was written first.
            (self.bytes, self.pieces) = (0, 0);
            self.dropped += piece.len() as u64;
            return false;
        }
        self.bytes -= piece.len();
        self.pieces -= 1;
        true
    }
}

/// Makes the end of a short stream, for tests.
#[cfg(test)]
pub(super) fn tail_of(text: &str) -> Tail {
    let mut tail = Tail::new(STDOUT_TAIL_BYTES);
    tail.add(text.as_bytes());
    tail
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pieces: Vec<Vec<u8>>) -> Vec<String> {
        pieces.into_iter().map(|piece| String::from_utf8(piece).unwrap()).collect()
    }

    #[test]
    fn lines_that_come_together_are_one_piece() {
        let mut tail = Tail::new(10);
        let mut stream = Stream::new("stdout", &mut tail);
        assert_eq!(texts(stream.take(b"one\ntwo\nthr")), ["one\ntwo"]);
        assert_eq!(texts(stream.take(b"ee\n")), ["three"]);
        assert_eq!(texts(stream.take(b"end")), Vec::<String>::new());
        assert_eq!(texts(stream.rest()), ["end"]);
        assert_eq!((tail.text().as_str(), tail.is_cut), ("\nthree\nend", true));
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let mut tail = Tail::new(10);
        let mut stream = Stream::new("stdout", &mut tail);
        let line = "\u{e9}".repeat(AGENT_OUTPUT_LINE_BYTES_MAX) + "x";
        let mut pieces = texts(stream.take(format!("a{line}").as_bytes()));
        pieces.extend(texts(stream.rest()));
        assert!(pieces.iter().all(|piece| piece.len() <= AGENT_OUTPUT_LINE_BYTES_MAX));
        assert_eq!(pieces.concat(), format!("a{line}"));
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let mut budget = Budget { bytes: 5, pieces: 3, dropped: 0 };
        assert_eq!([&b"abc"[..], b"def", b"g"].map(|piece| budget.allows(piece)), [true, false, false]);
        assert_eq!(budget.dropped, 4);
        let mut budget = Budget { bytes: 5, pieces: 1, dropped: 0 };
        assert_eq!([&b"a"[..], b"b"].map(|piece| budget.allows(piece)), [true, false]);
    }
}
