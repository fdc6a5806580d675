//! `/api/skills/{id}/trail`: what happened to a skill.

use artel_api::trail::{TrailItem, TrailQuery};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Paged, Payload, shape};
use artel_app::{App, operations};
use artel_model::access::Scope;
use axum::Json;
use axum::extract::State;

use super::skills::GROUP;
use crate::error::ApiError;
use crate::extract::{Caller, Named, QueryOf};
use crate::route::Route;

const TRAIL: Endpoint = Endpoint {
    method: Method::Get,
    path: "/api/skills/{id}/trail",
    id: "skillTrail",
    group: GROUP,
    summary: "Says what happened to a skill, the latest first: when its files were first served, what scanners said, to whom it was offered and why, who took it up, and what came of running it. Administrators see what is about everybody, others what is about themselves.",
    needs: Needs::Scope(Scope::CatalogRead),
    query: Some(shape::<TrailQuery>),
    headers: &[],
    body: Body::None,
    answers: &[
        Answer { status: 200, meaning: "One page.", payloads: &[Payload::Json(shape::<Paged<TrailItem>>)] },
        Answer {
            status: 404,
            meaning: "There is no such skill, or it is not the caller's to see.",
            payloads: &[],
        },
    ],
};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(TRAIL, read)]
}

async fn read(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<String>,
    QueryOf(query): QueryOf<TrailQuery>,
) -> Result<Json<Paged<TrailItem>>, ApiError> {
    Ok(Json(operations::skill_trail(&app, &caller, &id, query).await?))
}
