//! The audit log: an administrator's to read.

use artel_api::audit::AuditQuery;
use artel_api::{Answer, Body, Endpoint, Method, Needs, Paged, Payload, shape};
use artel_app::{App, operations};
use artel_model::catalog::AuditEntry;
use axum::Json;
use axum::extract::State;

use crate::error::ApiError;
use crate::extract::QueryOf;
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    let list = Endpoint {
        method: Method::Get,
        path: "/api/audit",
        id: "listAudit",
        group: "audit",
        summary: "Lists who changed what, when and from where, the last first.",
        needs: Needs::AdminOr("Only administrators can read the audit log."),
        query: Some(shape::<AuditQuery>),
        headers: &[],
        body: Body::None,
        answers: &[Answer {
            status: 200,
            meaning: "Entries.",
            payloads: &[Payload::Json(shape::<Paged<AuditEntry>>)],
        }],
    };
    vec![Route::new(list, list_audit)]
}

async fn list_audit(
    State(app): State<App>,
    QueryOf(query): QueryOf<AuditQuery>,
) -> Result<Json<Paged<AuditEntry>>, ApiError> {
    Ok(Json(operations::list_audit(&app, query).await?))
}
