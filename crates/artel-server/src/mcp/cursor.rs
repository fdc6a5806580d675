//! Pages of lists that are ordered by a key: a cursor is the key of the last item, so that a list may change between
//! pages and nothing that stays is missed or repeated.

use artel_model::limit::MCP_PAGE_ITEMS;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// Returns the key after which a page begins; nothing for the first.
pub(super) fn after(request: Option<PaginatedRequestParams>) -> Result<Option<String>, ErrorData> {
    decode(request.and_then(|request| request.cursor).as_deref())
}

/// Reads a cursor.
pub(super) fn decode(cursor: Option<&str>) -> Result<Option<String>, ErrorData> {
    let Some(cursor) = cursor else { return Ok(None) };
    let key = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    key.map(Some).ok_or_else(|| ErrorData::invalid_params("the cursor is not one of this list", None))
}

/// Takes a page out of what comes after a key, and says where the next one begins. The items come in the order of their
/// keys.
pub(super) fn page<T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> String,
) -> (Vec<T>, Option<String>) {
    let mut items = items.into_iter();
    let taken: Vec<T> = items.by_ref().take(MCP_PAGE_ITEMS).collect();
    let next =
        taken.last().filter(|_| items.next().is_some()).map(|last| BASE64_URL_SAFE_NO_PAD.encode(key(last)));
    (taken, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_everything_once() {
        let all: Vec<String> = (0..2 * MCP_PAGE_ITEMS + 1).map(|number| format!("{number:05}")).collect();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let after = decode(cursor.as_deref()).unwrap();
            let rest = all.iter().filter(|item| after.as_ref().is_none_or(|after| *item > after));
            let (items, next) = page(rest, |item| (*item).clone());
            seen.extend(items.into_iter().cloned());
            match next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn a_cursor_of_somebody_else_is_refused() {
        assert!(decode(Some("!")).is_err());
        assert_eq!(decode(None).unwrap(), None);
    }
}
