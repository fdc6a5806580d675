//! What SQLite says, in the words of stores.

use artel_store::StoreError;
use rusqlite::ErrorCode;

/// Returns what a failure means; `what` says what was tried, with the file's path.
pub(crate) fn store_error(what: &str, error: &rusqlite::Error) -> StoreError {
    let source = error.to_string().into();
    match kind(error) {
        Kind::Busy => {
            StoreError::Unavailable { what: format!("{what} (another program uses the file)"), source }
        }
        Kind::Unavailable => StoreError::Unavailable { what: what.to_owned(), source },
        Kind::Full => StoreError::Full { what: what.to_owned(), source },
        Kind::Corrupt => StoreError::Corrupt { what: what.to_owned(), source },
    }
}

/// Says whether somebody else holds the file just then.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(kind(error), Kind::Busy)
}

enum Kind {
    Busy,
    Unavailable,
    Full,
    Corrupt,
}

/// What is neither the machine's nor another program's doing is something that we cannot have written.
fn kind(error: &rusqlite::Error) -> Kind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Kind::Busy,
        Some(ErrorCode::DiskFull | ErrorCode::TooBig) => Kind::Full,
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NoLargeFileSupport
            | ErrorCode::OperationAborted
            | ErrorCode::OperationInterrupted
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::SystemIoFailure,
        ) => Kind::Unavailable,
        Some(_) | None => Kind::Corrupt,
    }
}
