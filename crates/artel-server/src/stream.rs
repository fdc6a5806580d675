//! Server-sent events, one way for all of them: every event has an id, a reconnect with `Last-Event-ID` misses nothing, silence
//! is filled with comments, a reader that takes nothing is cut off and can resume. A stream ends when the credential is not good
//! any more that it was opened with, and all of them end when the server does.
//!
//! Knows nothing of what the events are about.

use std::convert::Infallible;
use std::pin::Pin;
use std::str::FromStr;
use std::task::{Context, Poll};
use std::time::Duration;

use artel_app::{Next, OperationError, Source, StreamEvent, until_refused};
use artel_model::access::Principal;
use artel_model::limit::{STREAM_EVENTS_MAX, STREAM_STALL_MS};
use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use tokio::sync::mpsc;

use crate::error::ApiError;
use crate::http::Http;

/// How long a stream may be silent before a comment is sent: proxies give up on silence.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a client is to wait before it comes back, in milliseconds.
const RETRY_MS: u64 = 1000;
/// What keeps a stream alive.
const COMMENT: &str = ": alive\n\n";

/// The id of the last event that a client has: a number, or whatever the events of a stream are named by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LastEventId<T = u64>(pub(crate) Option<T>);

impl<S: Send + Sync, T: FromStr> FromRequestParts<S> for LastEventId<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get("last-event-id") else { return Ok(Self(None)) };
        let text = value.to_str().unwrap_or_default().trim();
        // A browser that has seen no event yet sends an empty one.
        if text.is_empty() {
            return Ok(Self(None));
        }
        let id = text.parse().map_err(|_| {
            OperationError::bad_request(
                "invalid_last_event_id",
                "`Last-Event-ID` is the id of an event of this stream",
            )
        })?;
        Ok(Self(Some(id)))
    }
}

/// Answers with a stream; a refusal when there are as many as there may be.
pub(crate) fn stream(http: &Http, caller: &Principal, mut source: impl Source) -> Result<Response, ApiError> {
    let room = http.streams().clone().try_acquire_owned().map_err(|_| {
        OperationError::unavailable(
            "too_many_streams",
            "There are as many live streams as there may be; try again later.",
        )
    })?;
    let (sender, pieces) = mpsc::channel(STREAM_EVENTS_MAX);
    let app = http.app().clone();
    let mut closing = app.closing();
    let credential = caller.credential.clone();
    tokio::spawn(async move {
        let _room = room;
        tokio::select! {
            biased;
            _ = closing.wait_for(|is_closing| *is_closing) => {}
            () = sender.closed() => {}
            () = until_refused(&app, &credential) => {}
            () = pump(&mut source, &sender) => {}
        }
    });
    let mut response = Body::new(Pieces(pieces)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that collect an answer before they pass it on would make a stream useless.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Sends what comes until there is nothing more, or nobody takes it.
async fn pump(source: &mut impl Source, sender: &mpsc::Sender<Bytes>) {
    if !send(sender, format!("retry: {RETRY_MS}\n\n")).await {
        return;
    }
    loop {
        let (events, is_last) = match tokio::time::timeout(KEEP_ALIVE, source.next()).await {
            Ok(Next::Events(events)) => (events, false),
            Ok(Next::Last(event)) => (vec![event], true),
            Ok(Next::Over) => return,
            Err(_) => {
                if !send(sender, COMMENT.to_owned()).await {
                    return;
                }
                continue;
            }
        };
        for event in events {
            if !send(sender, event_text(&event)).await {
                return;
            }
        }
        if is_last {
            return;
        }
    }
}

/// Writes an event as it travels. JSON holds no line breaks outside of texts, and inside they are escaped.
fn event_text(event: &StreamEvent) -> String {
    let StreamEvent { id, kind, data } = event;
    format!("id: {id}\nevent: {kind}\ndata: {data}\n\n")
}

/// Returns whether the receiver took it, or will.
async fn send(sender: &mpsc::Sender<Bytes>, text: String) -> bool {
    let patience = Duration::from_millis(STREAM_STALL_MS);
    matches!(tokio::time::timeout(patience, sender.send(text.into())).await, Ok(Ok(())))
}

/// The pieces of a stream as a body.
pub(crate) struct Pieces(pub(crate) mpsc::Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_written_on_lines_of_its_own() {
        let text = event_text(&StreamEvent::new(7, "said", &json!({"text": "a\nb\r\n\n"})));
        assert_eq!(text, "id: 7\nevent: said\ndata: {\"text\":\"a\\nb\\r\\n\\n\"}\n\n");
    }

    struct Endless;

    #[async_trait]
    impl Source for Endless {
        async fn next(&mut self) -> Next {
            Next::Events(vec![StreamEvent::new(1, "x", &1)])
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_is_cut_off() {
        let (sender, mut pieces) = mpsc::channel(STREAM_EVENTS_MAX);
        pump(&mut Endless, &sender).await;
        drop(sender);
        let mut count = 0;
        while pieces.recv().await.is_some() {
            count += 1;
        }
        assert_eq!(count, STREAM_EVENTS_MAX);
    }

    struct Silent;

    #[async_trait]
    impl Source for Silent {
        async fn next(&mut self) -> Next {
            std::future::pending().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_filled() {
        let (sender, mut pieces) = mpsc::channel(STREAM_EVENTS_MAX);
        tokio::spawn(async move { pump(&mut Silent, &sender).await });
        assert_eq!(pieces.recv().await.unwrap(), "retry: 1000\n\n");
        assert_eq!(pieces.recv().await.unwrap(), COMMENT);
    }
}
