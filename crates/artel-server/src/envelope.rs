//! What every answer has: the id of its request, headers that keep browsers from mischief, and for errors the envelope.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use artel_api::{ErrorBody, ErrorKind};
use artel_app::{OperationError, moment};
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use tower::ServiceExt;

use crate::auth::ClientAddress;
use crate::body_budget::BodyShare;

use crate::error::{ApiError, status_of};
use crate::http::Http;
use crate::panic::{Panicked, surviving};
use crate::patience::Tardy;
use crate::request_id::RequestId;
use crate::request_log::{Exchange, RequestFacts};

/// The header that names a request, in answers and, from a proxy that is trusted to be ours, in requests.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Headers that every answer gets here, and those that hyper adds.
const HEADERS_ADDED: usize = 8;
/// Nothing may be loaded from elsewhere, no page may frame ours, no script may be inlined.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     media-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Answers a request: gives it its id, and its answer what every answer has.
pub(crate) async fn enveloped(http: &Http, router: Router, mut request: Request) -> Response {
    let began = moment();
    let id = http.request_ids().next(http.app().clock().now());
    request.extensions_mut().insert(id.clone());
    let facts = RequestFacts::default();
    request.extensions_mut().insert(facts.clone());
    let (method, uri, address) = (request.method().clone(), request.uri().clone(), address(http, &request));
    let tardy = request.extensions().get::<Tardy>().cloned();
    // Held until the request is answered: what was read of its body is in memory as long.
    let share = request.extensions().get::<BodyShare>().cloned();
    let answered = surviving(router.oneshot(request)).await;
    let answered = answered.map(|answer| answer.unwrap_or_else(|never| match never {}));
    let mut response = answered.unwrap_or_else(|Panicked| {
        http.meters().panics.increment(1);
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    });
    if tardy.is_some_and(|tardy| tardy.is_tardy()) && response.status().is_client_error() {
        response = StatusCode::REQUEST_TIMEOUT.into_response();
    }
    if share.is_some_and(|share| share.is_refused()) && response.status().is_client_error() {
        let message = "The server has no room for another large body. Please try again later.";
        response = ApiError(OperationError::unavailable("too_many_bodies", message)).into_response();
    }
    if let Some(error) = response.extensions_mut().remove::<OperationError>() {
        response = with_headers_of(&response, sealed(error, &id));
    } else if is_bare_error(&response) {
        response = with_headers_of(&response, sealed(bare(response.status()), &id));
    }
    http.meters().answered(began, response.status());
    http.meters().streams(http.config().streams_max.saturating_sub(http.streams().available_permits()));
    let (status, took) = (response.status(), began.elapsed());
    let exchange = Exchange { id: &id, method: &method, path: uri.path(), address, status, took };
    http.request_log().answered(&facts, &exchange, http.live().slow_request, http.app().clock().now());
    add_headers(&mut response, &id);
    response
}

/// Returns where a request comes from.
fn address(http: &Http, request: &Request) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| peer.ip());
    ClientAddress::of(peer, request.headers(), &http.live().trusted_proxies).0
}

/// An error that came from the router or a library, and has no envelope.
fn is_bare_error(response: &Response) -> bool {
    if !response.status().is_client_error() && !response.status().is_server_error() {
        return false;
    }
    let has_type = response.headers().get(header::CONTENT_TYPE);
    !has_type.is_some_and(|value| value.as_bytes().starts_with(b"application/json"))
}

fn bare(status: StatusCode) -> OperationError {
    let kind = ErrorKind::of_status(status.as_u16());
    let (code, message) = match status {
        StatusCode::NOT_FOUND => {
            ("not_found", "there is nothing at this path; /api/openapi.json lists what there is")
        }
        StatusCode::METHOD_NOT_ALLOWED => ("method_not_allowed", "this path does not answer to this method"),
        StatusCode::PAYLOAD_TOO_LARGE => ("too_large", "the body is too large"),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            ("unsupported_media_type", "the body is of a type that is not understood")
        }
        StatusCode::REQUEST_TIMEOUT => ("too_slow", "the request took too long to arrive"),
        status if status.is_client_error() => ("bad_request", "the request cannot be understood"),
        _ => ("internal", "something went wrong here; the server's log knows more"),
    };
    OperationError::new(kind, code, message)
}

fn sealed(error: OperationError, id: &RequestId) -> Response {
    let body = ErrorBody {
        error: error.code.to_owned(),
        message: error.message,
        details: error.details,
        request_id: id.as_str().to_owned(),
    };
    let mut response = (status_of(error.kind), Json(body)).into_response();
    if let Some(seconds) = error.retry_after_seconds {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if error.kind == ErrorKind::Unauthorized {
        let challenge = HeaderValue::from_static("Bearer realm=\"artel\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Keeps what was said beside the body, like which methods are allowed.
fn with_headers_of(before: &Response, mut after: Response) -> Response {
    for name in [header::ALLOW] {
        if let Some(value) = before.headers().get(&name) {
            after.headers_mut().insert(name, value.clone());
        }
    }
    after
}

fn add_headers(response: &mut Response, id: &RequestId) {
    let headers = response.headers_mut();
    // At once, instead of a few at a time.
    headers.reserve(HEADERS_ADDED);
    headers.insert(REQUEST_ID, id.to_header());
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    // What one caller may see is nobody else's; whoever may keep an answer says so itself.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
