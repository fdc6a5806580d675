//! Why the scanner said nothing. The words are shown to people, so they quote nothing of the program or the machine.

use artel_model::limit::SCAN_PROGRAM_OUTPUT_BYTES_MAX;
use thiserror::Error;

use crate::process::{Exit, SpawnError};
use crate::program::TooMuch;

/// Why the scanner said nothing.
#[derive(Debug, Error)]
pub(super) enum ScannerError {
    #[error("the scanner cannot be started")]
    Start(#[source] Box<SpawnError>),
    #[error("the scanner said nothing within {0} ms")]
    Deadline(u64),
    #[error("the scanner said more than {SCAN_PROGRAM_OUTPUT_BYTES_MAX} bytes")]
    TooMuch,
    #[error("the scanner failed ({})", told(.0))]
    Failed(Exit),
    #[error("there is no folder to scan in")]
    Folder(#[source] std::io::Error),
    #[error("copies for the scanner cannot be made")]
    Copies,
}

/// Says how a program ended; a limit that ended it says more than the signal.
fn told(exit: &Exit) -> String {
    exit.limit.map_or_else(|| exit.status.to_string(), |reached| reached.to_string())
}

impl From<SpawnError> for ScannerError {
    fn from(error: SpawnError) -> Self {
        Self::Start(Box::new(error))
    }
}

impl From<TooMuch> for ScannerError {
    fn from(_: TooMuch) -> Self {
        Self::TooMuch
    }
}
