//! A picture on the terminal that is drawn again in the same place. Knows nothing of what it shows.

use console::Term;

/// Columns and rows of a terminal that does not say how large it is.
const SIZE_USUAL: (u16, u16) = (24, 80);

/// A picture on the terminal behind stderr.
pub(crate) struct Screen {
    terminal: Term,
    /// Lines of the picture that stand above the cursor.
    lines: usize,
}

impl Screen {
    /// Begins with nothing drawn.
    pub(crate) fn new() -> Self {
        Self { terminal: Term::buffered_stderr(), lines: 0 }
    }

    /// Draws the picture over the one before. A terminal that went away is no failure.
    pub(crate) fn draw(&mut self, frame: impl Fn(u16, u16) -> Vec<String>) {
        let (height, width) = self.terminal.size_checked().unwrap_or(SIZE_USUAL);
        // The last row is the cursor's: a picture in it would make the terminal scroll.
        let lines = frame(width, height.saturating_sub(1));
        let _ = self.terminal.clear_last_lines(self.lines);
        for line in &lines {
            let _ = self.terminal.write_line(line);
        }
        self.lines = lines.len();
        let _ = self.terminal.flush();
    }

    /// Lets the picture stay as it is; the next one is drawn below.
    pub(crate) fn leave(&mut self) {
        self.lines = 0;
    }
}
