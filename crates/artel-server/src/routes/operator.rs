//! What a copy of the catalog needs beside its list, what an operator sets and switches, and who is asking.

use artel_api::operator::{
    BundleRequest, SettingsChange, SkillHealthList, SkillSettings, SkillSwitch, SkillSwitches, SwitchChange,
    Whoami,
};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload, shape};
use artel_app::operations::{
    bundle, change_personal_settings, change_settings, forget_data, reset_skill_health, skill_health,
    skill_settings, switch, switches,
};
use artel_app::{App, OperationError};
use artel_catalog::shared::EntryId;
use artel_model::access::Scope;
use artel_model::catalog::AuditAction;
use artel_model::name::SkillName;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};

use super::skills::GROUP;
use crate::auditor::Auditor;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, Named};
use crate::route::Route;

/// What everybody but administrators is told.
const ADMINS: &str = "Only administrators can set and switch skills.";
/// The type of a bundle.
const BUNDLE: &str = "application/gzip";
const UNKNOWN: Answer = Answer {
    status: 404,
    meaning: "There is no such skill, or it is not the caller's to see.",
    payloads: &[],
};
const SETTINGS: Answer = Answer {
    status: 200,
    meaning: "What is set, secrets masked.",
    payloads: &[Payload::Json(shape::<SkillSettings>)],
};
const HEALTH: Endpoint = Endpoint {
    method: Method::Get,
    path: "/api/skills/health",
    id: "skillHealth",
    group: GROUP,
    summary: "Says how well the skills do that the caller sees.",
    needs: Needs::Scope(Scope::CatalogRead),
    query: None,
    headers: &[],
    body: Body::None,
    answers: &[Answer {
        status: 200,
        meaning: "What is known.",
        payloads: &[Payload::Json(shape::<SkillHealthList>)],
    }],
};

pub(super) fn routes() -> Vec<Route> {
    let bundle = Endpoint {
        method: Method::Post,
        path: "/api/skills/bundle",
        id: "bundleSkills",
        summary: "Packs the files of several skills, each in a folder named by its place in the request; what does not fit is left out.",
        body: Body::Required(&[Payload::Json(shape::<BundleRequest>)]),
        answers: &[Answer {
            status: 200,
            meaning: "A compressed tape archive.",
            payloads: &[Payload::Other(BUNDLE)],
        }],
        ..HEALTH
    };
    let reset = Endpoint {
        method: Method::Delete,
        path: "/api/skills/{id}/health",
        id: "resetSkillHealth",
        summary: "Forgets how often a skill of any source failed, so that it may be tried again; a slash in the id is written `%2F`.",
        needs: Needs::AdminOr(ADMINS),
        answers: &[Answer { status: 204, meaning: "It is forgotten.", payloads: &[] }, UNKNOWN],
        ..HEALTH
    };
    let forget = Endpoint {
        method: Method::Delete,
        path: "/api/skills/{id}/data",
        id: "forgetSkillData",
        summary: "Removes what a skill keeps for the caller in `data/`; a slash in the id is written `%2F`.",
        needs: Needs::Scope(Scope::RunsWrite),
        answers: &[Answer { status: 204, meaning: "It is removed.", payloads: &[] }, UNKNOWN],
        ..HEALTH
    };
    let mut all = vec![
        Route::new(forget, delete_data),
        Route::new(HEALTH, get_health),
        Route::new(reset, reset_health),
        Route::new(bundle, make_bundle),
    ];
    all.extend(settings_routes());
    all.extend(switch_routes());
    all
}

fn settings_routes() -> [Route; 3] {
    let settings = Endpoint {
        path: "/api/skills/{id}/config",
        id: "getSkillConfig",
        summary: "Returns the settings of a skill with secrets masked; a slash in the id is written `%2F`.",
        answers: &[SETTINGS, UNKNOWN],
        ..HEALTH
    };
    let change = Endpoint {
        method: Method::Patch,
        id: "changeSkillConfig",
        summary: "Changes settings of a skill in the server's folders; what is not named stays.",
        needs: Needs::AdminOr(ADMINS),
        body: Body::Required(&[Payload::Json(shape::<SettingsChange>)]),
        answers: &[
            SETTINGS,
            UNKNOWN,
            Answer {
                status: 409,
                meaning: "The skill has no settings, or they come with its files.",
                payloads: &[],
            },
        ],
        ..settings
    };
    let change_own = Endpoint {
        path: "/api/skills/{id}/config/personal",
        id: "changePersonalSkillConfig",
        summary: "Changes the caller's own settings of a skill, for their runs and agents; what is not named stays.",
        needs: Needs::Scope(Scope::RunsWrite),
        answers: &[
            SETTINGS,
            UNKNOWN,
            Answer { status: 409, meaning: "The skill has no settings.", payloads: &[] },
        ],
        ..change
    };
    [
        Route::new(settings, get_settings),
        Route::new(change, patch_settings),
        Route::new(change_own, patch_personal_settings),
    ]
}

fn switch_routes() -> [Route; 3] {
    let list = Endpoint {
        path: "/api/skill-switches",
        id: "listSwitches",
        summary: "Lists what is switched off, and which versions were chosen.",
        needs: Needs::AdminOr(ADMINS),
        answers: &[Answer {
            status: 200,
            meaning: "The switches.",
            payloads: &[Payload::Json(shape::<SkillSwitches>)],
        }],
        ..HEALTH
    };
    let set = Endpoint {
        method: Method::Put,
        path: "/api/skill-switches/{name}",
        id: "switchSkill",
        summary: "Switches a skill of the server's folders on or off, or chooses its version.",
        body: Body::Required(&[Payload::Json(shape::<SwitchChange>)]),
        answers: &[
            Answer {
                status: 200,
                meaning: "How it is switched from this moment on.",
                payloads: &[Payload::Json(shape::<SkillSwitch>)],
            },
            Answer { status: 404, meaning: "There is no such skill or version.", payloads: &[] },
        ],
        ..list
    };
    let whoami = Endpoint {
        path: "/api/whoami",
        id: "whoami",
        group: "server",
        summary: "Says who is asking, and what the credential may be used for.",
        needs: Needs::Credential,
        answers: &[Answer {
            status: 200,
            meaning: "The caller.",
            payloads: &[Payload::Json(shape::<Whoami>)],
        }],
        ..HEALTH
    };
    [Route::new(list, list_switches), Route::new(set, put_switch), Route::new(whoami, who_am_i)]
}

async fn get_health(
    State(app): State<App>,
    Caller(caller): Caller,
) -> Result<Json<SkillHealthList>, ApiError> {
    Ok(Json(skill_health(&app, &caller).await?))
}

async fn reset_health(
    State(app): State<App>,
    Named(id): Named<String>,
    auditor: Auditor,
) -> Result<StatusCode, ApiError> {
    reset_skill_health(&app, &entry_id(&id)?).await?;
    auditor.note(&app, AuditAction::SettingChanged, &id, "its failures are forgotten").await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn delete_data(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<String>,
) -> Result<StatusCode, ApiError> {
    forget_data(&app, &caller, &entry_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn make_bundle(
    State(app): State<App>,
    Caller(caller): Caller,
    JsonBody(request): JsonBody<BundleRequest>,
) -> Result<([(HeaderName, &'static str); 1], Vec<u8>), ApiError> {
    let packed = bundle(&app, &caller, &request.ids).await?;
    Ok(([(header::CONTENT_TYPE, BUNDLE)], packed))
}

async fn get_settings(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<String>,
) -> Result<Json<SkillSettings>, ApiError> {
    Ok(Json(skill_settings(&app, &caller, &entry_id(&id)?).await?))
}

async fn patch_settings(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<String>,
    auditor: Auditor,
    JsonBody(change): JsonBody<SettingsChange>,
) -> Result<Json<SkillSettings>, ApiError> {
    let summary = format!("changed settings: {}", named(&change));
    let settings = change_settings(&app, &caller, &entry_id(&id)?, change).await?;
    auditor.note(&app, AuditAction::SettingChanged, &id, &summary).await?;
    Ok(Json(settings))
}

async fn patch_personal_settings(
    State(app): State<App>,
    Caller(caller): Caller,
    Named(id): Named<String>,
    auditor: Auditor,
    JsonBody(change): JsonBody<SettingsChange>,
) -> Result<Json<SkillSettings>, ApiError> {
    let summary = format!("changed personal settings: {}", named(&change));
    let settings = change_personal_settings(&app, &caller, &entry_id(&id)?, change).await?;
    auditor.note(&app, AuditAction::SettingChanged, &id, &summary).await?;
    Ok(Json(settings))
}

fn named(change: &SettingsChange) -> String {
    let names = change.set.keys().chain(&change.unset);
    names.map(String::as_str).collect::<Vec<_>>().join(", ")
}

async fn list_switches(State(app): State<App>) -> Result<Json<SkillSwitches>, ApiError> {
    Ok(Json(switches(&app).await?))
}

async fn put_switch(
    State(app): State<App>,
    Named(name): Named<String>,
    auditor: Auditor,
    JsonBody(change): JsonBody<SwitchChange>,
) -> Result<Json<SkillSwitch>, ApiError> {
    let name: SkillName = name.parse().map_err(|_| OperationError::not_found("skill"))?;
    let state = switch(&app, name, change).await?;
    let word = if state.enabled { "switched on" } else { "switched off" };
    let version = state.version.as_ref().map(|version| format!(", version {version}")).unwrap_or_default();
    let summary = format!("{word}{version}");
    auditor.note(&app, AuditAction::SettingChanged, state.name.as_str(), &summary).await?;
    Ok(Json(state))
}

async fn who_am_i(Caller(caller): Caller) -> Json<Whoami> {
    Json(Whoami {
        credential: caller.credential.shown(),
        user: caller.viewer.user,
        teams: caller.viewer.teams,
        scopes: caller.scopes,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

fn entry_id(text: &str) -> Result<EntryId, OperationError> {
    text.parse().map_err(|_| OperationError::not_found("skill"))
}
