//! Plans: checked, and made of words.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use artel_api::ErrorKind;
use artel_api::plans::{AskRequest, GeneratedPlan, PlanCheck, PlannerWord};
use artel_engine::SkillShelf;
use artel_engine::planner::{Planner, PlanningRequest, SkillOffer, offers};
use artel_model::access::Principal;
use artel_model::plan::{SkillLookup as _, resolve_value};
use serde_json::Value;

use super::runs::fresh_plan;
use crate::app::App;
use crate::clock::moment;
use crate::error::OperationError;

/// Says everything that is wrong with a plan.
pub async fn check_plan(app: &App, caller: &Principal, document: Value) -> Result<PlanCheck, OperationError> {
    let shelf = app.shelves().shelf(Some(&caller.viewer));
    let checked = tokio::task::spawn_blocking(move || resolve_value(&document, &*shelf)).await;
    let checked =
        checked.map_err(|_| OperationError::unavailable("interrupted", "the request was interrupted"))?;
    Ok(match checked {
        Ok(plan) => {
            let tools = plan.steps().iter().filter(|step| step.scope.is_none()).count();
            PlanCheck { valid: true, tools: Some(tools), problems: Vec::new() }
        }
        Err(problems) => PlanCheck { valid: false, tools: None, problems },
    })
}

/// Makes a plan of words, without running it.
pub async fn generate(
    app: &App,
    caller: &Principal,
    wish: AskRequest,
) -> Result<GeneratedPlan, OperationError> {
    let text = wanted(&wish)?;
    let planner = planner(app, wish.planner)?;
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
    let planned = tokio::time::timeout_at(request.deadline, planner.plan(&request)).await;
    let planned = planned.map_err(|_| {
        OperationError::new(
            ErrorKind::GatewayTimeout,
            "planning_timeout",
            format!("there was no plan after {millis} ms"),
        )
    })?;
    let planned = planned.map_err(|error| {
        tracing::info!(error = &error as &dyn std::error::Error, "there is no plan");
        OperationError::unprocessable("no_plan", error.to_string())
    })?;
    Ok(GeneratedPlan { plan: planned.document, planner: planned.by.to_string(), notes: planned.notes })
}

/// Returns who makes the plan: whoever was asked for, else whoever is configured.
pub(super) fn planner(app: &App, asked: Option<PlannerWord>) -> Result<Arc<dyn Planner>, OperationError> {
    let Some(word) = asked else { return Ok(app.planner().clone()) };
    match app.named_planners().get(&word) {
        Some(Ok(planner)) => Ok(planner.clone()),
        Some(Err(why)) => Err(OperationError::unprocessable("planner_unavailable", why)),
        None => {
            Err(OperationError::unprocessable("planner_unavailable", "this planner is not configured here"))
        }
    }
}

/// Returns what is wanted, if anything is.
pub(super) fn wanted(wish: &AskRequest) -> Result<String, OperationError> {
    match wish.request.trim() {
        "" => Err(OperationError::unprocessable("invalid_body", "`request` says what is wanted, in words")),
        text => Ok(text.to_owned()),
    }
}

/// Returns the skills that plans may use.
pub(super) fn offered(shelf: &Arc<SkillShelf>) -> Arc<[SkillOffer]> {
    offers(shelf.catalog(), |name| shelf.skill(name, None).is_some_and(|view| view.health.is_usable()))
}
