//! Columns that line up.

use std::borrow::Cow;

use artel_catalog::visible;
use console::{measure_text_width, truncate_str};

use super::print::{Output, Tone};

/// Rows of cells; the last column takes what is left of the terminal's width.
#[derive(Debug, Default)]
pub(crate) struct Table {
    tones: Vec<Tone>,
    rows: Vec<Vec<String>>,
}

/// Spaces between columns.
const GAP: usize = 2;

impl Table {
    /// Makes a table with a column for every tone.
    pub(crate) fn new(tones: &[Tone]) -> Self {
        Self { tones: tones.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; what the cells say is made harmless.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let harmless = |cell: String| match visible(&cell) {
            Cow::Borrowed(_) => cell,
            Cow::Owned(shown) => shown,
        };
        self.rows.push(cells.into_iter().map(|cell| harmless(cell.into())).collect());
    }

    /// Writes the table; on a terminal the last column is cut to fit.
    pub(crate) fn render(&self, output: &Output) -> String {
        let last = self.tones.len().saturating_sub(1);
        // The last column is as wide as it is.
        let widths: Vec<usize> = (0..last)
            .map(|column| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width_of(cell)).max())
            .map(Option::unwrap_or_default)
            .collect();
        let before: usize = widths.iter().take(last).map(|width| width + GAP).sum();
        let room = output.width.map(|width| width.saturating_sub(before).max(20));
        let mut out = String::new();
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                let shown = match room.filter(|_| column == last) {
                    Some(room) => truncate_str(cell, room, "\u{2026}"),
                    None => Cow::Borrowed(cell.as_str()),
                };
                out.push_str(&output.paint(&shown, self.tones[column]));
                if column < last {
                    let padding = widths[column] - width_of(cell) + GAP;
                    out.extend(std::iter::repeat_n(' ', padding));
                }
            }
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        out
    }
}

/// Plain text needs no look at every character.
fn width_of(cell: &str) -> usize {
    let is_plain = cell.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if is_plain { cell.len() } else { measure_text_width(cell) }
}
