//! About the server itself: whether it lives, whether it is ready, what can be asked of it.

use std::sync::LazyLock;

use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, openapi, shape};
use artel_app::operations::draining;
use artel_app::readiness;
use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::Html;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::ClientAddress;
use crate::error::ApiError;
use crate::http::Http;
use crate::route::{Route, endpoints};

const GROUP: &str = "server";
/// What `/` shows.
const PAGE: &str = include_str!("page.html");

const READY: &[Answer] = &[
    Answer { status: 200, meaning: "It is ready.", payloads: &[Payload::Json(shape::<Readiness>)] },
    Answer {
        status: 503,
        meaning: "Something that it needs is not there; the message says what.",
        payloads: &[],
    },
];

/// Whether the server can do its work.
#[derive(JsonSchema, Serialize)]
struct Readiness {
    /// `ready`.
    status: &'static str,
    /// What was looked at, and is there.
    checked: Vec<&'static str>,
    /// What is not there, although work goes on without it, like the bus.
    degraded: Vec<&'static str>,
}

/// What a browser that comes from the printed address brings.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HomeQuery {
    /// The administrator's token, which the page takes out of the address; it is no credential here.
    #[serde(rename = "token")]
    _token: Option<String>,
}

/// Whether the server lives.
#[derive(JsonSchema, Serialize)]
struct Liveness {
    /// `alive`.
    status: &'static str,
    /// The server's version.
    version: &'static str,
}

pub(super) fn routes() -> Vec<Route> {
    let open = Endpoint {
        method: Method::Get,
        path: "/",
        id: "home",
        group: GROUP,
        summary: "A page that says that the server is there, and where its API is.",
        needs: Needs::Nothing,
        query: None,
        headers: &[],
        body: Body::None,
        answers: &[Answer { status: 200, meaning: "The page.", payloads: &[Payload::Other("text/html")] }],
    };
    vec![
        Route::new(Endpoint { query: Some(shape::<HomeQuery>), ..open }, home),
        Route::new(
            Endpoint {
                path: "/healthz",
                id: "healthz",
                summary: "Says that the server lives.",
                answers: &[Answer {
                    status: 200,
                    meaning: "It lives.",
                    payloads: &[Payload::Json(shape::<Liveness>)],
                }],
                ..open
            },
            healthz,
        ),
        Route::new(
            Endpoint {
                path: "/readyz",
                id: "readyz",
                summary: "Says whether the store and the data folder can be written and the catalog is loaded; names what is degraded.",
                answers: READY,
                ..open
            },
            readyz,
        ),
        Route::new(
            Endpoint {
                path: "/metrics",
                id: "metrics",
                summary: "Numbers about the server's process, as Prometheus reads them.",
                needs: Needs::Metrics,
                answers: &[Answer {
                    status: 200,
                    meaning: "The numbers.",
                    payloads: &[Payload::Other("text/plain")],
                }],
                ..open
            },
            metrics,
        ),
        Route::new(
            Endpoint {
                path: "/api/openapi.json",
                id: "openapi",
                summary: "This description.",
                answers: &[Answer {
                    status: 200,
                    meaning: "The OpenAPI document.",
                    payloads: &[Payload::Other("application/json")],
                }],
                ..open
            },
            describe,
        ),
    ]
}

async fn home() -> Html<&'static str> {
    Html(PAGE)
}

async fn healthz() -> Json<Liveness> {
    Json(Liveness { status: "alive", version: env!("CARGO_PKG_VERSION") })
}

async fn readyz(
    State(http): State<Http>,
    Extension(from): Extension<ClientAddress>,
    headers: HeaderMap,
) -> Result<Json<Readiness>, ApiError> {
    if http.app().engine().is_closing() {
        return Err(draining().into());
    }
    match readiness(http.app()).await {
        Ok(artel_app::Readiness { checked, degraded }) => {
            Ok(Json(Readiness { status: "ready", checked, degraded }))
        }
        Err(missing) => {
            let is_admin = is_admin(&http, from, &headers).await;
            Err(missing.refusal(is_admin).into())
        }
    }
}

/// Says whether an administrator asks an endpoint that needs no credential.
async fn is_admin(http: &Http, from: ClientAddress, headers: &HeaderMap) -> bool {
    if !headers.contains_key(header::AUTHORIZATION) {
        return false;
    }
    let (live, now) = (http.live(), http.app().clock().now());
    let principal = http.authenticator().authenticate(headers, from, &live.limits, now).await;
    principal.is_ok_and(|principal| principal.is_admin())
}

async fn metrics(State(http): State<Http>) -> ([(HeaderName, &'static str); 1], String) {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], http.metrics())
}

/// The document is the same as long as the program is, and takes a while to make.
async fn describe() -> ([(HeaderName, &'static str); 1], &'static str) {
    static DOCUMENT: LazyLock<String> =
        LazyLock::new(|| openapi(&endpoints(), env!("CARGO_PKG_VERSION")).to_string());
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str())
}
