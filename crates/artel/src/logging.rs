//! Logs, for who runs artel: on stderr, as text on a terminal and as one JSON object a line otherwise.
//!
//! `ARTEL_LOG` says how much: off, error, warn, info, debug or trace. Without it, a server logs what it does (info, or what
//! `[server] log` says), and every other command only what goes wrong. What commands tell a person is not logged, it is
//! printed; inputs, outputs and settings are never logged.

use std::io::IsTerminal;
use std::sync::OnceLock;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry, fmt, reload};

use crate::cli::Command;
use crate::config::Environment;
use crate::failure::Failure;

/// The variable that says how much is logged.
const VARIABLE: &str = "ARTEL_LOG";

/// Changes how much is logged.
static LEVEL: OnceLock<reload::Handle<LevelFilter, Registry>> = OnceLock::new();

/// Begins to log.
pub(crate) fn start(environment: &Environment, command: &Command) -> Result<(), Failure> {
    let (filter, handle) = reload::Layer::new(match environment.get(VARIABLE) {
        Some(text) => level(text, VARIABLE)?,
        None if matches!(command, Command::Serve(_)) => LevelFilter::INFO,
        None => LevelFilter::WARN,
    });
    let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let lines = match std::io::stderr().is_terminal() {
        true => lines.compact().boxed(),
        false => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(lines).init();
    let _ = LEVEL.set(handle);
    Ok(())
}

/// Changes how much is logged to what the configuration of a server says; the variable wins over it.
pub(crate) fn change(environment: &Environment, configured: Option<LevelFilter>) {
    if let (None, Some(handle)) = (environment.get(VARIABLE), LEVEL.get()) {
        let _ = handle.modify(|level| *level = configured.unwrap_or(LevelFilter::INFO));
    }
}

/// Reads a level that stands at that place.
pub(crate) fn level(text: &str, place: &str) -> Result<LevelFilter, Failure> {
    text.parse().map_err(|_| {
        Failure::usage(format!("{place}: `{text}` is no level"))
            .hint("the levels are: off, error, warn, info, debug, trace")
    })
}
