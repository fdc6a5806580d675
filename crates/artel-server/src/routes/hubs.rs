//! Hubs: looked at, registered, changed, fetched and removed, by administrators.

use artel_api::hubs::{
    CrawlAnswer, CrawlEvent, CrawlStep, CrawledSkill, HubChange, HubDraft, HubList, HubPathRule, HubView,
};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::{App, AudienceRule, HubAudience, NewHub, OperationError};
use artel_catalog::hub::CrawlPreview;
use artel_engine::hub::HubProgress;
use artel_model::catalog::{AuditAction, Hub, PathRule};
use artel_model::id::HubId;
use axum::Json;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;

use crate::auditor::Auditor;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, Named};
use crate::route::Route;
use crate::stream::Pieces;

const GROUP: &str = "skill hubs";
/// What everybody but administrators is told.
const ADMINS: &str = "Only authorized users can manage skill hubs.";
/// The type of a crawl that is streamed, one JSON document a line.
const NDJSON: &str = "application/x-ndjson";
/// Lines of a crawl that wait for a slow reader; further progress is left out, the result never is.
const CRAWL_LINES_MAX: usize = 64;
const ONE: &[Payload] = &[Payload::Json(shape::<HubView>)];
const UNKNOWN: Answer = Answer { status: 404, meaning: "There is no such hub.", payloads: &[] };

const LIST: Endpoint = Endpoint {
    method: Method::Get,
    path: "/api/skill-hubs",
    id: "listHubs",
    group: GROUP,
    summary: "Lists all hubs, in the order in which they were registered.",
    needs: Needs::AdminOr(ADMINS),
    query: None,
    headers: &[],
    body: Body::None,
    answers: &[Answer { status: 200, meaning: "The hubs.", payloads: &[Payload::Json(shape::<HubList>)] }],
};

pub(super) fn routes() -> Vec<Route> {
    let create = Endpoint {
        method: Method::Post,
        id: "createHub",
        summary: "Registers a hub; it is fetched in the background.",
        body: Body::Required(&[Payload::Json(shape::<HubDraft>)]),
        answers: &[
            Answer { status: 201, meaning: "It is registered.", payloads: ONE },
            Answer { status: 409, meaning: "There is a hub with this location.", payloads: &[] },
        ],
        ..LIST
    };
    let crawl = Endpoint {
        path: "/api/skill-hubs/crawl",
        id: "crawlHub",
        summary: "Looks at what a hub would give, without saving anything; streams its progress when asked for NDJSON.",
        headers: &["Accept"],
        answers: &[Answer {
            status: 200,
            meaning: "What it would give, or why nothing.",
            payloads: &[Payload::Json(shape::<CrawlAnswer>), Payload::Other(NDJSON)],
        }],
        ..create
    };
    let one = Endpoint {
        path: "/api/skill-hubs/{id}",
        id: "getHub",
        summary: "Returns a hub.",
        answers: &[Answer { status: 200, meaning: "The hub.", payloads: ONE }, UNKNOWN],
        ..LIST
    };
    let change = Endpoint {
        method: Method::Patch,
        id: "changeHub",
        summary: "Changes a hub, or switches it on or off.",
        body: Body::Required(&[Payload::Json(shape::<HubChange>)]),
        ..one
    };
    let delete = Endpoint {
        method: Method::Delete,
        id: "deleteHub",
        summary: "Removes a hub and its skills.",
        answers: &[Answer { status: 204, meaning: "It is removed.", payloads: &[] }, UNKNOWN],
        ..one
    };
    let refresh = Endpoint {
        method: Method::Post,
        path: "/api/skill-hubs/{id}/refresh",
        id: "refreshHub",
        summary: "Fetches a hub; a failure is kept with the hub.",
        ..one
    };
    vec![
        Route::new(LIST, list_hubs),
        Route::new(create, create_hub),
        Route::new(crawl, crawl_hub),
        Route::new(one, get_hub),
        Route::new(change, change_hub),
        Route::new(delete, delete_hub),
        Route::new(refresh, refresh_hub),
    ]
}

async fn list_hubs(State(app): State<App>) -> Result<Json<HubList>, ApiError> {
    let hubs = app.hubs()?.list().await?;
    Ok(Json(HubList { hubs: hubs.iter().map(hub_view).collect() }))
}

async fn create_hub(
    State(app): State<App>,
    Caller(caller): Caller,
    auditor: Auditor,
    JsonBody(draft): JsonBody<HubDraft>,
) -> Result<Response, ApiError> {
    let hub = app.hubs()?.create(&caller, &wish(draft)?).await?;
    auditor.note(&app, AuditAction::HubCreated, &hub.id.to_string(), &hub.location).await?;
    let location = format!("/api/skill-hubs/{}", hub.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(hub_view(&hub))).into_response())
}

async fn crawl_hub(
    State(app): State<App>,
    headers: HeaderMap,
    JsonBody(draft): JsonBody<HubDraft>,
) -> Result<Response, ApiError> {
    let wish = wish(draft)?;
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !accepts.contains(NDJSON) {
        let preview = app.hubs()?.crawl(&wish, &|_| {}).await?;
        return Ok(Json(crawled(preview)).into_response());
    }
    // What is wrong with the wish is told with a status, before the stream begins.
    app.hubs()?.check(&wish)?;
    let (lines, waiting) = mpsc::channel(CRAWL_LINES_MAX);
    tokio::spawn(stream_crawl(app, wish, lines));
    let body = HttpBody::new(Pieces(waiting));
    Ok(([(header::CONTENT_TYPE, NDJSON)], body).into_response())
}

/// Crawls, and tells how far it has come. Whoever hangs up ends it.
async fn stream_crawl(app: App, wish: NewHub, lines: mpsc::Sender<Bytes>) {
    let progress = lines.clone();
    let tell = move |step: HubProgress| {
        let event = CrawlEvent::Progress { message: told(step), step: crawl_step(step) };
        // A reader who is slow misses steps, not the result.
        let _ = progress.try_send(line(&event));
    };
    let crawl = async {
        let hubs = match app.hubs() {
            Ok(hubs) => hubs,
            Err(error) => return CrawlPreview::failed(error.message().to_owned()),
        };
        match hubs.crawl(&wish, &tell).await {
            Ok(preview) => preview,
            Err(error) => CrawlPreview::failed(error.to_string()),
        }
    };
    let preview = tokio::select! {
        preview = crawl => preview,
        () = lines.closed() => return,
    };
    let _ = lines.send(line(&CrawlEvent::Done { result: crawled(preview) })).await;
}

fn line(event: &CrawlEvent) -> Bytes {
    let mut text = serde_json::to_vec(event).unwrap_or_default();
    text.push(b'\n');
    text.into()
}

fn told(step: HubProgress) -> String {
    match step {
        HubProgress::Resolving => "asking the hub what it has".to_owned(),
        HubProgress::Fetching { bytes } => format!("fetched {bytes} bytes"),
        HubProgress::Reading { done, total } => format!("read {done} of {total} files"),
        HubProgress::Done { skills } => format!("found {skills} skills"),
    }
}

/// Shows how far a crawl has come.
pub fn crawl_step(step: HubProgress) -> CrawlStep {
    match step {
        HubProgress::Resolving => CrawlStep::Resolving,
        HubProgress::Fetching { bytes } => CrawlStep::Fetching { bytes },
        HubProgress::Reading { done, total } => CrawlStep::Reading { done, total },
        HubProgress::Done { skills } => CrawlStep::Done { skills },
    }
}

async fn get_hub(State(app): State<App>, Named(id): Named<HubId>) -> Result<Json<HubView>, ApiError> {
    Ok(Json(hub_view(&app.hubs()?.hub(id).await?)))
}

async fn change_hub(
    State(app): State<App>,
    Named(id): Named<HubId>,
    auditor: Auditor,
    JsonBody(change): JsonBody<HubChange>,
) -> Result<Json<HubView>, ApiError> {
    let hub = app.hubs()?.update(id, |wish| apply_hub_change(change, wish)).await?;
    auditor.note(&app, AuditAction::HubUpdated, &id.to_string(), &hub.location).await?;
    Ok(Json(hub_view(&hub)))
}

async fn delete_hub(
    State(app): State<App>,
    Named(id): Named<HubId>,
    auditor: Auditor,
) -> Result<StatusCode, ApiError> {
    let hub = app.hubs()?.delete(id).await?;
    auditor.note(&app, AuditAction::HubDeleted, &id.to_string(), &hub.location).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn refresh_hub(State(app): State<App>, Named(id): Named<HubId>) -> Result<Json<HubView>, ApiError> {
    Ok(Json(hub_view(&app.hubs()?.refresh(id).await?)))
}

fn wish(draft: HubDraft) -> Result<NewHub, OperationError> {
    let unsupported =
        |error: &dyn std::error::Error| OperationError::bad_request("unsupported_type", error.to_string());
    Ok(NewHub {
        kind: draft.kind.parse().map_err(|error| unsupported(&error))?,
        location: draft.location,
        reference: draft.reference,
        include_paths: draft.include_paths,
        is_enabled: draft.enabled,
        credentials_ref: draft.credentials_ref,
        audience: HubAudience {
            whole: AudienceRule {
                visibility: draft.visibility,
                team_ids: draft.team_ids,
                owner_user_id: draft.owner_user_id,
            },
            paths: draft.paths.into_iter().map(path_rule).collect(),
        },
    })
}

fn path_rule(rule: HubPathRule) -> (String, AudienceRule) {
    let HubPathRule { path, visibility, team_ids, owner_user_id } = rule;
    (path, AudienceRule { visibility, team_ids, owner_user_id })
}

/// Teams without a word for who sees the skills mean the word that is kept.
fn apply_audience(change: &HubChange, audience: &mut HubAudience) {
    let says_who = !change.team_ids.is_empty() || change.owner_user_id.is_some();
    if change.visibility.is_some() || says_who {
        let visibility = change.visibility.clone().unwrap_or_else(|| audience.whole.visibility.clone());
        let (team_ids, owner_user_id) = (change.team_ids.clone(), change.owner_user_id.clone());
        audience.whole = AudienceRule { visibility, team_ids, owner_user_id };
    }
    if let Some(paths) = &change.paths {
        audience.paths = paths.iter().cloned().map(path_rule).collect();
    }
}

/// Changes what is wanted of a hub; what the change does not name stays.
pub fn apply_hub_change(change: HubChange, wish: &mut NewHub) {
    apply_audience(&change, &mut wish.audience);
    let unless_empty = |text: String| Some(text).filter(|text| !text.is_empty());
    if let Some(enabled) = change.enabled {
        wish.is_enabled = enabled;
    }
    if let Some(reference) = change.reference {
        wish.reference = unless_empty(reference);
    }
    if let Some(paths) = change.include_paths {
        wish.include_paths = paths;
    }
    if let Some(credentials) = change.credentials_ref {
        wish.credentials_ref = unless_empty(credentials);
    }
}

/// Shows a hub.
pub fn hub_view(hub: &Hub) -> HubView {
    let whole = AudienceRule::of(&hub.visibility.whole);
    let rule = |rule: &PathRule| {
        let AudienceRule { visibility, team_ids, owner_user_id } = AudienceRule::of(&rule.visibility);
        HubPathRule { path: rule.path.clone(), visibility, team_ids, owner_user_id }
    };
    HubView {
        id: hub.id.to_string(),
        kind: hub.kind.to_string(),
        location: hub.location.clone(),
        reference: hub.reference.clone(),
        include_paths: hub.include_paths.clone(),
        enabled: hub.is_enabled,
        credentials_ref: hub.credentials_ref.clone(),
        visibility: whole.visibility,
        team_ids: whole.team_ids,
        owner_user_id: whole.owner_user_id,
        paths: hub.visibility.paths.iter().map(rule).collect(),
        last_success_at: hub.status.last_success_at,
        last_failure_at: hub.status.last_failure_at,
        last_failure_message: hub.status.last_failure_message.clone(),
        revision: hub.status.revision.clone(),
        skills_count: hub.status.skills_count,
        warnings: hub.status.warnings.clone(),
        created_at: hub.created_at,
        updated_at: hub.updated_at,
        created_by: hub.created_by.clone(),
    }
}

fn crawled(preview: CrawlPreview) -> CrawlAnswer {
    let skill = |skill: artel_catalog::hub::SkillPreview| CrawledSkill {
        path: skill.path,
        name: skill.name,
        description: skill.description,
        ancillary_file_count: skill.ancillary_file_count,
    };
    CrawlAnswer {
        paths: preview.paths,
        skills_preview: preview.skills_preview.into_iter().map(skill).collect(),
        warnings: preview.warnings,
        error: preview.error,
    }
}
