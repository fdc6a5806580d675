//! The headers of conditional requests: `If-Match` is read and `ETag` written here.

use artel_app::{IfMatch, OperationError};
use axum::http::{HeaderMap, HeaderValue, header};

/// Reads the condition of a request.
pub(crate) fn if_match(headers: &HeaderMap) -> Result<IfMatch, OperationError> {
    IfMatch::read(headers.get_all(header::IF_MATCH).iter().map(|value| value.to_str().ok()))
}

/// Returns a tag as a header.
pub(crate) fn quoted(tag: &str) -> HeaderValue {
    // A text that is given away is not copied.
    HeaderValue::try_from(["\"", tag, "\""].concat()).unwrap_or(HeaderValue::from_static("\"\""))
}
