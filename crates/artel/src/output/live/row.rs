//! One line of a picture: pieces of text with their colours, cut to the width of the terminal.

use console::{measure_text_width, truncate_str};

use crate::output::print::{Tone, painted};

/// One line, in pieces.
#[derive(Debug, Default)]
pub(super) struct Row(Vec<(String, Tone)>);

impl Row {
    /// Adds a piece; it must be harmless already.
    pub(super) fn push(&mut self, text: impl Into<String>, tone: Tone) {
        let text = text.into();
        if !text.is_empty() {
            self.0.push((text, tone));
        }
    }

    /// Fills up with spaces, or cuts, so that the line so far is `width` wide.
    pub(super) fn fill(&mut self, width: usize) {
        let pieces = std::mem::take(&mut self.0);
        let mut left = width;
        for (text, tone) in pieces {
            let text =
                if left == 0 { String::new() } else { truncate_str(&text, left, "\u{2026}").into_owned() };
            left -= measure_text_width(&text).min(left);
            self.push(text, tone);
        }
        self.push(" ".repeat(left), Tone::Plain);
    }

    /// Returns how wide the line is.
    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| measure_text_width(text)).sum()
    }

    /// Writes the line, at most `width` wide.
    pub(super) fn render(mut self, width: usize, in_colors: bool) -> String {
        if self.width() > width {
            self.fill(width);
        }
        while let Some((text, _)) = self.0.last_mut() {
            text.truncate(text.trim_end_matches(' ').len());
            if !text.is_empty() {
                break;
            }
            self.0.pop();
        }
        self.0.iter().map(|(text, tone)| painted(text, *tone, in_colors)).collect()
    }
}
