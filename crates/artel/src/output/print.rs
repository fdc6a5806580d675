//! The two streams, and how they look.

use std::io::{IsTerminal, Write};

use console::Style;
use serde::Serialize;

use crate::cli::{ColorChoice, GlobalArgs};
use crate::config::Environment;
use crate::failure::Failure;

/// Where to print, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    quiet: bool,
    pub(crate) verbose: bool,
    colors_on_stdout: bool,
    colors_on_stderr: bool,
    /// The terminal's width; nothing when stdout is none.
    pub(crate) width: Option<usize>,
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
        let width = stdout_is_terminal.then(|| usize::from(console::Term::stdout().size().1));
        Self {
            json: args.json,
            quiet: args.quiet,
            verbose: args.verbose,
            colors_on_stdout: wanted(stdout_is_terminal),
            colors_on_stderr: wanted(std::io::stderr().is_terminal()),
            width,
        }
    }

    /// Prints data. A reader that went away is no failure.
    pub(crate) fn data(&self, text: &str) {
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
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

    /// Says something besides the data.
    pub(crate) fn talk(&self, text: &str) {
        if !self.quiet {
            self.complain(text);
        }
    }

    /// Says something that must be heard.
    pub(crate) fn complain(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = writeln!(stderr, "{text}");
    }

    /// Says why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        if !failure.message.is_empty() {
            self.complain(&format!("{}: {}", self.loud("error", Tone::Error), failure.message));
        }
        if let Some(hint) = &failure.hint {
            self.complain(&format!("{}: {hint}", self.loud("hint", Tone::Accent)));
        }
    }

    /// Colours a text for stdout.
    pub(crate) fn paint(&self, text: &str, tone: Tone) -> String {
        painted(text, tone, self.colors_on_stdout)
    }

    /// Colours a text for stderr.
    pub(crate) fn loud(&self, text: &str, tone: Tone) -> String {
        painted(text, tone, self.colors_on_stderr)
    }
}

fn painted(text: &str, tone: Tone, colors: bool) -> String {
    let style = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Strong => Style::new().bold(),
        Tone::Faint => Style::new().dim(),
        Tone::Good => Style::new().green(),
        Tone::Warning => Style::new().yellow().bold(),
        Tone::Error => Style::new().red().bold(),
        Tone::Accent => Style::new().cyan(),
    };
    if colors { style.force_styling(true).apply_to(text).to_string() } else { text.to_owned() }
}
