//! Skills that people save: made, changed, deleted, imported, and their history.

use artel_api::ErrorKind;
use artel_api::skills::{ArchiveQuery, HistoryQuery, SentFile, SkillDraft, SkillEntry, SkillHistoryEntry};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Paged, Payload, shape};
use artel_app::{App, OperationError, Saved, saved_tag, seen_entry, skill_entry};
use artel_catalog::shared::EntryId;
use artel_catalog::shared::custom::{
    CustomDraft, ImportedSkill, ZipCaps, ZipProblem, files_of_zip, import_skill,
};
use artel_model::access::{Principal, Scope};
use artel_model::catalog::{AuditAction, CustomFile, SkillChange, Visibility};
use artel_model::id::CustomSkillId;
use artel_store::{Cursor, PageRequest};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::skills::{GROUP, listed};
use crate::auditor::Auditor;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, Named, QueryOf};
use crate::precondition::{if_match, quoted};
use crate::route::Route;

/// Changes on a page when nobody says how many.
const PAGE: usize = 20;
/// Changes on a page at most.
const PAGE_MAX: usize = 200;
pub(super) const SAVED: &[Payload] = &[Payload::Json(shape::<SkillEntry>)];
pub(super) const UNKNOWN: Answer = Answer {
    status: 404,
    meaning: "There is no such skill, or it is not the caller's to see.",
    payloads: &[],
};
pub(super) const CHANGED: Answer =
    Answer { status: 409, meaning: "Another caller changed the skill in between.", payloads: &[] };
pub(super) const MISMATCH: Answer =
    Answer { status: 412, meaning: "The skill is not the one that `If-Match` names.", payloads: &[] };

pub(super) fn routes() -> Vec<Route> {
    let create = Endpoint {
        method: Method::Post,
        path: "/api/skills",
        id: "createSkill",
        group: GROUP,
        summary: "Saves a skill: its fields as JSON, or a whole skill as a Zip archive, about which the query says more.",
        needs: Needs::Scope(Scope::CatalogWrite),
        query: Some(shape::<ArchiveQuery>),
        headers: &[],
        body: Body::Required(&[Payload::Json(shape::<SkillDraft>), Payload::Other("application/zip")]),
        answers: &[Answer { status: 201, meaning: "It is saved and scanned.", payloads: SAVED }],
    };
    let update = Endpoint {
        method: Method::Put,
        path: "/api/skills/{id}",
        id: "updateSkill",
        summary: "Saves a skill again; `If-Match` is the `ETag` of the one that is replaced.",
        query: None,
        headers: &["If-Match"],
        body: Body::Required(&[Payload::Json(shape::<SkillDraft>)]),
        answers: &[
            Answer { status: 200, meaning: "It is saved and scanned.", payloads: SAVED },
            UNKNOWN,
            CHANGED,
            MISMATCH,
        ],
        ..create
    };
    let delete = Endpoint {
        method: Method::Delete,
        path: "/api/skills/{id}",
        id: "deleteSkill",
        summary: "Deletes a skill, if `If-Match` is still its `ETag`; its history stays.",
        query: None,
        headers: &["If-Match"],
        body: Body::None,
        answers: &[
            Answer { status: 204, meaning: "It is deleted.", payloads: &[] },
            UNKNOWN,
            CHANGED,
            MISMATCH,
        ],
        ..create
    };
    let history = Endpoint {
        method: Method::Get,
        path: "/api/skills/{id}/history",
        id: "skillHistory",
        summary: "Returns the changes of a saved skill, the last first.",
        query: Some(shape::<HistoryQuery>),
        body: Body::None,
        answers: &[
            Answer {
                status: 200,
                meaning: "A page of changes.",
                payloads: &[Payload::Json(shape::<Paged<SkillHistoryEntry>>)],
            },
            UNKNOWN,
        ],
        ..create
    };
    vec![
        Route::new(create, create_skill),
        Route::new(update, update_skill),
        Route::new(delete, delete_skill),
        Route::new(history, skill_history),
    ]
}

async fn create_skill(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(asked): QueryOf<ArchiveQuery>,
    auditor: Auditor,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    // Unpacking takes a while, and others are to be answered meanwhile.
    let read = tokio::task::spawn_blocking(move || match is_zip(&headers) {
        true => zipped(&body, asked),
        false => sent(&headers, &body, &asked),
    });
    let draft = read.await.map_err(|_| OperationError::internal("reading the skill failed"))??;
    let saved = app.catalogs().create(&caller, draft).await?;
    auditor
        .note(&app, AuditAction::SkillCreated, &saved.skill.id.to_string(), saved.skill.name.as_str())
        .await?;
    let location = format!("/api/skills/agent_skills%2F{}", saved.skill.id);
    let (tag, entry) = answer(&caller, &saved)?;
    Ok((StatusCode::CREATED, [(header::ETAG, tag)], [(header::LOCATION, location)], Json(entry))
        .into_response())
}

async fn update_skill(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<String>,
    auditor: Auditor,
    headers: HeaderMap,
    JsonBody(draft): JsonBody<SkillDraft>,
) -> Result<Response, ApiError> {
    let (id, expected) = (custom(&id)?, if_match(&headers)?);
    let saved = app.catalogs().update(&caller, id, &expected, draft_of(draft)?).await?;
    auditor.note(&app, AuditAction::SkillUpdated, &id.to_string(), saved.skill.name.as_str()).await?;
    let (tag, entry) = answer(&caller, &saved)?;
    Ok(([(header::ETAG, tag)], Json(entry)).into_response())
}

async fn delete_skill(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<String>,
    auditor: Auditor,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let (id, expected) = (custom(&id)?, if_match(&headers)?);
    let gone = app.catalogs().delete(&caller, id, &expected).await?;
    auditor.note(&app, AuditAction::SkillDeleted, &id.to_string(), gone.name.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn skill_history(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<String>,
    QueryOf(asked): QueryOf<HistoryQuery>,
) -> Result<Json<Paged<SkillHistoryEntry>>, ApiError> {
    let page =
        PageRequest { after: asked.after.map(Cursor), limit: asked.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX) };
    // A skill of a folder or a hub has no history here.
    let id = custom(&id).map_err(|_| OperationError::not_found("skill"))?;
    let page = app.catalogs().history(&caller, id, &page).await?;
    let items = page.items.into_iter().map(change).collect();
    Ok(Json(Paged { items, next: page.next.map(|cursor| cursor.0) }))
}

/// Only what people saved can be changed; everything else is changed where it comes from.
pub(super) fn custom(id: &str) -> Result<CustomSkillId, OperationError> {
    match id.parse() {
        Ok(EntryId::Custom(id)) => Ok(id),
        Ok(EntryId::Default(_) | EntryId::Hub(..)) => Err(OperationError::conflict(
            "not_a_saved_skill",
            "Only saved skills can be changed here; this one comes from a folder or a hub.",
        )),
        Err(_) => Err(OperationError::not_found("skill")),
    }
}

fn is_zip(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"application/zip"))
}

fn sent(headers: &HeaderMap, body: &[u8], asked: &ArchiveQuery) -> Result<CustomDraft, OperationError> {
    let ArchiveQuery { name, title, visibility, team_ids } = asked;
    if [name, title, visibility, team_ids].into_iter().any(Option::is_some) {
        let message = "the query is for Zip archives; a JSON body has these fields itself";
        return Err(OperationError::bad_request("invalid_query", message));
    }
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !media.starts_with("application/json") {
        return Err(OperationError::new(
            ErrorKind::UnsupportedMediaType,
            "unsupported_media_type",
            "the body must be JSON, or a Zip archive with `Content-Type: application/zip`",
        ));
    }
    match serde_json::from_slice::<SkillDraft>(body) {
        Ok(draft) => draft_of(draft),
        Err(error) if error.is_data() => {
            Err(OperationError::unprocessable("invalid_body", error.to_string()))
        }
        Err(error) => Err(OperationError::bad_request("invalid_json", error.to_string())),
    }
}

fn zipped(body: &[u8], asked: ArchiveQuery) -> Result<CustomDraft, OperationError> {
    let wrong =
        |error: &dyn std::error::Error| OperationError::unprocessable("invalid_archive", error.to_string());
    let files = files_of_zip(body, &ZipCaps::default()).map_err(|error| match error {
        ZipProblem::TooLarge(_) => OperationError::new(ErrorKind::TooLarge, "too_large", error.to_string()),
        ZipProblem::Damaged
        | ZipProblem::TooManyFiles(_)
        | ZipProblem::Bomb(_)
        | ZipProblem::Path { .. }
        | ZipProblem::Repeated(_)
        | ZipProblem::Link(_)
        | ZipProblem::Encrypted(_)
        | ZipProblem::Method(_) => wrong(&error),
    })?;
    let Some(skill_md) = files.skill_md else {
        return Err(OperationError::unprocessable("invalid_archive", "the archive holds no `SKILL.md`"));
    };
    let ImportedSkill { draft, .. } = import_skill(&skill_md, files.files).map_err(|error| wrong(&error))?;
    let team_ids = asked.team_ids.unwrap_or_default();
    Ok(CustomDraft {
        name: asked.name.unwrap_or(draft.name),
        title: asked.title.or(draft.title),
        visibility: asked.visibility.unwrap_or_else(|| "personal".to_owned()),
        team_ids: listed(&team_ids).map(str::to_owned).collect(),
        ..draft
    })
}

fn draft_of(draft: SkillDraft) -> Result<CustomDraft, OperationError> {
    let files = draft.files.into_iter().enumerate().map(file_of).collect::<Result<_, _>>()?;
    Ok(CustomDraft {
        name: draft.name,
        title: draft.title,
        description: draft.description,
        content: draft.content,
        metadata: draft.metadata,
        visibility: draft.visibility,
        team_ids: draft.team_ids,
        files,
    })
}

fn file_of((number, file): (usize, SentFile)) -> Result<CustomFile, OperationError> {
    let wrong =
        |message: &str| OperationError::unprocessable("invalid_body", format!("/files/{number}: {message}"));
    let content = match (file.text, file.base64) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(encoded)) => STANDARD.decode(encoded).map_err(|_| wrong("`base64` is not base64"))?,
        (Some(_), Some(_)) | (None, None) => return Err(wrong("a file has either `text` or `base64`")),
    };
    Ok(CustomFile { path: file.path, content, is_executable: file.is_executable })
}

pub(super) fn answer(
    caller: &Principal,
    saved: &Saved,
) -> Result<(axum::http::HeaderValue, SkillEntry), OperationError> {
    let entry = saved.entry().ok_or_else(|| {
        OperationError::unavailable("skills_unavailable", "The skill is saved, and will be served shortly.")
    })?;
    let tag = quoted(&saved_tag(saved.skill.revision, &entry.etag()));
    let view = saved.snapshot.view(&caller.viewer);
    // An administrator may save what only others see.
    let mut entry = match view.readable(&entry.id) {
        Some(seen) => seen_entry(&view, &seen, true),
        None => skill_entry(entry, true),
    };
    entry.revision = Some(saved.skill.revision);
    entry.warnings.clone_from(&saved.warnings);
    Ok((tag, entry))
}

fn change(change: SkillChange) -> SkillHistoryEntry {
    let SkillChange { revision, at, by, saved, .. } = change;
    let content_hash = saved.as_ref().map(|saved| saved.content_hash.clone());
    let draft = saved.map(|saved| {
        let team_ids = match &saved.visibility {
            Visibility::Team { team_ids } => team_ids.iter().map(ToString::to_string).collect(),
            Visibility::Global | Visibility::Personal { .. } => Vec::new(),
        };
        SkillDraft {
            name: saved.name.to_string(),
            title: saved.title,
            description: saved.description,
            content: saved.content,
            metadata: saved.metadata,
            visibility: saved.visibility.as_str().to_owned(),
            team_ids,
            files: saved.files.into_iter().map(sent_file).collect(),
        }
    });
    SkillHistoryEntry { revision, at, by, is_deleted: draft.is_none(), draft, content_hash }
}

fn sent_file(file: CustomFile) -> SentFile {
    let CustomFile { path, content, is_executable } = file;
    match String::from_utf8(content) {
        Ok(text) => SentFile { path, text: Some(text), base64: None, is_executable },
        Err(bytes) => {
            SentFile { path, text: None, base64: Some(STANDARD.encode(bytes.into_bytes())), is_executable }
        }
    }
}
