//! Scanning again what has been scanned: one skill, or all skills of a hub.

use artel_api::findings::RescannedHub;
use artel_api::skills::SkillEntry;
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::{App, OperationError, Rescanned, skill_entry};
use artel_catalog::shared::EntryId;
use artel_model::catalog::AuditAction;
use artel_model::id::HubId;
use axum::Json;
use axum::extract::State;

use super::skills::GROUP;
use crate::auditor::Auditor;
use crate::error::ApiError;
use crate::extract::Named;
use crate::route::Route;

const ADMINS: &str = "Only administrators can have skills scanned again.";

pub(super) fn routes() -> Vec<Route> {
    let skill = Endpoint {
        method: Method::Post,
        path: "/api/skills/{id}/rescan",
        id: "rescanSkill",
        group: GROUP,
        summary: "Scans a skill again with every scanner, also one that is held back, and replaces the verdicts.",
        needs: Needs::AdminOr(ADMINS),
        query: None,
        headers: &[],
        body: Body::None,
        answers: &[
            Answer {
                status: 200,
                meaning: "The skill, with what scanners say of it.",
                payloads: &[Payload::Json(shape::<SkillEntry>)],
            },
            Answer { status: 404, meaning: "There is no such skill.", payloads: &[] },
        ],
    };
    let hub = Endpoint {
        path: "/api/skill-hubs/{id}/rescan",
        id: "rescanHub",
        group: "skill hubs",
        summary: "Scans all skills of a hub again with every scanner, and replaces the verdicts.",
        answers: &[
            Answer {
                status: 200,
                meaning: "How they stand.",
                payloads: &[Payload::Json(shape::<RescannedHub>)],
            },
            Answer { status: 404, meaning: "There is no such hub.", payloads: &[] },
        ],
        ..skill
    };
    vec![Route::new(skill, rescan_skill), Route::new(hub, rescan_hub)]
}

async fn rescan_skill(
    State(app): State<App>,
    Named(id): Named<String>,
    auditor: Auditor,
) -> Result<Json<SkillEntry>, ApiError> {
    let unknown = || OperationError::not_found("skill");
    let id: EntryId = id.parse().map_err(|_| unknown())?;
    app.catalogs().snapshot().and_then(|snapshot| snapshot.any(&id).map(drop)).ok_or_else(unknown)?;
    let snapshot = app.catalogs().rescan_skill(&id).await?;
    // It may have been deleted in between.
    let entry = snapshot.any(&id).ok_or_else(unknown)?;
    auditor.note(&app, AuditAction::SkillRescanned, &id.to_string(), entry.scan.status.as_str()).await?;
    Ok(Json(skill_entry(entry, false)))
}

async fn rescan_hub(
    State(app): State<App>,
    Named(id): Named<HubId>,
    auditor: Auditor,
) -> Result<Json<RescannedHub>, ApiError> {
    let hub = app.hubs()?.hub(id).await?;
    let Rescanned { passed, flagged, unscanned, waiting, generation } = app.catalogs().rescan_hub(id).await?;
    auditor.note(&app, AuditAction::HubRescanned, &id.to_string(), &hub.location).await?;
    Ok(Json(RescannedHub { passed, flagged, unscanned, waiting, generation }))
}
