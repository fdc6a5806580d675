//! What scanners found, and what administrators say about it.

use artel_api::findings::{FindingList, FindingQuery, OverrideDraft, OverrideList};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::operations::served;
use artel_app::{App, OperationError, Reread};
use artel_catalog::scan::cisco::ATTRIBUTION;
use artel_model::access::Scope;
use artel_model::catalog::{AuditAction, Override};
use artel_model::limit::OVERRIDE_REASON_CHARS_MAX;
use artel_store::{Cursor, FindingFilter, PageRequest};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::auditor::Auditor;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, Named, QueryOf};
use crate::route::Route;

const GROUP: &str = "scan findings";
/// Findings on a page when nobody says how many.
const PAGE: usize = 50;
/// Findings on a page at most.
const PAGE_MAX: usize = 200;
const ADMINS: &str = "Only administrators can override the verdict of a scan.";

pub(super) fn routes() -> Vec<Route> {
    let list = Endpoint {
        method: Method::Get,
        path: "/api/scan-findings",
        id: "listFindings",
        group: GROUP,
        summary: "Lists what scanners found in skills that the caller is entitled to, the last first.",
        needs: Needs::Scope(Scope::CatalogRead),
        query: Some(shape::<FindingQuery>),
        headers: &[],
        body: Body::None,
        answers: &[Answer {
            status: 200,
            meaning: "A page of findings.",
            payloads: &[Payload::Json(shape::<FindingList>)],
        }],
    };
    let overrides = Endpoint {
        path: "/api/scan-overrides",
        id: "listOverrides",
        summary: "Lists the files that administrators said are fine.",
        needs: Needs::AdminOr(ADMINS),
        query: None,
        answers: &[Answer {
            status: 200,
            meaning: "All overrides.",
            payloads: &[Payload::Json(shape::<OverrideList>)],
        }],
        ..list
    };
    let set = Endpoint {
        method: Method::Put,
        path: "/api/scan-overrides/{content_hash}",
        id: "setOverride",
        summary: "Says that exactly these files are fine; any change of them ends it.",
        body: Body::Required(&[Payload::Json(shape::<OverrideDraft>)]),
        answers: &[
            Answer { status: 200, meaning: "It is said.", payloads: &[Payload::Json(shape::<Override>)] },
            Answer { status: 404, meaning: "No skill has these files.", payloads: &[] },
        ],
        ..overrides
    };
    let delete = Endpoint {
        method: Method::Delete,
        id: "deleteOverride",
        summary: "Takes back that these files are fine.",
        body: Body::None,
        answers: &[
            Answer { status: 204, meaning: "It is taken back.", payloads: &[] },
            Answer { status: 404, meaning: "Nobody said so.", payloads: &[] },
        ],
        ..set
    };
    vec![
        Route::new(list, list_findings),
        Route::new(overrides, list_overrides),
        Route::new(set, set_override),
        Route::new(delete, delete_override),
    ]
}

async fn list_findings(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(asked): QueryOf<FindingQuery>,
) -> Result<Json<FindingList>, ApiError> {
    let page = PageRequest {
        after: asked.after.clone().map(Cursor),
        limit: asked.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX),
    };
    let (snapshot, _) = served(&app, &caller)?;
    let page = app.catalogs().findings(&caller, &snapshot, &filter(asked)?, &page).await?;
    let next = page.next.map(|cursor| cursor.0);
    Ok(Json(FindingList { items: page.items, next, attribution: attribution() }))
}

/// Says whose work findings are, and what they are worth.
fn attribution() -> String {
    format!("Findings come from artel's own scanner and, where it is used, from {ATTRIBUTION}")
}

fn filter(asked: FindingQuery) -> Result<FindingFilter, OperationError> {
    let wrong =
        |error: &dyn std::error::Error| OperationError::bad_request("invalid_query", error.to_string());
    Ok(FindingFilter {
        source_type: asked
            .source_type
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(|error| wrong(&error))?,
        source_id: asked.source_id.or(asked.hub_id),
        skill_id: asked.skill_id,
        severity_min: asked.severity.as_deref().map(str::parse).transpose().map_err(|error| wrong(&error))?,
        content_revision: asked.content_revision,
    })
}

async fn list_overrides(State(app): State<App>) -> Result<Json<OverrideList>, ApiError> {
    Ok(Json(OverrideList { items: app.stores().scans.overrides().await? }))
}

async fn set_override(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(content_hash): Named<String>,
    auditor: Auditor,
    JsonBody(draft): JsonBody<OverrideDraft>,
) -> Result<Json<Override>, ApiError> {
    let reason = draft.reason.trim().to_owned();
    if reason.is_empty() || reason.chars().count() > OVERRIDE_REASON_CHARS_MAX {
        let message = format!("`reason` has 1 to {OVERRIDE_REASON_CHARS_MAX} characters");
        return Err(OperationError::unprocessable("invalid_body", message).into());
    }
    if !is_known(&app, &content_hash) {
        return Err(OperationError::not_found("skill").into());
    }
    let given = Override { content_hash, reason, by: caller.viewer.user, at: app.clock().now() };
    app.stores().scans.set_override(&given).await?;
    auditor.note(&app, AuditAction::OverrideCreated, &given.content_hash, &given.reason).await?;
    app.catalogs().refresh(Reread::Kept).await?;
    Ok(Json(given))
}

/// Says whether some skill has these files, served or held back.
fn is_known(app: &App, content_hash: &str) -> bool {
    let Some(snapshot) = app.catalogs().snapshot() else { return false };
    snapshot.entries().iter().chain(snapshot.blocked()).any(|entry| entry.content_hash == content_hash)
}

async fn delete_override(
    State(app): State<App>,
    Named(content_hash): Named<String>,
    auditor: Auditor,
) -> Result<StatusCode, ApiError> {
    if !app.stores().scans.delete_override(&content_hash).await? {
        return Err(OperationError::not_found("override").into());
    }
    auditor.note(&app, AuditAction::OverrideDeleted, &content_hash, "").await?;
    app.catalogs().refresh(Reread::Kept).await?;
    Ok(StatusCode::NO_CONTENT)
}
