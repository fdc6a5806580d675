//! The protocol over streamable HTTP, at `/mcp`. The check in front of every route has settled who calls.

use std::convert::Infallible;

use artel_api::ErrorKind;
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload};
use artel_app::OperationError;
use artel_model::access::Principal;
use artel_model::limit::MCP_BODY_BYTES_MAX;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use serde::Deserialize;

use crate::error::ApiError;
use crate::extract::Caller;
use crate::http::Http;
use crate::route::Route;

/// A request whose body has arrived.
type Message = axum::http::Request<Bytes>;
/// What the protocol answers to it.
type Answered = axum::http::Response<BoxBody<Bytes, Infallible>>;

const GROUP: &str = "mcp";
const PATH: &str = "/mcp";
const SESSION: &str = "mcp-session-id";
const MEDIA: &[Payload] = &[Payload::Other("application/json"), Payload::Other("text/event-stream")];
const ACCEPTED: Answer = Answer { status: 202, meaning: "It was taken.", payloads: &[] };
const BAD: Answer = Answer { status: 400, meaning: "It is no message of the protocol.", payloads: &[] };
const FOREIGN: Answer =
    Answer { status: 403, meaning: "The page that calls is not one of this machine.", payloads: &[] };
const NO_SESSION: Answer = Answer {
    status: 404,
    meaning: "There is no such session, or it is not the caller's; begin anew.",
    payloads: &[],
};
const NOT_HERE: Answer =
    Answer { status: 405, meaning: "The revision of the protocol has no sessions.", payloads: &[] };
const UNREADABLE: Answer = Answer {
    status: 406,
    meaning: "The caller must accept application/json and text/event-stream.",
    payloads: &[],
};
const NOT_JSON: Answer = Answer { status: 415, meaning: "The body is not JSON.", payloads: &[] };
const INVALID: Answer = Answer { status: 422, meaning: "The header does not name a session.", payloads: &[] };

pub(crate) fn routes() -> Vec<Route> {
    let post = Endpoint {
        method: Method::Post,
        path: PATH,
        id: "mcpSend",
        group: GROUP,
        summary: "Takes a message of the Model Context Protocol (streamable HTTP), and answers it.",
        needs: Needs::Credential,
        query: None,
        headers: &["Mcp-Session-Id", "MCP-Protocol-Version"],
        body: Body::Required(&[Payload::Other("application/json")]),
        answers: &[
            Answer { status: 200, meaning: "The answer, and what was told on the way.", payloads: MEDIA },
            ACCEPTED,
            BAD,
            FOREIGN,
            NO_SESSION,
            UNREADABLE,
            NOT_JSON,
            INVALID,
        ],
    };
    let get = Endpoint {
        method: Method::Get,
        id: "mcpListen",
        summary: "Streams what is told in a session of the Model Context Protocol outside of answers.",
        headers: &["Mcp-Session-Id", "MCP-Protocol-Version", "Last-Event-ID"],
        body: Body::None,
        answers: &[
            Answer {
                status: 200,
                meaning: "What is told.",
                payloads: &[Payload::Other("text/event-stream")],
            },
            BAD,
            FOREIGN,
            NO_SESSION,
            NOT_HERE,
            UNREADABLE,
            INVALID,
        ],
        ..post
    };
    let delete = Endpoint {
        method: Method::Delete,
        id: "mcpEnd",
        summary: "Ends a session of the Model Context Protocol.",
        headers: &["Mcp-Session-Id", "MCP-Protocol-Version"],
        answers: &[ACCEPTED, BAD, FOREIGN, NO_SESSION, NOT_HERE, INVALID],
        ..get
    };
    vec![Route::new(post, serve), Route::new(get, serve), Route::new(delete, serve)]
}

async fn serve(
    State(http): State<Http>,
    Caller(caller): Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let named = session(request.headers());
    if named.is_some_and(|id| !http.mcp_sessions().is_of(id, &caller)) {
        return Err(OperationError::not_found("session").into());
    }
    let (has_session, message) = (named.is_some(), received(&http, request).await?);
    let answer = if !has_session && is_beginning(message.body()) {
        begin(http.clone(), caller, message).await?
    } else {
        http.mcp_sessions().service(&http, &caller).handle(message.map(Full::new)).await
    };
    Ok(answered(&http, answer).await?)
}

/// Begins a session. A client that goes away meanwhile leaves none behind that is nobody's, because a task of its own does
/// it to the end.
async fn begin(http: Http, caller: Principal, message: Message) -> Result<Answered, OperationError> {
    let begun = tokio::spawn(async move {
        let sessions = http.mcp_sessions();
        let answer = sessions.service(&http, &caller).handle(message.map(Full::new)).await;
        match session(answer.headers()) {
            Some(id) => sessions.take_in(id, &caller).await.map(|()| answer),
            None => Ok(answer),
        }
    });
    begun.await.map_err(|_| OperationError::unavailable("interrupted", "the request was interrupted"))?
}

/// Says whether a message asks for a session.
fn is_beginning(body: &Bytes) -> bool {
    #[derive(Deserialize)]
    struct Opening {
        method: String,
    }
    serde_json::from_slice::<Opening>(body).is_ok_and(|opening| opening.method == "initialize")
}

/// Returns the session that a head names; what cannot be one names none that there is.
fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION).map(|value| value.to_str().unwrap_or_default())
}

/// Takes in the whole body, which may be neither large nor slow.
async fn received(http: &Http, request: Request) -> Result<Message, OperationError> {
    let (parts, body) = request.into_parts();
    let too_large = |_| OperationError::new(ErrorKind::TooLarge, "too_large", "the body is too large");
    let too_slow =
        |_| OperationError::new(ErrorKind::RequestTimeout, "too_slow", "the request took too long to arrive");
    let body =
        tokio::time::timeout(http.config().body_timeout, axum::body::to_bytes(body, MCP_BODY_BYTES_MAX));
    let body = body.await.map_err(too_slow)?.map_err(too_large)?;
    Ok(Message::from_parts(parts, body))
}

/// Passes an answer on: an error in words becomes the envelope, and a stream takes its place among the live streams.
async fn answered(http: &Http, answer: Answered) -> Result<Response, OperationError> {
    let is_of = |media: &str| {
        let value = answer.headers().get(header::CONTENT_TYPE);
        value.is_some_and(|value| value.as_bytes().starts_with(media.as_bytes()))
    };
    let is_error = answer.status().is_client_error() || answer.status().is_server_error();
    if is_error && !is_of("application/json") {
        let (status, body) = (answer.status(), answer.into_body().collect().await);
        let text =
            body.map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned()).unwrap_or_default();
        return Err(in_words(status, text));
    }
    if !is_of("text/event-stream") {
        return Ok(answer.map(axum::body::Body::new).into_response());
    }
    let room = http.streams().clone().try_acquire_owned().map_err(|_| {
        OperationError::unavailable(
            "too_many_streams",
            "There are as many live streams as there may be; try again later.",
        )
    })?;
    let held = answer.map(|body| {
        axum::body::Body::new(body.map_frame(move |frame| {
            let _held = &room;
            frame
        }))
    });
    Ok(held.into_response())
}

fn in_words(status: StatusCode, text: String) -> OperationError {
    let kind = ErrorKind::of_status(status.as_u16());
    match status {
        StatusCode::FORBIDDEN => OperationError::forbidden(text),
        StatusCode::NOT_FOUND => OperationError::not_found("session"),
        StatusCode::METHOD_NOT_ALLOWED => OperationError::new(kind, "method_not_allowed", text),
        StatusCode::NOT_ACCEPTABLE => OperationError::new(kind, "not_acceptable", text),
        StatusCode::PAYLOAD_TOO_LARGE => OperationError::new(kind, "too_large", text),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => OperationError::new(kind, "unsupported_media_type", text),
        status if status.is_client_error() => OperationError::new(kind, "bad_request", text),
        _ => {
            tracing::error!(%status, text, "a message of the protocol cannot be answered");
            OperationError::new(kind, "internal", "something went wrong here; the server's log knows more")
        }
    }
}
