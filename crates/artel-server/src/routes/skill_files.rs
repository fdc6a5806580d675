//! The files of saved skills, one by one: put there, replaced, removed. Each is a change of the skill, checked and scanned
//! as a whole.

use artel_api::skills::FilePutQuery;
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::{App, FileChange};
use artel_model::access::Scope;
use artel_model::catalog::AuditAction;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::saved_skills::{CHANGED, MISMATCH, SAVED, UNKNOWN, answer, custom};
use super::skills::GROUP;
use crate::auditor::Auditor;
use crate::error::ApiError;
use crate::extract::{Caller, Named, QueryOf};
use crate::precondition::if_match;
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    let put = Endpoint {
        method: Method::Put,
        path: "/api/skills/{id}/files/{*path}",
        id: "putSkillFile",
        group: GROUP,
        summary: "Puts a file into a saved skill, or replaces it; `If-Match` is the `ETag` of the skill or of the file that is changed.",
        needs: Needs::Scope(Scope::CatalogWrite),
        query: Some(shape::<FilePutQuery>),
        headers: &["If-Match"],
        body: Body::Required(&[Payload::Other("application/octet-stream")]),
        answers: &[
            Answer { status: 200, meaning: "The skill, saved and scanned.", payloads: SAVED },
            UNKNOWN,
            CHANGED,
            MISMATCH,
        ],
    };
    let delete = Endpoint {
        method: Method::Delete,
        id: "deleteSkillFile",
        summary: "Removes a file from a saved skill; `If-Match` is the `ETag` of the skill or of the file that is changed.",
        query: None,
        body: Body::None,
        ..put
    };
    vec![Route::new(put, put_file), Route::new(delete, delete_file)]
}

async fn put_file(
    State(app): State<App>,
    Caller(caller): Caller,
    Named((id, path)): Named<(String, String)>,
    QueryOf(asked): QueryOf<FilePutQuery>,
    auditor: Auditor,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let (id, expected) = (custom(&id)?, if_match(&headers)?);
    let noted = format!("put {path}");
    let change = FileChange::Put { path, content: body.to_vec(), is_executable: asked.executable };
    let saved = app.catalogs().change_file(&caller, id, &expected, change).await?;
    auditor.note(&app, AuditAction::SkillUpdated, &id.to_string(), &noted).await?;
    let (tag, entry) = answer(&caller, &saved)?;
    Ok(([(header::ETAG, tag)], Json(entry)).into_response())
}

async fn delete_file(
    State(app): State<App>,
    Caller(caller): Caller,
    Named((id, path)): Named<(String, String)>,
    auditor: Auditor,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (id, expected) = (custom(&id)?, if_match(&headers)?);
    let noted = format!("removed {path}");
    let saved = app.catalogs().change_file(&caller, id, &expected, FileChange::Remove { path }).await?;
    auditor.note(&app, AuditAction::SkillUpdated, &id.to_string(), &noted).await?;
    let (tag, entry) = answer(&caller, &saved)?;
    Ok(([(header::ETAG, tag)], Json(entry)).into_response())
}
