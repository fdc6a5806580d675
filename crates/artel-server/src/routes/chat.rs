//! `/api/chat`: messages in words, answered with events.

use artel_api::chat::{ChatEvent, ChatRequest};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::operations;
use artel_model::access::Scope;
use axum::extract::State;
use axum::response::Response;

use crate::error::ApiError;
use crate::extract::{Caller, JsonBody};
use crate::http::Http;
use crate::route::Route;
use crate::stream::stream;

pub(super) fn routes() -> Vec<Route> {
    let chat = Endpoint {
        method: Method::Post,
        path: "/api/chat",
        id: "chat",
        group: "chat",
        summary: "Answers a message: `/skills`, `/skills WORDS`, `/help` and `/clear` at once, everything else with plans that are run.",
        needs: Needs::Scope(Scope::RunsWrite),
        query: None,
        headers: &[],
        body: Body::Required(&[Payload::Json(shape::<ChatRequest>)]),
        answers: &[Answer {
            status: 200,
            meaning: "What happens, event by event; the last one is `done`.",
            payloads: &[Payload::Events(shape::<ChatEvent>)],
        }],
    };
    vec![Route::new(chat, answer)]
}

async fn answer(
    State(http): State<Http>,
    Caller(caller): Caller,
    JsonBody(request): JsonBody<ChatRequest>,
) -> Result<Response, ApiError> {
    stream(&http, &caller, operations::chat(http.app(), &caller, request).await?)
}
