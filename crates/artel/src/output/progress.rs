//! What goes on while somebody waits: one line that is drawn again on a terminal, a line for every stage otherwise.

use console::truncate_str;

use super::print::{Output, Tone, painted};
use super::screen::Screen;

/// What goes on while somebody waits.
pub(crate) struct Progress<'o> {
    output: &'o Output,
    screen: Option<Screen>,
    stage: Option<&'static str>,
}

impl<'o> Progress<'o> {
    /// Begins with nothing shown.
    pub(crate) fn new(output: &'o Output) -> Self {
        let screen = (output.stderr_is_terminal && !output.quiet).then(Screen::new);
        Self { output, screen, stage: None }
    }

    /// Says what is done, and how far it has come; where there is no terminal, only when something else is done.
    pub(crate) fn step(&mut self, stage: &'static str, how_far: &str) {
        match &mut self.screen {
            Some(screen) => {
                let line = format!("{stage} {how_far}");
                let colors = self.output.colors_on_stderr;
                screen.draw(|width, _| {
                    vec![painted(&truncate_str(&line, width.into(), "\u{2026}"), Tone::Faint, colors)]
                });
            }
            None if self.stage != Some(stage) => self.output.talk(stage),
            None => {}
        }
        self.stage = Some(stage);
    }

    /// Takes the line away.
    pub(crate) fn end(self) {
        if let Some(mut screen) = self.screen {
            screen.draw(|_, _| Vec::new());
        }
    }
}
