//! `/api/events`: events of topics, live.

use artel_api::events::EventsQuery;
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::operations;
use artel_model::access::Scope;
use artel_model::id::MessageId;
use artel_model::message::MessageDocument;
use axum::extract::State;
use axum::response::Response;
use uuid::Uuid;

use crate::error::ApiError;
use crate::extract::{Caller, QueryOf};
use crate::http::Http;
use crate::route::Route;
use crate::stream::{LastEventId, stream};

const EVENTS: Endpoint = Endpoint {
    method: Method::Get,
    path: "/api/events",
    id: "watchTopics",
    group: "events",
    summary: "Streams the events of topics, of agents of yours, from this moment on or after `Last-Event-ID`. A `gap` event says that events in between are not kept any more.",
    needs: Needs::Scope(Scope::AgentsWrite),
    query: Some(shape::<EventsQuery>),
    headers: &["Last-Event-ID"],
    body: Body::None,
    answers: &[Answer {
        status: 200,
        meaning: "The events.",
        payloads: &[Payload::Events(shape::<MessageDocument>)],
    }],
};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(EVENTS, watch)]
}

async fn watch(
    State(http): State<Http>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<EventsQuery>,
    LastEventId(after): LastEventId<Uuid>,
) -> Result<Response, ApiError> {
    stream(&http, &caller, operations::topic_log(http.app(), &caller, query, after.map(MessageId)).await?)
}
