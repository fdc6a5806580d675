//! A planner's JSON becomes a plan document: what only artel decides is put over whatever the planner said. Pure.

use artel_model::plan::PlanDocument;
use serde_json::{Value, json};

use super::ask::PlanningRequest;
use super::error::PlanningError;

/// Reads a planner's plan. Its id, its attempt and its parent are those of the request, and it must not use what is
/// disabled, whatever the planner wrote.
pub(super) fn stamped(mut plan: Value, ask: &PlanningRequest) -> Result<PlanDocument, PlanningError> {
    let Some(fields) = plan.as_object_mut() else {
        return Err(PlanningError::NotJson { what: format!("it is {}", kind(&plan)) });
    };
    fields.insert("requestId".to_owned(), json!(ask.plan_id));
    fields.insert("metadata".to_owned(), json!(ask.metadata()));
    fields.insert("disabledSkills".to_owned(), json!(ask.disabled));
    PlanDocument::parse(&plan).map_err(|problems| PlanningError::NotAPlan { problems })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
