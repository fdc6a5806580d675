//! What PostgreSQL and the way to it can answer, in the words of every store.

use std::borrow::Cow;

use artel_store::StoreError;

/// `disk_full`.
const FULL: &str = "53100";
/// `data_corrupted`, `index_corrupted`.
const DAMAGED: &[&str] = &["XX001", "XX002"];
/// Values, constraints or tables that do not fit our statements: somebody else changed what is kept.
const FOREIGN_CLASSES: &[&str] = &["22", "23", "42"];
/// Connection exceptions, and a server that is being stopped or has just crashed.
const LOST_CLASS: &str = "08";
const LOST: &[&str] = &["57P01", "57P02", "57P03"];

enum Kind {
    Unavailable,
    Full,
    Corrupt,
}

/// Says what went wrong while `what` was done.
pub(crate) fn store_error(what: &str, error: sqlx::Error) -> StoreError {
    let (kind, what, source) = (kind(&error), what.to_owned(), Box::new(error));
    match kind {
        Kind::Unavailable => StoreError::Unavailable { what, source },
        Kind::Full => StoreError::Full { what, source },
        Kind::Corrupt => StoreError::Corrupt { what, source },
    }
}

/// Says whether the connection is gone, so that nobody knows whether a write came through.
pub(crate) fn is_loss(error: &sqlx::Error) -> bool {
    match code(error) {
        Some(code) => code.starts_with(LOST_CLASS) || LOST.contains(&code.as_str()),
        None => matches!(error, sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed),
    }
}

fn kind(error: &sqlx::Error) -> Kind {
    let Some(code) = code(error) else {
        return if is_unreadable(error) { Kind::Corrupt } else { Kind::Unavailable };
    };
    if code == FULL {
        Kind::Full
    } else if DAMAGED.contains(&code.as_str()) || FOREIGN_CLASSES.iter().any(|class| code.starts_with(class))
    {
        Kind::Corrupt
    } else {
        Kind::Unavailable
    }
}

/// Says whether an answer came, but not one that we understand.
fn is_unreadable(error: &sqlx::Error) -> bool {
    matches!(
        error,
        sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::ColumnIndexOutOfBounds { .. }
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::Decode(_)
            | sqlx::Error::RowNotFound
            | sqlx::Error::TypeNotFound { .. }
    )
}

fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(Cow::into_owned)
}
