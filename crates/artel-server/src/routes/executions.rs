//! `/api/executions`: the records of skills that were run.

use artel_api::runs::{ExecutionsQuery, StatsAnswer, StatsQuery};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Paged, Payload, shape};
use artel_app::{App, operations};
use artel_model::access::Scope;
use artel_model::id::ExecutionId;
use artel_model::run::ExecutionRecord;
use axum::Json;
use axum::extract::State;

use crate::error::ApiError;
use crate::extract::{Caller, Named, QueryOf};
use crate::route::Route;

const EXECUTIONS: Endpoint = Endpoint {
    method: Method::Get,
    path: "/api/executions",
    id: "listExecutions",
    group: "executions",
    summary: "Lists the records of skills that were run, the latest first.",
    needs: Needs::Scope(Scope::RunsWrite),
    query: Some(shape::<ExecutionsQuery>),
    headers: &[],
    body: Body::None,
    answers: &[Answer {
        status: 200,
        meaning: "One page.",
        payloads: &[Payload::Json(shape::<Paged<ExecutionRecord>>)],
    }],
};

pub(super) fn routes() -> Vec<Route> {
    let stats = Endpoint {
        path: "/api/executions/stats",
        id: "countExecutions",
        summary: "Says how often, how well and how fast skills were run.",
        query: Some(shape::<StatsQuery>),
        answers: &[Answer {
            status: 200,
            meaning: "The numbers.",
            payloads: &[Payload::Json(shape::<StatsAnswer>)],
        }],
        ..EXECUTIONS
    };
    let read = Endpoint {
        path: "/api/executions/{id}",
        id: "readExecution",
        summary: "Returns the record of a skill that was run.",
        query: None,
        answers: &[
            Answer {
                status: 200,
                meaning: "The record.",
                payloads: &[Payload::Json(shape::<ExecutionRecord>)],
            },
            Answer { status: 404, meaning: "There is no such execution, or it is not yours.", payloads: &[] },
        ],
        ..EXECUTIONS
    };
    vec![Route::new(EXECUTIONS, list), Route::new(stats, count), Route::new(read, read_execution)]
}

async fn list(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<ExecutionsQuery>,
) -> Result<Json<Paged<ExecutionRecord>>, ApiError> {
    Ok(Json(operations::list_executions(&app, &caller, query).await?))
}

async fn count(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<StatsQuery>,
) -> Result<Json<StatsAnswer>, ApiError> {
    Ok(Json(operations::count_executions(&app, &caller, query).await?))
}

async fn read_execution(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<ExecutionId>,
) -> Result<Json<ExecutionRecord>, ApiError> {
    Ok(Json(operations::read_execution(&app, &caller, id).await?))
}
