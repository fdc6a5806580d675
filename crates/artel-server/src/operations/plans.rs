//! Plans: checked, and made of words.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use artel_api::plans::{GeneratedPlan, PlanCheck, Wish};
use artel_engine::SkillShelf;
use artel_engine::planner::{PlanningRequest, SkillOffer, offers};
use artel_model::access::Principal;
use artel_model::plan::{SkillLookup as _, resolve_value};
use axum::http::StatusCode;
use serde_json::Value;

use super::runs::fresh_plan;
use crate::app::App;
use crate::clock::moment;
use crate::error::ApiError;

/// Says everything that is wrong with a plan.
pub(crate) async fn check_plan(
    app: &App,
    caller: &Principal,
    document: Value,
) -> Result<PlanCheck, ApiError> {
    let shelf = app.shelves().shelf(Some(&caller.viewer));
    let checked = tokio::task::spawn_blocking(move || resolve_value(&document, &*shelf)).await;
    let checked = checked.map_err(|_| ApiError::unavailable("interrupted", "the request was interrupted"))?;
    let problems = checked.err().unwrap_or_default();
    Ok(PlanCheck { valid: problems.is_empty(), problems })
}

/// Makes a plan of words, without running it.
pub(crate) async fn generate(app: &App, caller: &Principal, wish: Wish) -> Result<GeneratedPlan, ApiError> {
    let text = wanted(&wish)?;
    let shelf = app.shelves().shelf(Some(&caller.viewer));
    let planning_ms = app.run_settings().planning_ms;
    let millis = wish.timeout_ms.map_or(planning_ms, |millis| millis.min(planning_ms));
    let request = PlanningRequest {
        text,
        offers: offered(&shelf),
        disabled: BTreeSet::new(),
        plan_id: fresh_plan(),
        attempt: 1,
        parent: None,
        feedback: Vec::new(),
        deadline: moment() + Duration::from_millis(millis),
        check: shelf,
    };
    let planned = tokio::time::timeout_at(request.deadline, app.planner().plan(&request)).await;
    let planned = planned.map_err(|_| {
        ApiError::new(
            StatusCode::GATEWAY_TIMEOUT,
            "planning_timeout",
            format!("there was no plan after {millis} ms"),
        )
    })?;
    let planned = planned.map_err(|error| {
        tracing::info!(error = &error as &dyn std::error::Error, "there is no plan");
        ApiError::unprocessable("no_plan", error.to_string())
    })?;
    Ok(GeneratedPlan { plan: planned.document, planner: planned.by.to_string(), notes: planned.notes })
}

/// Returns what is wanted, if anything is.
pub(super) fn wanted(wish: &Wish) -> Result<String, ApiError> {
    match wish.request.trim() {
        "" => Err(ApiError::unprocessable("invalid_body", "`request` says what is wanted, in words")),
        text => Ok(text.to_owned()),
    }
}

/// Returns the skills that plans may use.
pub(super) fn offered(shelf: &Arc<SkillShelf>) -> Arc<[SkillOffer]> {
    offers(shelf.catalog(), |name| shelf.skill(name, None).is_some_and(|view| view.health.is_usable()))
}
