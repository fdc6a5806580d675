//! Skills: listing, searching and reading what the caller is entitled to; reading all sources again; the supervisor.

use std::sync::Arc;

use artel_api::skills::{
    EntryQuery, RefreshQuery, Refreshed, SkillEntry, SkillList, SkillListMeta, SkillQuery,
};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::operations::{Contents, read_skill_file, served, with_contents};
use artel_app::{
    App, Catalogs, OperationError, Reread, SourceDetail, SupervisorStatus, saved_tag, seen_entry,
    source_name, unavailable_sources,
};
use artel_catalog::shared::{EntryId, ListQuery, Page, Seen, Snapshot, View};
use artel_model::access::Scope;
use artel_model::catalog::{ActivatedBy, OfferedBy, ScanStatus};
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;
use crate::extract::{Caller, Named, QueryOf};
use crate::precondition::quoted;
use crate::route::Route;

pub(super) const GROUP: &str = "skills";
const NEVER_CHANGED: Answer =
    Answer { status: 304, meaning: "What `If-None-Match` names is still what there is.", payloads: &[] };
const UNKNOWN: Answer = Answer {
    status: 404,
    meaning: "There is no such skill, or it is not the caller's to see.",
    payloads: &[],
};

const LIST: Endpoint = Endpoint {
    method: Method::Get,
    path: "/api/skills",
    id: "listSkills",
    group: GROUP,
    summary: "Lists the skills that the caller is entitled to, or those that match some words.",
    needs: Needs::Scope(Scope::CatalogRead),
    query: Some(shape::<SkillQuery>),
    headers: &["If-None-Match"],
    body: Body::None,
    answers: &[
        Answer { status: 200, meaning: "A page of skills.", payloads: &[Payload::Json(shape::<SkillList>)] },
        NEVER_CHANGED,
    ],
};

pub(super) fn routes() -> Vec<Route> {
    let one = Endpoint {
        path: "/api/skills/{id}",
        id: "getSkill",
        summary: "Returns a skill with its instructions; a slash in the id is written `%2F`.",
        query: Some(shape::<EntryQuery>),
        answers: &[
            Answer { status: 200, meaning: "The skill.", payloads: &[Payload::Json(shape::<SkillEntry>)] },
            NEVER_CHANGED,
            UNKNOWN,
        ],
        ..LIST
    };
    let file = Endpoint {
        path: "/api/skills/{id}/files/{*path}",
        id: "getSkillFile",
        summary: "Returns a file of a skill, as it is.",
        query: None,
        answers: &[
            Answer {
                status: 200,
                meaning: "The file.",
                payloads: &[Payload::Other("application/octet-stream"), Payload::Other("text/plain")],
            },
            NEVER_CHANGED,
            UNKNOWN,
        ],
        ..one
    };
    let status = Endpoint {
        path: "/api/skills/supervisor-status",
        id: "supervisorStatus",
        summary: "Says whether the assistant behind the chat works with the skills that are served.",
        query: None,
        headers: &[],
        answers: &[Answer {
            status: 200,
            meaning: "How it stands.",
            payloads: &[Payload::Json(shape::<SupervisorStatus>)],
        }],
        ..one
    };
    let refresh = Endpoint {
        method: Method::Post,
        path: "/api/skills/refresh",
        id: "refreshSkills",
        summary: "Reads all sources again and rebuilds the supervisor.",
        needs: Needs::AdminOr("Only administrators can refresh the catalog."),
        query: Some(shape::<RefreshQuery>),
        answers: &[Answer {
            status: 200,
            meaning: "What is served from this moment on.",
            payloads: &[Payload::Json(shape::<Refreshed>)],
        }],
        ..status
    };
    vec![
        Route::new(LIST, list_skills),
        Route::new(one, get_skill),
        Route::new(file, get_file),
        Route::new(status, supervisor_status),
        Route::new(refresh, refresh_skills),
    ]
}

pub(super) async fn list_skills(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(asked): QueryOf<SkillQuery>,
    RawQuery(question): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (snapshot, view) = served(&app, &caller)?;
    let tag = quoted(view.etag());
    if is_known(&headers, &tag) {
        return Ok(unchanged(tag));
    }
    let query = list_query(&asked)?;
    app.trail().searched(&caller, OfferedBy::Search, &view, &query);
    let with_content = asked.include_content.unwrap_or(false);
    let generation = Catalogs::generation_for(&caller, &snapshot);
    let told = SourceDetail::to(&caller);
    let make = move |_: &Snapshot, view: &View| {
        serde_json::to_vec(&skill_list(generation, view, &query, (with_content, told))).unwrap_or_default()
    };
    // Two callers with the same view may be told different numbers, and administrators are told more.
    let question = format!("{generation}{told:?}?{}", question.as_deref().unwrap_or_default());
    let list = app.rendered().page((snapshot, view), &question, make).await?;
    Ok(tagged(tag, ([(header::CONTENT_TYPE, "application/json")], list)))
}

async fn get_skill(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<String>,
    QueryOf(asked): QueryOf<EntryQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let revisions = app.catalogs().revisions();
    let (_, view) = served(&app, &caller)?;
    let id: EntryId = id.parse().map_err(|_| OperationError::not_found("skill"))?;
    let seen = view.readable(&id).ok_or_else(|| OperationError::not_found("skill"))?;
    let revision = match &id {
        EntryId::Custom(id) => revisions.get(id).copied(),
        EntryId::Default(_) | EntryId::Hub(..) => None,
    };
    let digest = seen.entry.etag();
    let tag = revision.map_or_else(|| digest.clone(), |revision| saved_tag(revision, &digest));
    let tag = quoted(&match seen.shadowed_by {
        Some(other) => format!("{tag}.{other}"),
        None => tag,
    });
    if is_known(&headers, &tag) {
        return Ok(unchanged(tag));
    }
    app.trail().activated(&caller, ActivatedBy::Read, seen.entry);
    let mut entry = seen_entry(&view, &seen, true);
    entry.revision = revision;
    if asked.include_content.unwrap_or(false) {
        entry = with_contents(Arc::clone(&seen.entry.loaded), entry).await?;
    }
    Ok(tagged(tag, Json(entry)))
}

async fn get_file(
    State(app): State<App>,
    Caller(caller): Caller,
    Named((id, path)): Named<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (_, view) = served(&app, &caller)?;
    let id: EntryId = id.parse().map_err(|_| OperationError::not_found("skill"))?;
    let seen = view.readable(&id).ok_or_else(|| OperationError::not_found("skill"))?;
    let file = seen.entry.file(&path).ok_or_else(|| OperationError::not_found("file"))?.clone();
    let tag = quoted(&file.hash.to_string());
    if is_known(&headers, &tag) {
        return Ok(unchanged(tag));
    }
    let (_, content) = read_skill_file(&app, seen.entry, file.path.as_str()).await?;
    Ok(tagged(tag, file_response(content)))
}

pub(super) async fn supervisor_status(
    State(app): State<App>,
    Caller(caller): Caller,
) -> Json<SupervisorStatus> {
    Json(app.catalogs().supervisor_status_for(&caller).await)
}

async fn refresh_skills(
    State(app): State<App>,
    QueryOf(asked): QueryOf<RefreshQuery>,
) -> Result<Json<Refreshed>, ApiError> {
    if asked.include_hubs.unwrap_or(false) {
        app.hubs()?.refresh_all().await?;
    }
    let snapshot = app.catalogs().refresh(Reread::Folders).await?;
    let status = app.catalogs().rebuild_supervisor();
    Ok(Json(Refreshed {
        graph_generation: status.graph_generation,
        skills_loaded_count: status.skills_loaded_count,
        generation: snapshot.generation(),
        content_hash: snapshot.content_hash().to_owned(),
        unavailable_sources: unavailable_sources(snapshot.sources(), SourceDetail::Everything),
    }))
}

fn list_query(asked: &SkillQuery) -> Result<ListQuery, OperationError> {
    let wrong =
        |error: &dyn std::fmt::Display| OperationError::bad_request("invalid_query", error.to_string());
    let size = asked.page_size.map_or_else(|| Page::default().size(), |size| size as usize);
    Ok(ListQuery {
        words: asked.q.clone(),
        page: Page::new(asked.page.unwrap_or(1), size).map_err(|error| wrong(&error))?,
        source: asked.source.as_deref().map(str::parse).transpose().map_err(|error| wrong(&error))?,
        who: asked.visibility.as_deref().map(str::parse).transpose().map_err(|error| wrong(&error))?,
        scan_status: asked.scan_status.as_deref().map(scan_status).transpose()?,
        tags: listed(asked.tags.as_deref().unwrap_or_default()).map(str::to_owned).collect(),
    })
}

/// Returns what stands between commas in a parameter.
pub(super) fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty())
}

fn scan_status(word: &str) -> Result<ScanStatus, OperationError> {
    let all = [ScanStatus::Passed, ScanStatus::Flagged, ScanStatus::Unscanned];
    all.into_iter().find(|status| status.as_str() == word).ok_or_else(|| {
        OperationError::bad_request("invalid_query", "`scan_status` is passed, flagged or unscanned")
    })
}

fn skill_list(
    generation: u64,
    view: &View,
    query: &ListQuery,
    (with_content, told): (bool, SourceDetail),
) -> SkillList {
    let listing = view.list(query);
    let loaded = view.sources().iter().filter(|source| source.loaded_at.is_some());
    let listed = |entry| Seen { entry, shadowed_by: None, is_held_back: false };
    let mut contents = Contents::default();
    let mut entry = |seen: &Seen<'_>| {
        let mut told = seen_entry(view, seen, with_content);
        if with_content {
            contents.add(&seen.entry.loaded, &mut told);
        }
        told
    };
    let held_back: Vec<Seen<'_>> = match listing.page.number() {
        1 => view
            .held_back()
            .filter(|entry| query.fits(entry))
            .map(|entry| Seen { is_held_back: true, ..listed(entry) })
            .collect(),
        _ => Vec::new(),
    };
    SkillList {
        meta: SkillListMeta {
            total: listing.total,
            page: listing.page.number(),
            page_size: listing.page.size(),
            has_more: listing.has_more,
            sources_loaded: loaded.map(source_name).collect(),
            unavailable_sources: unavailable_sources(view.sources(), told),
            message: listing.message.map(str::to_owned),
            generation,
        },
        skills: listing.items.iter().map(|item| entry(&listed(item.entry))).collect(),
        held_back: held_back.iter().map(entry).collect(),
    }
}

/// A skill's file is somebody else's: no browser shall guess what it is or run it.
fn file_response(content: Vec<u8>) -> Response {
    let media = if std::str::from_utf8(&content).is_ok() {
        "text/plain; charset=utf-8"
    } else {
        "application/octet-stream"
    };
    ([(header::CONTENT_TYPE, media), (header::CONTENT_DISPOSITION, "attachment")], content).into_response()
}

pub(super) fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let known = headers.get_all(header::IF_NONE_MATCH).into_iter().filter_map(|value| value.to_str().ok());
    let tag = tag.to_str().unwrap_or_default();
    known
        .flat_map(|value| value.split(','))
        .any(|one| one.trim().trim_start_matches("W/") == tag || one.trim() == "*")
}

pub(super) fn unchanged(tag: HeaderValue) -> Response {
    (StatusCode::NOT_MODIFIED, [(header::ETAG, tag), (header::CACHE_CONTROL, revalidated())]).into_response()
}

/// An answer that its caller may keep, and asks about before it uses it again.
pub(super) fn tagged(tag: HeaderValue, answer: impl IntoResponse) -> Response {
    ([(header::ETAG, tag), (header::CACHE_CONTROL, revalidated()), (header::VARY, vary())], answer)
        .into_response()
}

fn revalidated() -> HeaderValue {
    HeaderValue::from_static("private, no-cache")
}

fn vary() -> HeaderValue {
    HeaderValue::from_static("authorization, x-artel-key")
}
