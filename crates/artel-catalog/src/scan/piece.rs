//! A piece of text to scan, with the place it comes from: a whole file, a block of one, or something decoded out of it.

use camino::Utf8Path;

use artel_model::catalog::Severity;

/// A piece of text and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    /// The file it is in.
    pub(super) path: &'a Utf8Path,
    /// The text itself.
    pub(super) text: &'a str,
    /// The line of the file that the text begins at, from 1.
    pub(super) line: u32,
    /// Whether its own lines are lines of the file; decoded text has only one place.
    pub(super) has_lines: bool,
    /// What had to be decoded to get it, from the outside in.
    pub(super) decoded: Vec<&'static str>,
    /// How it is meant.
    pub(super) intent: TextIntent,
}

/// How a piece of text is meant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TextIntent {
    /// It is run, or followed.
    Meant,
    /// It is read by agents but not seen by people.
    Hidden,
    /// It is shown as something to avoid or to look out for.
    Shown,
}

impl<'a> Piece<'a> {
    /// A whole file.
    pub(super) fn file(path: &'a Utf8Path, text: &'a str) -> Self {
        Self { path, text, line: 1, has_lines: true, decoded: Vec::new(), intent: TextIntent::Meant }
    }

    /// A part of this piece that begins `lines` lines below its beginning.
    pub(super) fn part<'b>(&'b self, text: &'b str, lines: u32, intent: TextIntent) -> Piece<'b> {
        let line = if self.has_lines { self.line + lines } else { self.line };
        let intent = if self.intent == TextIntent::Meant { intent } else { self.intent };
        Piece {
            path: self.path,
            text,
            line,
            has_lines: self.has_lines,
            decoded: self.decoded.clone(),
            intent,
        }
    }

    /// Something that was decoded out of line `line` of the file.
    pub(super) fn decoded<'b>(&'b self, text: &'b str, line: u32, how: &'static str) -> Piece<'b> {
        let mut decoded = self.decoded.clone();
        decoded.push(how);
        Piece { path: self.path, text, line, has_lines: false, decoded, intent: self.intent }
    }

    /// Returns the line of the file for a place in the text.
    pub(super) fn line_at(&self, offset: usize) -> u32 {
        if !self.has_lines {
            return self.line;
        }
        let end = offset.min(self.text.len());
        let before = self.text.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count();
        self.line + u32::try_from(before).unwrap_or(u32::MAX - self.line)
    }

    /// Returns the line of the file for the `row`th line of the text, from 0.
    pub(super) fn line_of_row(&self, row: usize) -> u32 {
        let row = if self.has_lines { u32::try_from(row).unwrap_or(u32::MAX - self.line) } else { 0 };
        self.line.saturating_add(row)
    }

    /// Returns the text of a line of the file.
    pub(super) fn text_of_line(&self, line: u32) -> &'a str {
        let row = if self.has_lines { line.saturating_sub(self.line) } else { 0 };
        self.text.lines().nth(row as usize).unwrap_or_default()
    }
}

impl TextIntent {
    /// Returns how bad something is that usually is `severity`.
    pub(super) fn weigh(self, severity: Severity) -> Severity {
        match self {
            Self::Meant => severity,
            Self::Hidden => severity.max(Severity::High.min(next(severity))),
            Self::Shown => severity.min(Severity::Low),
        }
    }
}

fn next(severity: Severity) -> Severity {
    match severity {
        Severity::Info => Severity::Low,
        Severity::Low => Severity::Medium,
        Severity::Medium => Severity::High,
        Severity::High | Severity::Critical => Severity::Critical,
    }
}
