//! Cuts a stream of bytes into lines, wherever its pieces begin and end. Never holds more than one line.

use super::violation::{Violation, ViolationKind};
use crate::limit::{EVENT_BYTES_PER_ATTEMPT_MAX, EVENT_LINE_BYTES_MAX};

/// The lines of a stream.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of a line whose end has not come.
    open: Vec<u8>,
    /// How many lines have ended.
    ended: u64,
    /// How many bytes have come.
    bytes: usize,
}

impl Lines {
    /// Takes the next piece and gives every line that ends in it to `each`, with its number and without its newline.
    pub(super) fn push(
        &mut self,
        mut piece: &[u8],
        mut each: impl FnMut(u64, &[u8]) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        // What is within the limit counts, wherever the pieces were cut.
        let room = EVENT_BYTES_PER_ATTEMPT_MAX - self.bytes;
        let is_over = piece.len() > room;
        piece = &piece[..piece.len().min(room)];
        self.bytes += piece.len();
        while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            self.line(&piece[..end], &mut each)?;
            piece = &piece[end + 1..];
        }
        self.extend(piece)?;
        if is_over {
            return Err(Violation {
                line: Some(self.ended + 1),
                kind: ViolationKind::TooManyBytes,
                text: None,
            });
        }
        Ok(())
    }

    /// Takes the last line, if the stream ended without a newline.
    pub(super) fn last(&mut self) -> Option<(u64, Vec<u8>)> {
        let line = std::mem::take(&mut self.open);
        (!line.is_empty()).then_some((self.ended + 1, line))
    }

    fn line(
        &mut self,
        end: &[u8],
        each: &mut impl FnMut(u64, &[u8]) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        if self.open.is_empty() && end.len() <= EVENT_LINE_BYTES_MAX {
            self.ended += 1;
            return each(self.ended, end);
        }
        self.extend(end)?;
        self.ended += 1;
        let line = std::mem::take(&mut self.open);
        let result = each(self.ended, &line);
        self.open = line;
        self.open.clear();
        result
    }

    fn extend(&mut self, piece: &[u8]) -> Result<(), Violation> {
        let room = EVENT_LINE_BYTES_MAX - self.open.len();
        self.open.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            return Err(Violation::at(self.ended + 1, ViolationKind::LineTooLong, &self.open));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Seen = (Vec<(u64, usize)>, Option<ViolationKind>);

    fn lengths(pieces: &[&[u8]]) -> Seen {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for piece in pieces {
            let pushed = lines.push(piece, |number, line| {
                seen.push((number, line.len()));
                Ok(())
            });
            if let Err(violation) = pushed {
                return (seen, Some(violation.kind));
            }
        }
        seen.extend(lines.last().map(|(number, line)| (number, line.len())));
        (seen, None)
    }

    #[test]
    fn lines_are_cut_wherever_the_pieces_end() {
        assert_eq!(lengths(&[b"ab\n\nc"]), (vec![(1, 2), (2, 0), (3, 1)], None));
        assert_eq!(lengths(&[b"a", b"b", b"\n", b"\nc\n"]), (vec![(1, 2), (2, 0), (3, 1)], None));
        assert_eq!(lengths(&[]), (vec![], None));
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit() {
        let longest = vec![b'x'; EVENT_LINE_BYTES_MAX];
        assert_eq!(lengths(&[&longest, b"\n"]), (vec![(1, longest.len())], None));
        assert_eq!(lengths(&[b"x", &longest, b"\n"]), (vec![], Some(ViolationKind::LineTooLong)));
        let too_long = [&longest[..], b"x\n"].concat();
        assert_eq!(lengths(&[b"\n", &too_long]), (vec![(1, 0)], Some(ViolationKind::LineTooLong)));
    }

    #[test]
    fn all_lines_together_have_a_limit() {
        let line = [vec![b'x'; EVENT_LINE_BYTES_MAX - 1], b"\n".to_vec()].concat();
        let fitting = EVENT_BYTES_PER_ATTEMPT_MAX / line.len();
        let (seen, violation) = lengths(&vec![&line[..]; fitting]);
        assert_eq!((seen.len(), violation), (fitting, None));
        let (seen, violation) = lengths(&vec![&line[..]; fitting + 1]);
        assert_eq!((seen.len(), violation), (fitting, Some(ViolationKind::TooManyBytes)));
    }
}
