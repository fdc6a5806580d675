//! The header that names a request which may be repeated.

use artel_app::IdempotencyKey;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::error::ApiError;

/// The header with the key.
pub(crate) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// The key of a request, as its sender chose it.
pub(crate) struct KeyHeader(pub(crate) IdempotencyKey);

impl<S: Send + Sync> FromRequestParts<S> for KeyHeader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get(IDEMPOTENCY_KEY) else { return Ok(Self(IdempotencyKey::none())) };
        IdempotencyKey::read(value.to_str().unwrap_or_default()).map(Self).map_err(ApiError)
    }
}
