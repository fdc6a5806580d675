//! `/api/messages`: what agents tell each other.

use artel_api::messages::{
    DeadMessage, DeadQuery, MailRequest, Mailbox, Marked, MessageCounts, MessageRequest, ReadMark,
    SentMessage, WaitQuery, published_event, waiting_request,
};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Paged, Payload, shape};
use artel_app::{App, operations};
use artel_model::access::Scope;
use artel_model::message::MessageDocument;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, QueryOf};
use crate::route::Route;

const MESSAGES: Endpoint = Endpoint {
    method: Method::Post,
    path: "/api/messages",
    id: "sendMessage",
    group: "messages",
    summary: "Sends a message of an agent of yours to another one, or publishes it about a topic.",
    needs: Needs::Scope(Scope::AgentsWrite),
    query: None,
    headers: &[],
    body: Body::Required(&[Payload::Json(shape::<MessageRequest>)]),
    answers: &[
        Answer { status: 201, meaning: "It was sent.", payloads: &[Payload::Json(shape::<SentMessage>)] },
        NOT_FOUND,
        CONFLICT,
    ],
};

const NOT_FOUND: Answer =
    Answer { status: 404, meaning: "There is no such agent, or it is not yours.", payloads: &[] };
const CONFLICT: Answer = Answer {
    status: 409,
    meaning: "It cannot be delivered: an agent is terminated, a mailbox is full, nobody asked, or agents would wait for each other.",
    payloads: &[],
};

pub(super) fn routes() -> Vec<Route> {
    let publish = Endpoint {
        path: "/api/messages/publish",
        id: "publishEvent",
        summary: "Publishes an event of an agent of yours about a topic.",
        body: Body::Required(&[Payload::Json(published_event)]),
        ..MESSAGES
    };
    let request = Endpoint {
        path: "/api/messages/request",
        id: "request",
        summary: "Sends a request of an agent of yours and waits for its answer.",
        query: Some(shape::<WaitQuery>),
        body: Body::Required(&[Payload::Json(waiting_request)]),
        answers: &[
            Answer {
                status: 200,
                meaning: "The answer.",
                payloads: &[Payload::Json(shape::<MessageDocument>)],
            },
            NOT_FOUND,
            CONFLICT,
            Answer {
                status: 504,
                meaning: "Nobody answered in time; a late answer lies in the mailbox.",
                payloads: &[],
            },
        ],
        ..MESSAGES
    };
    let sending =
        vec![Route::new(MESSAGES, send), Route::new(publish, publish_event), Route::new(request, ask)];
    sending.into_iter().chain(mailboxes()).chain(histories()).collect()
}

/// What can be done with a mailbox.
fn mailboxes() -> Vec<Route> {
    let read = Endpoint {
        path: "/api/messages/read",
        id: "readMessages",
        summary: "Reads the mailbox of an agent of yours, and waits for mail if wanted. What is returned counts as read.",
        body: Body::Required(&[Payload::Json(shape::<MailRequest>)]),
        answers: &[
            Answer { status: 200, meaning: "The messages.", payloads: &[Payload::Json(shape::<Mailbox>)] },
            NOT_FOUND,
            CONFLICT,
        ],
        ..MESSAGES
    };
    let mark = Endpoint {
        path: "/api/messages/mark-read",
        id: "markMessagesRead",
        summary: "Marks messages in the mailbox of an agent of yours as read.",
        body: Body::Required(&[Payload::Json(shape::<ReadMark>)]),
        answers: &[
            Answer {
                status: 200,
                meaning: "How many were marked.",
                payloads: &[Payload::Json(shape::<Marked>)],
            },
            NOT_FOUND,
        ],
        ..MESSAGES
    };
    vec![Route::new(read, read_mail), Route::new(mark, mark_read)]
}

/// What became of messages.
fn histories() -> Vec<Route> {
    let dead = Endpoint {
        method: Method::Get,
        path: "/api/messages/dead-letters",
        id: "listDeadLetters",
        summary: "Lists messages that somebody did not get, the latest first.",
        query: Some(shape::<DeadQuery>),
        body: Body::None,
        answers: &[
            Answer {
                status: 200,
                meaning: "One page.",
                payloads: &[Payload::Json(shape::<Paged<DeadMessage>>)],
            },
            NOT_FOUND,
        ],
        ..MESSAGES
    };
    let counts = Endpoint {
        path: "/api/messages/counts",
        id: "countMessages",
        summary: "Counts the messages of everybody.",
        needs: Needs::AdminOr("Only an administrator sees the messages of everybody."),
        query: None,
        answers: &[Answer {
            status: 200,
            meaning: "The numbers.",
            payloads: &[Payload::Json(shape::<MessageCounts>)],
        }],
        ..dead
    };
    vec![Route::new(dead, dead_letters), Route::new(counts, count)]
}

type Sent = Result<(StatusCode, Json<SentMessage>), ApiError>;

async fn send(
    State(app): State<App>,
    Caller(caller): Caller,
    JsonBody(document): JsonBody<Map<String, Value>>,
) -> Sent {
    let sent = operations::send(&app, &caller, &document).await?;
    Ok((StatusCode::CREATED, Json(sent)))
}

async fn publish_event(
    State(app): State<App>,
    Caller(caller): Caller,
    JsonBody(document): JsonBody<Map<String, Value>>,
) -> Sent {
    let sent = operations::publish(&app, &caller, document).await?;
    Ok((StatusCode::CREATED, Json(sent)))
}

async fn ask(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<WaitQuery>,
    JsonBody(document): JsonBody<Map<String, Value>>,
) -> Result<Json<MessageDocument>, ApiError> {
    Ok(Json(operations::request(&app, &caller, document, query).await?))
}

async fn read_mail(
    State(app): State<App>,
    Caller(caller): Caller,
    JsonBody(wish): JsonBody<MailRequest>,
) -> Result<Json<Mailbox>, ApiError> {
    Ok(Json(operations::read_mail(&app, &caller, wish).await?))
}

async fn mark_read(
    State(app): State<App>,
    Caller(caller): Caller,
    JsonBody(mark): JsonBody<ReadMark>,
) -> Result<Json<Marked>, ApiError> {
    Ok(Json(operations::mark_read(&app, &caller, mark).await?))
}

async fn dead_letters(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<DeadQuery>,
) -> Result<Json<Paged<DeadMessage>>, ApiError> {
    Ok(Json(operations::dead_letters(&app, &caller, query).await?))
}

async fn count(State(app): State<App>) -> Result<Json<MessageCounts>, ApiError> {
    Ok(Json(operations::counts(&app).await?))
}
