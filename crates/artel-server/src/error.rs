//! Errors of operations as answers. An error becomes the envelope when it leaves (`envelope`).

use artel_api::ErrorKind;
use artel_app::{HubError, ImportFailed, OperationError, RefreshFailed, SaveError};
use artel_store::StoreError;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// An error of an operation, as a handler or an extractor answers with it.
#[derive(Clone, Debug)]
pub(crate) struct ApiError(pub(crate) OperationError);

impl From<OperationError> for ApiError {
    fn from(error: OperationError) -> Self {
        Self(error)
    }
}

/// What handlers meet on their way to an operation or after it.
macro_rules! from_errors {
    ($($error:ty),*) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self(error.into())
            }
        }
    )*};
}

from_errors!(HubError, ImportFailed, RefreshFailed, SaveError, StoreError);

/// Returns the status of an answer with such an error.
pub(crate) fn status_of(kind: ErrorKind) -> StatusCode {
    StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = status_of(self.0.kind).into_response();
        response.extensions_mut().insert(self.0);
        response
    }
}
