//! Pages of long lists, from the store or from a server.

use artel_api::Paged;
use artel_api::client::ClientError;
use artel_store::{Cursor, Page, PageRequest, StoreError};

use crate::failure::{Failure, refused};

/// What to do about a cursor that is none.
const CURSOR_HINT: &str = "`--after` takes the `next` of the page before";

/// A cursor of no list is wrong usage, everything else is the store's failure.
pub(crate) fn cannot_list(error: &StoreError) -> Failure {
    match error {
        StoreError::UnknownCursor { .. } => Failure::usage(error.to_string()).hint(CURSOR_HINT),
        StoreError::Unavailable { .. }
        | StoreError::Full { .. }
        | StoreError::Lost { .. }
        | StoreError::Corrupt { .. }
        | StoreError::TooNew { .. } => Failure::unavailable(error),
    }
}

/// The same, when a server says it.
pub(super) fn not_listed(error: &ClientError) -> Failure {
    match error.code() {
        Some("invalid_cursor") => refused(error).hint(CURSOR_HINT),
        Some(_) | None => refused(error),
    }
}

/// Returns which page is asked of a server: after what, and how many items.
pub(super) fn query_of(page: &PageRequest) -> (Option<String>, Option<u32>) {
    (page.after.as_ref().map(|cursor| cursor.0.clone()), u32::try_from(page.limit).ok())
}

/// Reads a page of a server.
pub(super) fn page_of<T, U>(page: Paged<T>, read: impl FnMut(T) -> U) -> Page<U> {
    Page { items: page.items.into_iter().map(read).collect(), next: page.next.map(Cursor) }
}
