//! Errors in a line, for messages that people read.

use std::error::Error;
use std::fmt::Write;

/// Writes an error and its causes on one line.
pub(crate) fn error_text(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        write!(text, ": {cause}").expect("writing to a string does not fail");
        source = cause.source();
    }
    text
}
