//! The span of a request: which endpoint, who asked, how it was answered. Bodies, keys and tokens are none of its business.

use artel_engine::trace::{Span, SpanKind, is_on};
use artel_model::access::Principal;
use artel_model::trace::TraceParent;
use axum::extract::Request;
use axum::http::StatusCode;

/// The header that says which trace a request belongs to.
const TRACE_PARENT: &str = "traceparent";

/// The span of one request.
pub(crate) struct RequestSpan(Span);

impl RequestSpan {
    /// Begins the span of a request, at the place that its sender names.
    pub(crate) fn begin(request: &mut Request, path: &'static str) -> Self {
        let parent = request.headers().get(TRACE_PARENT).and_then(|value| value.to_str().ok()?.parse().ok());
        // Without anybody who records it, there is nothing to write down.
        let name = if is_on() { format!("{} {path}", request.method()) } else { String::new() };
        let mut span = Span::begin(name, SpanKind::Server, parent);
        span.set("http.request.method", request.method().as_str());
        span.set("http.route", path);
        // A session of MCP answers in a task of its own, and finds the place here.
        if let Some(place) = span.place() {
            request.extensions_mut().insert(place);
        }
        Self(span)
    }

    /// Returns the span of a request that is not worth one: looking whether the server is well is no work.
    pub(crate) fn none() -> Self {
        Self(Span::none())
    }

    /// Returns the place that what is done for the request is done at.
    pub(crate) fn place(&self) -> Option<TraceParent> {
        self.0.place()
    }

    /// Says who asked.
    pub(crate) fn asked_by(&mut self, principal: &Principal) {
        self.0.set("artel.principal", principal.viewer.user.as_str());
    }

    /// Says how the request was answered.
    pub(crate) fn answered(&mut self, status: StatusCode) {
        self.0.set("http.response.status_code", i64::from(status.as_u16()));
        if status.is_server_error() {
            self.0.fail(status.canonical_reason().unwrap_or("the server failed"));
        }
    }
}
