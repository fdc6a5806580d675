//! Logs, for who runs artel: on stderr, as text on a terminal and as one JSON object a line otherwise.
//!
//! `ARTEL_LOG` says how much: off, error, warn, info, debug or trace. What commands tell a person is not logged, it is
//! printed; inputs, outputs and settings are never logged.

use std::io::IsTerminal;

use tracing::level_filters::LevelFilter;

use crate::config::Environment;
use crate::failure::Failure;

/// The variable that says how much is logged.
const VARIABLE: &str = "ARTEL_LOG";

/// Begins to log.
pub(crate) fn start(environment: &Environment) -> Result<(), Failure> {
    let level = match environment.get(VARIABLE) {
        None => LevelFilter::WARN,
        Some(text) => text.parse().map_err(|_| {
            Failure::usage(format!("{VARIABLE}: `{text}` is no level"))
                .hint("the levels are: off, error, warn, info, debug, trace")
        })?,
    };
    let builder =
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    if std::io::stderr().is_terminal() {
        builder.compact().init();
    } else {
        builder.json().flatten_event(true).init();
    }
    Ok(())
}
