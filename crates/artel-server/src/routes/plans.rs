//! `/api/plans`: checking plans, running them, making them of words.

use artel_api::plans::{AskQuery, AskRequest, AskStatus, GeneratedPlan, PlanCheck, RunQuery};
use artel_api::runs::StartedRun;
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::{App, operations};
use artel_model::access::Scope;
use artel_model::plan::PlanDocument;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use uuid::Uuid;

use super::runs::accepted;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, Named, QueryOf};
use crate::idempotency::{IDEMPOTENCY_KEY, KeyHeader};
use crate::route::Route;

const PLAN: Endpoint = Endpoint {
    method: Method::Post,
    path: "/api/plans/validate",
    id: "validatePlan",
    group: "plans",
    summary: "Says everything that is wrong with a plan, without running it.",
    needs: Needs::Scope(Scope::RunsWrite),
    query: None,
    headers: &[],
    body: Body::Required(&[Payload::Json(shape::<PlanDocument>)]),
    answers: &[Answer {
        status: 200,
        meaning: "What was found.",
        payloads: &[Payload::Json(shape::<PlanCheck>)],
    }],
};

const CONFLICT: Answer =
    Answer { status: 409, meaning: "The Idempotency-Key was used for something else.", payloads: &[] };

pub(super) fn routes() -> Vec<Route> {
    let run = Endpoint {
        path: "/api/plans/run",
        id: "runPlan",
        summary: "Runs a plan. The answer comes at once; the run can be watched.",
        query: Some(shape::<RunQuery>),
        headers: &[IDEMPOTENCY_KEY],
        answers: &[
            Answer {
                status: 202,
                meaning: "It runs; `Location` says where to look.",
                payloads: &[Payload::Json(shape::<StartedRun>)],
            },
            CONFLICT,
        ],
        ..PLAN
    };
    let wish = Body::Required(&[Payload::Json(shape::<AskRequest>)]);
    let generate = Endpoint {
        path: "/api/plans/generate",
        id: "generatePlan",
        summary: "Makes a plan of words, without running it.",
        body: wish,
        answers: &[
            Answer { status: 200, meaning: "The plan.", payloads: &[Payload::Json(shape::<GeneratedPlan>)] },
            Answer { status: 504, meaning: "There was no plan in time.", payloads: &[] },
        ],
        ..PLAN
    };
    let ask = Endpoint {
        path: "/api/plans/ask",
        id: "ask",
        summary: "Answers something that is asked in words: makes a plan, runs it, and tries others until one succeeds.",
        headers: &[IDEMPOTENCY_KEY],
        body: wish,
        answers: &[
            Answer {
                status: 202,
                meaning: "It is being answered; `Location` says where to look.",
                payloads: &[Payload::Json(shape::<AskStatus>)],
            },
            CONFLICT,
        ],
        ..PLAN
    };
    let read = Endpoint {
        method: Method::Get,
        path: "/api/plans/asks/{id}",
        id: "readAsk",
        summary: "Says where the answer to something that was asked in words stands, and waits for news if wanted. It is remembered for a while.",
        query: Some(shape::<AskQuery>),
        body: Body::None,
        answers: &[
            Answer {
                status: 200,
                meaning: "Where it stands.",
                payloads: &[Payload::Json(shape::<AskStatus>)],
            },
            Answer { status: 404, meaning: "There is no such request, or it is not yours.", payloads: &[] },
        ],
        ..PLAN
    };
    vec![
        Route::new(PLAN, validate),
        Route::new(run, run_plan),
        Route::new(generate, generate_plan),
        Route::new(ask, ask_in_words),
        Route::new(read, read_ask),
    ]
}

async fn validate(
    State(app): State<App>,
    Caller(caller): Caller,
    JsonBody(document): JsonBody<Value>,
) -> Result<Json<PlanCheck>, ApiError> {
    Ok(Json(operations::check_plan(&app, &caller, document).await?))
}

async fn run_plan(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<RunQuery>,
    KeyHeader(key): KeyHeader,
    JsonBody(document): JsonBody<Value>,
) -> Result<Response, ApiError> {
    Ok(accepted(operations::run_plan(&app, &caller, document, query, &key).await?))
}

async fn generate_plan(
    State(app): State<App>,
    Caller(caller): Caller,
    JsonBody(wish): JsonBody<AskRequest>,
) -> Result<Json<GeneratedPlan>, ApiError> {
    Ok(Json(operations::generate(&app, &caller, wish).await?))
}

async fn ask_in_words(
    State(app): State<App>,
    Caller(caller): Caller,
    KeyHeader(key): KeyHeader,
    JsonBody(wish): JsonBody<AskRequest>,
) -> Result<Response, ApiError> {
    let work = operations::ask(&app, &caller, wish.clone());
    let status = app.remembered().once(key.scoped(&caller), &("ask", wish), work).await?;
    let location = format!("/api/plans/asks/{}", status["ask_id"].as_str().unwrap_or_default());
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, location)], Json(status)).into_response())
}

async fn read_ask(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<Uuid>,
    QueryOf(query): QueryOf<AskQuery>,
) -> Result<Json<AskStatus>, ApiError> {
    Ok(Json(operations::wait_for_ask(&app, &caller, id, query).await?))
}
