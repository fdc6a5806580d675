//! What handlers take out of a request; what does not fit becomes the envelope of errors.

use artel_api::ErrorKind;
use artel_app::OperationError;
use artel_model::access::Principal;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, OptionalFromRequest, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// Who is calling; put there by the check in front of every route.
pub(crate) struct Caller(pub(crate) Principal);

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Principal>().cloned().map(Self).ok_or(ApiError(OperationError::unauthorized()))
    }
}

/// A body that is JSON; unknown fields are refused by its type.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        match <axum::Json<T> as FromRequest<S>>::from_request(request, state).await {
            Ok(axum::Json(value)) => Ok(Self(value)),
            Err(rejection) => Err(refused_json(&rejection).into()),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned> OptionalFromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Option<Self>, ApiError> {
        let is_empty = !request.headers().contains_key(header::CONTENT_TYPE)
            && request.headers().get(header::CONTENT_LENGTH).is_none_or(|length| length == "0");
        if is_empty {
            return Ok(None);
        }
        <Self as FromRequest<S>>::from_request(request, state).await.map(Some)
    }
}

fn refused_json(rejection: &JsonRejection) -> OperationError {
    match rejection.status() {
        StatusCode::UNPROCESSABLE_ENTITY => {
            OperationError::unprocessable("invalid_body", rejection.body_text())
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => OperationError::new(
            ErrorKind::UnsupportedMediaType,
            "unsupported_media_type",
            "the body must be JSON, with `Content-Type: application/json`",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => {
            OperationError::new(ErrorKind::TooLarge, "too_large", "the body is too large")
        }
        _ => OperationError::bad_request("invalid_json", rejection.body_text()),
    }
}

/// The query of a request; unknown parameters are refused by its type.
pub(crate) struct QueryOf<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryOf<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let asked: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        match asked {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => Err(OperationError::bad_request("invalid_query", rejection.body_text()).into()),
        }
    }
}

/// The parts of the path of a request.
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let named: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, state).await;
        match named {
            Ok(Path(value)) => Ok(Self(value)),
            // An id that cannot be one names nothing.
            Err(_) => Err(OperationError::not_found("thing").into()),
        }
    }
}
