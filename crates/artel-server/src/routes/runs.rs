//! `/api/runs`: starting, listing, reading, watching and steering runs.

use artel_api::runs::{
    LogLine, LogPage, LogQuery, PruneRequest, PrunedRuns, RunRequest, RunStatus, RunsQuery, StartedRun,
    StatsAnswer, StatsQuery, Word,
};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Paged, Payload, shape};
use artel_app::{App, OperationError, operations};
use artel_engine::Command;
use artel_model::access::Scope;
use artel_model::catalog::AuditAction;
use artel_model::id::{RunId, StepId};
use artel_model::run::{ResultDocument, RunSummary};
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::auditor::Auditor;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, Named, QueryOf};
use crate::http::Http;
use crate::idempotency::{IDEMPOTENCY_KEY, KeyHeader};
use crate::route::Route;
use crate::stream::{LastEventId, stream};

const RUNS: Endpoint = Endpoint {
    method: Method::Get,
    path: "/api/runs",
    id: "listRuns",
    group: "runs",
    summary: "Lists runs, the latest first.",
    needs: Needs::Scope(Scope::RunsWrite),
    query: Some(shape::<RunsQuery>),
    headers: &[],
    body: Body::None,
    answers: &[Answer {
        status: 200,
        meaning: "One page.",
        payloads: &[Payload::Json(shape::<Paged<RunStatus>>)],
    }],
};

const NOT_FOUND: Answer =
    Answer { status: 404, meaning: "There is no such run, or it is not yours.", payloads: &[] };
const CONFLICT: Answer = Answer {
    status: 409,
    meaning: "The run is not in a state for that; `details` says where it stands.",
    payloads: &[],
};

pub(super) fn routes() -> Vec<Route> {
    let start = Endpoint {
        method: Method::Post,
        id: "startRun",
        summary: "Runs a skill or a plan. The answer comes at once; the run can be watched.",
        query: None,
        headers: &[IDEMPOTENCY_KEY],
        body: Body::Required(&[Payload::Json(shape::<RunRequest>)]),
        answers: &[
            Answer {
                status: 202,
                meaning: "It runs; `Location` says where to look.",
                payloads: &[Payload::Json(shape::<StartedRun>)],
            },
            Answer {
                status: 409,
                meaning: "The Idempotency-Key was used for something else.",
                payloads: &[],
            },
        ],
        ..RUNS
    };
    let read = Endpoint {
        path: "/api/runs/{id}",
        id: "readRun",
        summary: "Returns what came of a run so far.",
        query: None,
        answers: &[
            Answer {
                status: 200,
                meaning: "The result document.",
                payloads: &[Payload::Json(shape::<ResultDocument>)],
            },
            NOT_FOUND,
        ],
        ..RUNS
    };
    let watch = Endpoint {
        path: "/api/runs/{id}/events",
        id: "watchRun",
        summary: "Streams the log of a run, from its beginning or after `Last-Event-ID`, until an `end` event says how it ended.",
        headers: &["Last-Event-ID"],
        answers: &[
            Answer { status: 200, meaning: "The events.", payloads: &[Payload::Events(shape::<LogLine>)] },
            NOT_FOUND,
        ],
        ..read
    };
    let mut routes = vec![
        Route::new(RUNS, list),
        Route::new(start, start_run),
        Route::new(read, read_run),
        Route::new(watch, watch_run),
    ];
    routes.extend(looks(read));
    routes.extend(commands());
    routes
}

/// What can be asked about runs besides, and what an administrator may do with all of them.
fn looks(read: Endpoint) -> Vec<Route> {
    let status = Endpoint {
        path: "/api/runs/{id}/status",
        id: "readRunStatus",
        summary: "Says where a run stands, and whether somebody drives it.",
        answers: &[
            Answer {
                status: 200,
                meaning: "Where it stands.",
                payloads: &[Payload::Json(shape::<RunStatus>)],
            },
            NOT_FOUND,
        ],
        ..read
    };
    let log = Endpoint {
        path: "/api/runs/{id}/log",
        id: "readRunLog",
        summary: "Returns the log of a run as far as it is written, part by part.",
        query: Some(shape::<LogQuery>),
        answers: &[
            Answer { status: 200, meaning: "A part.", payloads: &[Payload::Json(shape::<LogPage>)] },
            NOT_FOUND,
        ],
        ..read
    };
    let stats = Endpoint {
        path: "/api/runs/stats",
        id: "countRuns",
        summary: "Says how often, how well and how fast skills were run.",
        query: Some(shape::<StatsQuery>),
        answers: &[Answer {
            status: 200,
            meaning: "The numbers.",
            payloads: &[Payload::Json(shape::<StatsAnswer>)],
        }],
        ..RUNS
    };
    let prune = Endpoint {
        method: Method::Post,
        path: "/api/runs/prune",
        id: "pruneRuns",
        summary: "Removes runs of everybody that ended long ago, with the files that only they made.",
        needs: Needs::AdminOr("Only an administrator removes the runs of everybody."),
        query: None,
        body: Body::Required(&[Payload::Json(shape::<PruneRequest>)]),
        answers: &[Answer {
            status: 200,
            meaning: "What was removed.",
            payloads: &[Payload::Json(shape::<PrunedRuns>)],
        }],
        ..RUNS
    };
    vec![
        Route::new(status, read_status),
        Route::new(log, read_log),
        Route::new(stats, count),
        Route::new(prune, prune_runs),
    ]
}

fn commands() -> Vec<Route> {
    let tell = Endpoint {
        method: Method::Post,
        path: "/api/runs/{id}/cancel",
        id: "cancelRun",
        summary: "Ends a run.",
        query: None,
        answers: &[
            Answer { status: 200, meaning: "It was told.", payloads: &[Payload::Json(shape::<RunSummary>)] },
            NOT_FOUND,
            CONFLICT,
        ],
        ..RUNS
    };
    let pause = Endpoint {
        path: "/api/runs/{id}/pause",
        id: "pauseRun",
        summary: "Lets a run start no further steps.",
        ..tell
    };
    let resume = Endpoint {
        path: "/api/runs/{id}/resume",
        id: "resumeRun",
        summary: "Lets a paused run go on.",
        ..tell
    };
    let approve = Endpoint {
        path: "/api/runs/{id}/approve",
        id: "approveStep",
        summary: "Lets a step start that waits for approval.",
        body: Body::Optional(&[Payload::Json(shape::<Word>)]),
        ..tell
    };
    let reject = Endpoint {
        path: "/api/runs/{id}/reject",
        id: "rejectStep",
        summary: "Keeps a step that waits for approval from starting.",
        ..approve
    };
    vec![
        Route::new(tell, cancel),
        Route::new(pause, pause_run),
        Route::new(resume, resume_run),
        Route::new(approve, approve_step),
        Route::new(reject, reject_step),
    ]
}

/// Answers that a run was begun, and where it is.
pub(super) fn accepted(run: StartedRun) -> Response {
    let location = format!("/api/runs/{}", run.run_id);
    (StatusCode::ACCEPTED, [(header::LOCATION, location)], Json(run)).into_response()
}

async fn list(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<RunsQuery>,
) -> Result<Json<Paged<RunStatus>>, ApiError> {
    Ok(Json(operations::list_runs(&app, &caller, query).await?))
}

async fn start_run(
    State(app): State<App>,
    Caller(caller): Caller,
    KeyHeader(key): KeyHeader,
    JsonBody(request): JsonBody<RunRequest>,
) -> Result<Response, ApiError> {
    Ok(accepted(operations::start_run(&app, &caller, request, &key).await?))
}

async fn count(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<StatsQuery>,
) -> Result<Json<StatsAnswer>, ApiError> {
    Ok(Json(operations::count_executions(&app, &caller, query).await?))
}

async fn read_run(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<RunId>,
) -> Result<Json<ResultDocument>, ApiError> {
    Ok(Json(operations::read_run(&app, &caller, id).await?))
}

async fn read_status(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<RunId>,
) -> Result<Json<RunStatus>, ApiError> {
    Ok(Json(operations::run_status(&app, &caller, id).await?))
}

async fn read_log(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<RunId>,
    QueryOf(query): QueryOf<LogQuery>,
) -> Result<Json<LogPage>, ApiError> {
    Ok(Json(operations::read_run_log(&app, &caller, id, query).await?))
}

async fn prune_runs(
    State(app): State<App>,
    auditor: Auditor,
    JsonBody(wish): JsonBody<PruneRequest>,
) -> Result<Json<PrunedRuns>, ApiError> {
    let pruned = operations::prune_runs(&app, wish).await?;
    let summary = format!("{} runs that ended before {}", pruned.removed, wish.before);
    auditor.note(&app, AuditAction::RunsPruned, "runs", &summary).await?;
    Ok(Json(pruned))
}

async fn watch_run(
    State(http): State<Http>,
    Caller(caller): Caller,
    Named(id): Named<RunId>,
    LastEventId(after): LastEventId,
) -> Result<Response, ApiError> {
    stream(&http, &caller, operations::run_log(http.app(), &caller, id, after).await?)
}

type Told = Result<Json<RunSummary>, ApiError>;

async fn cancel(State(app): State<App>, Caller(caller): Caller, Named(id): Named<RunId>) -> Told {
    Ok(Json(operations::command_run(&app, &caller, id, &Command::Cancel).await?))
}

async fn pause_run(State(app): State<App>, Caller(caller): Caller, Named(id): Named<RunId>) -> Told {
    Ok(Json(operations::command_run(&app, &caller, id, &Command::Pause).await?))
}

async fn resume_run(State(app): State<App>, Caller(caller): Caller, Named(id): Named<RunId>) -> Told {
    Ok(Json(operations::command_run(&app, &caller, id, &Command::Resume).await?))
}

async fn approve_step(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<RunId>,
    word: Option<JsonBody<Word>>,
) -> Told {
    let (step, note) = step_and_note(word)?;
    Ok(Json(operations::command_run(&app, &caller, id, &Command::Approve { step, note }).await?))
}

async fn reject_step(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<RunId>,
    word: Option<JsonBody<Word>>,
) -> Told {
    let (step, note) = step_and_note(word)?;
    Ok(Json(operations::command_run(&app, &caller, id, &Command::Reject { step, note }).await?))
}

fn step_and_note(word: Option<JsonBody<Word>>) -> Result<(Option<StepId>, Option<String>), OperationError> {
    let Word { step, note } = word.map(|JsonBody(word)| word).unwrap_or_default();
    let step = step.map(|step| step.parse()).transpose().map_err(|error| {
        OperationError::unprocessable("invalid_body", format!("`step` names no step: {error}"))
    })?;
    Ok((step, note))
}
