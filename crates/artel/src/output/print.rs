//! The two streams, and how they look.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{ErrorKind, IsTerminal, Write};

use artel_catalog::visible;
use console::Style;
use serde::Serialize;

use crate::cli::{ColorChoice, GlobalArgs};
use crate::config::Environment;
use crate::failure::Failure;

/// Where to print, and how.
///
/// What skills say is made harmless where it is printed for people: in cells of tables, in everything that is painted,
/// in talk and failures. Documents and the contents of files are data, and stay as they are.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(super) quiet: bool,
    pub(crate) verbose: bool,
    colors_on_stdout: bool,
    pub(super) colors_on_stderr: bool,
    pub(super) stderr_is_terminal: bool,
    /// The terminal's width; nothing when stdout is none.
    pub(crate) width: Option<usize>,
    /// Why data was lost, the first time it was.
    lost: RefCell<Option<std::io::Error>>,
}

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Faint,
    Good,
    Warning,
    Error,
    Accent,
}

impl Output {
    /// Looks at the flags, the environment and the terminal.
    pub(crate) fn new(args: &GlobalArgs, environment: &Environment) -> Self {
        let wanted = |is_terminal: bool| match args.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && environment.get("NO_COLOR").is_none(),
        };
        let stdout_is_terminal = std::io::stdout().is_terminal();
        let stderr_is_terminal = std::io::stderr().is_terminal();
        let width = stdout_is_terminal.then(|| usize::from(console::Term::stdout().size().1));
        Self {
            json: args.json,
            quiet: args.quiet,
            verbose: args.verbose,
            colors_on_stdout: wanted(stdout_is_terminal),
            colors_on_stderr: wanted(stderr_is_terminal),
            stderr_is_terminal,
            width,
            lost: RefCell::new(None),
        }
    }

    /// Says whether a picture of a run was seen where its data is printed.
    pub(crate) fn shows_pictures(&self) -> bool {
        self.stderr_is_terminal && self.width.is_some()
    }

    /// Prints data.
    pub(crate) fn data(&self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn bytes(&self, bytes: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        if let Err(error) = written {
            self.lost.borrow_mut().get_or_insert(error);
        }
    }

    /// Says whether everything was printed. A reader that went away is no failure.
    pub(crate) fn written(&self) -> Result<(), Failure> {
        match self.lost.borrow_mut().take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::missing(format!("cannot write the output: {error}")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Prints what a file holds: as it is, but harmless on a terminal.
    pub(crate) fn content(&self, bytes: &[u8]) {
        if self.width.is_none() {
            return self.bytes(bytes);
        }
        self.data(&visible_lines(&String::from_utf8_lossy(bytes)));
    }

    /// Prints a line of data.
    pub(crate) fn line(&self, text: &str) {
        self.data(&format!("{text}\n"));
    }

    /// Prints a document as JSON.
    pub(crate) fn document(&self, document: &impl Serialize) {
        let text = serde_json::to_string_pretty(document).expect("our documents are JSON");
        self.line(&text);
    }

    /// Says something besides the data, on a line.
    pub(crate) fn talk(&self, text: &str) {
        if !self.quiet {
            self.complain(&visible(text));
        }
    }

    /// Says something besides the data, on a line that starts with a word in colour.
    pub(crate) fn remark(&self, word: &str, tone: Tone, text: &str) {
        if !self.quiet {
            self.complain(&format!("{} {}", painted(word, tone, self.colors_on_stderr), visible(text)));
        }
    }

    /// Says something that must be heard. The text must be harmless already.
    pub(crate) fn complain(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        // There is nowhere left to say that it failed.
        let _ = writeln!(stderr, "{text}");
    }

    /// Says why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        let told = Some(&failure.message).filter(|message| !message.is_empty());
        let told = told.map(|message| ("error", Tone::Error, message));
        let hint = failure.hint.as_ref().map(|hint| ("hint", Tone::Accent, hint));
        for (word, tone, text) in told.into_iter().chain(hint) {
            self.complain(&format!("{}: {}", painted(word, tone, self.colors_on_stderr), visible(text)));
        }
    }

    /// Colours a text for stdout.
    pub(crate) fn paint(&self, text: &str, tone: Tone) -> String {
        painted(text, tone, self.colors_on_stdout)
    }
}

pub(super) fn painted(text: &str, tone: Tone, colors: bool) -> String {
    let text: Cow<'_, str> = visible(text);
    let style = match tone {
        Tone::Plain => return text.into_owned(),
        Tone::Strong => Style::new().bold(),
        Tone::Faint => Style::new().dim(),
        Tone::Good => Style::new().green(),
        Tone::Warning => Style::new().yellow().bold(),
        Tone::Error => Style::new().red().bold(),
        Tone::Accent => Style::new().cyan(),
    };
    if colors { style.force_styling(true).apply_to(text).to_string() } else { text.into_owned() }
}

/// Makes a text of several lines harmless to a terminal.
fn visible_lines(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => format!("{}\n", visible(line.strip_suffix('\r').unwrap_or(line))),
            None => visible(line).into_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_file_stay_lines() {
        assert_eq!(visible_lines("a\u{1b}[2J\n\tb\r\nc"), "a\u{fffd}[2J\n b\nc");
        assert_eq!(visible_lines("\n\n"), "\n\n");
    }

    #[test]
    fn what_is_painted_is_harmless() {
        assert_eq!(painted("a\u{1b}[31mb", Tone::Plain, true), "a\u{fffd}[31mb");
        assert_eq!(painted("a\u{1b}b", Tone::Strong, true), "\u{1b}[1ma\u{fffd}b\u{1b}[0m");
    }
}
