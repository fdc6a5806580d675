//! What queries say about lists: which page, and which of the words there are.

use artel_api::Paged;
use artel_model::limit::{API_PAGE_ITEMS, API_PAGE_ITEMS_MAX, API_WAIT_MS_MAX};
use artel_store::{Cursor, Page, PageRequest};

use crate::error::OperationError;

/// Returns how many items were asked for.
pub(super) fn limit(asked: Option<u32>) -> Result<usize, OperationError> {
    let limit = asked.map_or(API_PAGE_ITEMS, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    match limit {
        1..=API_PAGE_ITEMS_MAX => Ok(limit),
        _ => Err(OperationError::bad_request(
            "invalid_query",
            format!("`limit` is from 1 to {API_PAGE_ITEMS_MAX}"),
        )),
    }
}

/// Returns how long to wait, within what may be waited over HTTP.
pub(super) fn wait_ms(name: &str, millis: u64, least: u64) -> Result<u64, OperationError> {
    if (least..=API_WAIT_MS_MAX).contains(&millis) {
        return Ok(millis);
    }
    Err(OperationError::bad_request(
        "invalid_query",
        format!("`{name}` is from {least} to {API_WAIT_MS_MAX} ms"),
    ))
}

/// Returns the page that was asked for.
pub(super) fn page_request(after: Option<String>, asked: Option<u32>) -> Result<PageRequest, OperationError> {
    Ok(PageRequest { after: after.map(Cursor), limit: limit(asked)? })
}

/// Shows a page.
pub(super) fn paged<T, U>(page: Page<T>, show: impl Fn(T) -> U) -> Paged<U> {
    Paged { items: page.items.into_iter().map(show).collect(), next: page.next.map(|cursor| cursor.0) }
}

/// Reads words with commas between; `name` is the parameter they are the value of.
pub(super) fn words<T: Copy>(
    name: &str,
    text: Option<&str>,
    all: &[T],
    word: fn(T) -> &'static str,
) -> Result<Vec<T>, OperationError> {
    let asked =
        text.into_iter().flat_map(|text| text.split(',')).map(str::trim).filter(|text| !text.is_empty());
    asked
        .map(|text| {
            all.iter().copied().find(|one| word(*one) == text).ok_or_else(|| {
                let known: Vec<&str> = all.iter().map(|one| word(*one)).collect();
                let message = format!("`{name}` holds no `{text}`; there are {}", known.join(", "));
                OperationError::bad_request("invalid_query", message)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use artel_model::run::RunState;

    use super::*;

    #[test]
    fn pages_have_a_sensible_size() {
        assert_eq!(limit(None).unwrap(), API_PAGE_ITEMS);
        assert_eq!(limit(Some(1)).unwrap(), 1);
        for wrong in [0, 1001, u32::MAX] {
            assert_eq!(limit(Some(wrong)).unwrap_err().code, "invalid_query");
        }
    }

    #[test]
    fn words_are_read_and_others_refused() {
        let read = |text| words("state", text, RunState::ALL, RunState::as_str);
        assert_eq!(read(None).unwrap(), []);
        assert_eq!(read(Some("running, failed")).unwrap(), [RunState::Running, RunState::Failed]);
        assert!(read(Some("running,odd")).unwrap_err().message.contains("awaiting_approval"));
    }
}
