//! `/api/agents`: spawning, listing, reading, watching and steering agents.

use artel_api::agents::{
    AgentMetrics, AgentRequest, AgentsQuery, LeftOver, Operation, OperationAnswer, PolicyAnswer, PolicyQuery,
    PrunedAgents, SpawnedAgent,
};
use artel_api::messages::{Mailbox, MailboxQuery};
use artel_api::runs::{LogLine, LogPage, LogQuery, PruneRequest};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Paged, Payload, shape};
use artel_app::App;
use artel_app::operations::{self, Telling};
use artel_model::access::Scope;
use artel_model::agent::AgentDocument;
use artel_model::agent::CallOrigin;
use artel_model::catalog::AuditAction;
use artel_model::id::AgentId;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use crate::auditor::Auditor;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, Named, QueryOf};
use crate::http::Http;
use crate::idempotency::{IDEMPOTENCY_KEY, KeyHeader};
use crate::route::Route;
use crate::stream::{LastEventId, stream};

const AGENTS: Endpoint = Endpoint {
    method: Method::Get,
    path: "/api/agents",
    id: "listAgents",
    group: "agents",
    summary: "Lists agents, the latest first.",
    needs: Needs::Scope(Scope::AgentsWrite),
    query: Some(shape::<AgentsQuery>),
    headers: &[],
    body: Body::None,
    answers: &[Answer {
        status: 200,
        meaning: "One page.",
        payloads: &[Payload::Json(shape::<Paged<AgentDocument>>)],
    }],
};

const NOT_FOUND: Answer =
    Answer { status: 404, meaning: "There is no such agent, or it is not yours.", payloads: &[] };
const CONFLICT: Answer = Answer {
    status: 409,
    meaning: "The agent is not in a state for that, or a limit is reached, or the Idempotency-Key was used before.",
    payloads: &[],
};
const AGENT: Answer =
    Answer { status: 200, meaning: "The agent.", payloads: &[Payload::Json(shape::<AgentDocument>)] };

pub(super) fn routes() -> Vec<Route> {
    let spawn_agent = Endpoint {
        method: Method::Post,
        id: "spawnAgent",
        summary: "Spawns an agent, which begins at once unless somebody outside drives it.",
        query: None,
        headers: &[IDEMPOTENCY_KEY],
        body: Body::Required(&[Payload::Json(shape::<AgentRequest>)]),
        answers: &[
            Answer {
                status: 201,
                meaning: "It is there; `Location` says where to look.",
                payloads: &[Payload::Json(shape::<SpawnedAgent>)],
            },
            CONFLICT,
        ],
        ..AGENTS
    };
    let read = Endpoint {
        path: "/api/agents/{id}",
        id: "readAgent",
        summary: "Returns an agent: what it is, what it may call, where it stands and what it came to.",
        query: None,
        answers: &[AGENT, NOT_FOUND],
        ..AGENTS
    };
    vec![Route::new(AGENTS, list), Route::new(spawn_agent, spawn), Route::new(read, read_agent)]
        .into_iter()
        .chain(all_of_them())
        .chain(looks(read))
        .chain(words(read))
        .chain(work(read))
        .collect()
}

/// What can be asked about all agents together, and what an administrator may do with them.
fn all_of_them() -> Vec<Route> {
    let left_over = Endpoint {
        path: "/api/agents/left-over",
        id: "listLeftOverAgents",
        summary: "Names the agents that are at work and to whom nobody alive sees.",
        query: None,
        answers: &[Answer {
            status: 200,
            meaning: "Their ids.",
            payloads: &[Payload::Json(shape::<LeftOver>)],
        }],
        ..AGENTS
    };
    let prune = Endpoint {
        method: Method::Post,
        path: "/api/agents/prune",
        id: "pruneAgents",
        summary: "Removes agents of everybody that ended long ago, and the folders that those which are gone worked in.",
        needs: Needs::AdminOr("Only an administrator removes the agents of everybody."),
        body: Body::Required(&[Payload::Json(shape::<PruneRequest>)]),
        answers: &[Answer {
            status: 200,
            meaning: "What was removed.",
            payloads: &[Payload::Json(shape::<PrunedAgents>)],
        }],
        ..left_over
    };
    vec![Route::new(left_over, list_left_over), Route::new(prune, prune_agents)]
}

/// What can be asked about an agent.
fn looks(read: Endpoint) -> Vec<Route> {
    let policy = Endpoint {
        path: "/api/agents/{id}/policy",
        id: "explainPolicy",
        summary: "Explains an agent's policy: every rule with who brought it in, and what is decided about tools.",
        query: Some(shape::<PolicyQuery>),
        answers: &[
            Answer { status: 200, meaning: "The policy.", payloads: &[Payload::Json(shape::<PolicyAnswer>)] },
            NOT_FOUND,
        ],
        ..read
    };
    let metrics = Endpoint {
        path: "/api/agents/{id}/metrics",
        id: "agentMetrics",
        summary: "Says how an agent does.",
        answers: &[
            Answer {
                status: 200,
                meaning: "The numbers.",
                payloads: &[Payload::Json(shape::<AgentMetrics>)],
            },
            NOT_FOUND,
        ],
        ..read
    };
    let mailbox = Endpoint {
        path: "/api/agents/{id}/mailbox",
        id: "lookIntoMailbox",
        summary: "Shows what lies in an agent's mailbox; nothing counts as read because of it.",
        query: Some(shape::<MailboxQuery>),
        answers: &[
            Answer { status: 200, meaning: "The messages.", payloads: &[Payload::Json(shape::<Mailbox>)] },
            NOT_FOUND,
        ],
        ..read
    };
    let watch = Endpoint {
        path: "/api/agents/{id}/events",
        id: "watchAgent",
        summary: "Streams the log of an agent, from its beginning or after `Last-Event-ID`, until it is terminated.",
        headers: &["Last-Event-ID"],
        answers: &[
            Answer { status: 200, meaning: "The events.", payloads: &[Payload::Events(shape::<LogLine>)] },
            NOT_FOUND,
        ],
        ..read
    };
    let log = Endpoint {
        path: "/api/agents/{id}/log",
        id: "readAgentLog",
        summary: "Returns the log of an agent as far as it is written, part by part.",
        query: Some(shape::<LogQuery>),
        answers: &[
            Answer { status: 200, meaning: "A part.", payloads: &[Payload::Json(shape::<LogPage>)] },
            NOT_FOUND,
        ],
        ..read
    };
    vec![
        Route::new(log, read_log),
        Route::new(policy, explain),
        Route::new(metrics, agent_metrics),
        Route::new(mailbox, look),
        Route::new(watch, watch_agent),
    ]
}

/// What an agent can be told.
fn words(read: Endpoint) -> Vec<Route> {
    let told = Endpoint { method: Method::Post, answers: &[AGENT, NOT_FOUND, CONFLICT], ..read };
    let pause = Endpoint {
        path: "/api/agents/{id}/pause",
        id: "pauseAgent",
        summary: "Makes an agent and everything below it stand still.",
        ..told
    };
    let resume = Endpoint {
        path: "/api/agents/{id}/resume",
        id: "resumeAgent",
        summary: "Lets an agent and everything below it go on.",
        ..told
    };
    let cancel = Endpoint {
        path: "/api/agents/{id}/cancel",
        id: "cancelAgent",
        summary: "Ends the work of an agent and of everything below it.",
        ..told
    };
    let terminate = Endpoint {
        path: "/api/agents/{id}/terminate",
        id: "terminateAgent",
        summary: "Ends an agent and everything below it for good.",
        ..told
    };
    let free = Endpoint {
        path: "/api/agents/{id}/free",
        id: "freeAgent",
        summary: "Frees an agent whose work failed or is done, so that it can be used again.",
        ..told
    };
    vec![
        Route::new(pause, pause_agent),
        Route::new(resume, resume_agent),
        Route::new(cancel, cancel_agent),
        Route::new(terminate, terminate_agent),
        Route::new(free, free_agent),
    ]
}

/// What an agent can be given to do.
fn work(read: Endpoint) -> Vec<Route> {
    let execute = Endpoint {
        method: Method::Post,
        path: "/api/agents/{id}/execute",
        id: "executeOperation",
        summary: "Calls a tool for an agent that is driven from outside, and waits for what comes out.",
        headers: &[IDEMPOTENCY_KEY],
        body: Body::Required(&[Payload::Json(shape::<Operation>)]),
        answers: &[
            Answer {
                status: 200,
                meaning: "What came of it.",
                payloads: &[Payload::Json(shape::<OperationAnswer>)],
            },
            NOT_FOUND,
            CONFLICT,
        ],
        ..read
    };
    let start = Endpoint {
        method: Method::Post,
        path: "/api/agents/{id}/start",
        id: "startAgent",
        summary: "Lets an agent that is free begin anew what it was spawned for.",
        answers: &[
            AGENT,
            NOT_FOUND,
            CONFLICT,
            Answer {
                status: 422,
                meaning: "What it was spawned for cannot be done any more.",
                payloads: &[],
            },
        ],
        ..read
    };
    vec![Route::new(execute, execute_operation), Route::new(start, start_agent)]
}

async fn list(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<AgentsQuery>,
) -> Result<Json<Paged<AgentDocument>>, ApiError> {
    Ok(Json(operations::list_agents(&app, &caller, query).await?))
}

async fn list_left_over(State(app): State<App>, Caller(caller): Caller) -> Result<Json<LeftOver>, ApiError> {
    Ok(Json(operations::left_over(&app, &caller).await?))
}

async fn prune_agents(
    State(app): State<App>,
    auditor: Auditor,
    JsonBody(wish): JsonBody<PruneRequest>,
) -> Result<Json<PrunedAgents>, ApiError> {
    let pruned = operations::prune_agents(&app, wish).await?;
    let summary = format!("{} agents that ended before {}", pruned.removed, wish.before);
    auditor.note(&app, AuditAction::AgentsPruned, "agents", &summary).await?;
    Ok(Json(pruned))
}

async fn read_log(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<AgentId>,
    QueryOf(query): QueryOf<LogQuery>,
) -> Result<Json<LogPage>, ApiError> {
    Ok(Json(operations::read_agent_log(&app, &caller, id, query).await?))
}

async fn spawn(
    State(app): State<App>,
    Caller(caller): Caller,
    KeyHeader(key): KeyHeader,
    JsonBody(document): JsonBody<Map<String, Value>>,
) -> Result<Response, ApiError> {
    let work = operations::spawn(&app, &caller, CallOrigin::Remote, &document);
    let spawned = app.remembered().once(key.scoped(&caller), &("spawn", &document), work).await?;
    let location = format!("/api/agents/{}", spawned["agent"]["agent_id"].as_str().unwrap_or_default());
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(spawned)).into_response())
}

async fn read_agent(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<AgentId>,
) -> Result<Json<AgentDocument>, ApiError> {
    Ok(Json(operations::read_agent(&app, &caller, id).await?))
}

async fn explain(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<AgentId>,
    QueryOf(query): QueryOf<PolicyQuery>,
) -> Result<Json<PolicyAnswer>, ApiError> {
    Ok(Json(operations::explain(&app, &caller, id, query).await?))
}

async fn agent_metrics(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<AgentId>,
) -> Result<Json<AgentMetrics>, ApiError> {
    Ok(Json(operations::metrics(&app, &caller, id).await?))
}

async fn look(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<AgentId>,
    QueryOf(query): QueryOf<MailboxQuery>,
) -> Result<Json<Mailbox>, ApiError> {
    Ok(Json(operations::look_into_mailbox(&app, &caller, id, query).await?))
}

async fn watch_agent(
    State(http): State<Http>,
    Caller(caller): Caller,
    Named(id): Named<AgentId>,
    LastEventId(after): LastEventId,
) -> Result<Response, ApiError> {
    stream(&http, &caller, operations::agent_log(http.app(), &caller, id, after).await?)
}

async fn execute_operation(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<AgentId>,
    KeyHeader(key): KeyHeader,
    JsonBody(operation): JsonBody<Operation>,
) -> Result<Json<Value>, ApiError> {
    let asked = ("execute", id, operation.clone());
    let work = operations::execute(&app, &caller, id, operation);
    Ok(Json(app.remembered().once(key.scoped(&caller), &asked, work).await?))
}

type Told = Result<Json<AgentDocument>, ApiError>;

async fn pause_agent(State(app): State<App>, Caller(caller): Caller, Named(id): Named<AgentId>) -> Told {
    Ok(Json(operations::tell(&app, &caller, id, Telling::Pause).await?))
}

async fn resume_agent(State(app): State<App>, Caller(caller): Caller, Named(id): Named<AgentId>) -> Told {
    Ok(Json(operations::tell(&app, &caller, id, Telling::Resume).await?))
}

async fn cancel_agent(State(app): State<App>, Caller(caller): Caller, Named(id): Named<AgentId>) -> Told {
    Ok(Json(operations::tell(&app, &caller, id, Telling::Cancel).await?))
}

async fn terminate_agent(State(app): State<App>, Caller(caller): Caller, Named(id): Named<AgentId>) -> Told {
    Ok(Json(operations::tell(&app, &caller, id, Telling::Terminate).await?))
}

async fn free_agent(State(app): State<App>, Caller(caller): Caller, Named(id): Named<AgentId>) -> Told {
    Ok(Json(operations::tell(&app, &caller, id, Telling::Free).await?))
}

async fn start_agent(State(app): State<App>, Caller(caller): Caller, Named(id): Named<AgentId>) -> Told {
    Ok(Json(operations::start(&app, &caller, CallOrigin::Remote, id).await?))
}
