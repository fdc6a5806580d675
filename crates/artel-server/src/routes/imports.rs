//! Skills that people take over from a repository, as they are there at this moment.

use artel_api::skills::SkillImport;
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::{App, HubAudience, NewHub, OperationError, RepositoryImport};
use artel_model::access::Scope;
use artel_model::catalog::AuditAction;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::saved_skills::{SAVED, answer};
use super::skills::GROUP;
use crate::auditor::Auditor;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody};
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    let import = Endpoint {
        method: Method::Post,
        path: "/api/skills/import",
        id: "importSkill",
        group: GROUP,
        summary: "Saves a copy of a skill in a repository, as it is there at this moment.",
        needs: Needs::Scope(Scope::CatalogWrite),
        query: None,
        headers: &[],
        body: Body::Required(&[Payload::Json(shape::<SkillImport>)]),
        answers: &[
            Answer { status: 201, meaning: "It is saved and scanned.", payloads: SAVED },
            Answer { status: 400, meaning: "The location cannot be used.", payloads: &[] },
            Answer { status: 422, meaning: "There is no such skill, or there are several.", payloads: &[] },
            Answer { status: 502, meaning: "The repository cannot be fetched.", payloads: &[] },
        ],
    };
    vec![Route::new(import, import_skill)]
}

async fn import_skill(
    State(app): State<App>,
    Caller(caller): Caller,
    auditor: Auditor,
    JsonBody(sent): JsonBody<SkillImport>,
) -> Result<Response, ApiError> {
    let saved = app.hubs()?.import(&caller, wish(sent)?).await?;
    let (id, name) = (saved.skill.id.to_string(), saved.skill.name.as_str());
    auditor.note(&app, AuditAction::SkillCreated, &id, name).await?;
    let location = format!("/api/skills/agent_skills%2F{id}");
    let (tag, entry) = answer(&caller, &saved)?;
    Ok((StatusCode::CREATED, [(header::ETAG, tag)], [(header::LOCATION, location)], Json(entry))
        .into_response())
}

fn wish(sent: SkillImport) -> Result<RepositoryImport, OperationError> {
    let unsupported =
        |error: &dyn std::error::Error| OperationError::bad_request("unsupported_type", error.to_string());
    Ok(RepositoryImport {
        from: NewHub {
            kind: sent.kind.parse().map_err(|error| unsupported(&error))?,
            location: sent.location,
            reference: sent.reference,
            include_paths: sent.path.iter().filter(|path| !path.is_empty()).cloned().collect(),
            is_enabled: true,
            credentials_ref: sent.credentials_ref,
            audience: HubAudience::default(),
        },
        path: sent.path,
        visibility: sent.visibility,
        team_ids: sent.team_ids,
    })
}
