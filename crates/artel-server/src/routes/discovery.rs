//! `/.well-known/agent-skills/…`: Agent Skills discovery. Open to anybody, and there only when the operator publishes skills.

use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload};
use artel_app::operations::publication;
use artel_app::{App, OperationError};
use artel_catalog::file_hash;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::skills::is_known;
use crate::error::ApiError;
use crate::extract::Named;
use crate::precondition::quoted;
use crate::route::Route;

const NOT_THERE: Answer =
    Answer { status: 404, meaning: "There is no such skill, or none is published.", payloads: &[] };
const NEVER_CHANGED: Answer =
    Answer { status: 304, meaning: "What `If-None-Match` names is still what there is.", payloads: &[] };
const MAIN: &str = "SKILL.md";
const ARCHIVE: &str = "skill.tar.gz";

pub(super) fn routes() -> Vec<Route> {
    let index = Endpoint {
        method: Method::Get,
        path: "/.well-known/agent-skills/index.json",
        id: "publishedSkills",
        group: "discovery",
        summary: "The skills that this server publishes, as Agent Skills discovery 0.2.0 describes them.",
        needs: Needs::Nothing,
        query: None,
        headers: &["If-None-Match"],
        body: Body::None,
        answers: &[
            Answer { status: 200, meaning: "The index.", payloads: &[Payload::Other("application/json")] },
            NEVER_CHANGED,
            NOT_THERE,
        ],
    };
    let main = Endpoint {
        path: "/.well-known/agent-skills/{name}/SKILL.md",
        id: "publishedSkill",
        summary: "A published skill that is one file.",
        answers: &[
            Answer { status: 200, meaning: "The file.", payloads: &[Payload::Other("text/markdown")] },
            NEVER_CHANGED,
            NOT_THERE,
        ],
        ..index
    };
    let archive = Endpoint {
        path: "/.well-known/agent-skills/{name}/skill.tar.gz",
        id: "publishedArchive",
        summary: "A published skill of several files, packed.",
        answers: &[
            Answer { status: 200, meaning: "The archive.", payloads: &[Payload::Other("application/gzip")] },
            NEVER_CHANGED,
            NOT_THERE,
        ],
        ..index
    };
    vec![Route::new(index, get_index), Route::new(main, get_main), Route::new(archive, get_archive)]
}

async fn get_index(State(app): State<App>, headers: HeaderMap) -> Result<Response, ApiError> {
    let index = publication(&app).await?.index.clone();
    Ok(published("application/json", index, &headers))
}

async fn get_main(
    State(app): State<App>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let file =
        publication(&app).await?.file(&name, MAIN).ok_or_else(|| OperationError::not_found("skill"))?;
    Ok(published("text/markdown; charset=utf-8", file, &headers))
}

async fn get_archive(
    State(app): State<App>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let file =
        publication(&app).await?.file(&name, ARCHIVE).ok_or_else(|| OperationError::not_found("skill"))?;
    Ok(published("application/gzip", file, &headers))
}

/// What is public may be kept by anybody, who asks before using it again: what is taken back must not live on.
fn published(media: &'static str, bytes: Bytes, headers: &HeaderMap) -> Response {
    let tag = quoted(&file_hash(&bytes).to_string());
    let kept =
        [(header::ETAG, tag.clone()), (header::CACHE_CONTROL, HeaderValue::from_static("public, no-cache"))];
    if is_known(headers, &tag) {
        return (StatusCode::NOT_MODIFIED, kept).into_response();
    }
    (kept, [(header::CONTENT_TYPE, media), (header::CONTENT_DISPOSITION, "attachment")], bytes)
        .into_response()
}
