//! Reads a plan, and says what is wrong with one that cannot run.

use std::io::Read;

use artel_model::id::PlanId;
use artel_model::limit::PLAN_BYTES_MAX;
use artel_model::plan::{PlanDocument, PlanMetadata, PlanProblem, PlanProblemCode, failure_reason};
use artel_model::run::ResultDocument;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::failure::Failure;

/// Reads the text of a plan from a file, or from stdin.
pub(super) fn read_plan(file: &str) -> Result<String, Failure> {
    let cannot = |error: std::io::Error| Failure::missing(format!("cannot read the plan `{file}`: {error}"));
    let mut bytes = Vec::new();
    // One byte more than is allowed is enough to be refused.
    let bytes_max = PLAN_BYTES_MAX as u64 + 1;
    match file {
        "-" => std::io::stdin().lock().take(bytes_max).read_to_end(&mut bytes).map_err(cannot)?,
        path => {
            let file = std::fs::File::open(path).map_err(cannot)?;
            file.take(bytes_max).read_to_end(&mut bytes).map_err(cannot)?
        }
    };
    String::from_utf8(bytes).map_err(|error| {
        let (problem, byte) = (error.utf8_error(), error.utf8_error().valid_up_to());
        Failure::usage(match problem.error_len() {
            Some(_) => format!("`{file}` is not UTF-8 at byte {byte}, so it is no plan"),
            None => {
                format!("`{file}` ends in the middle of a character, at byte {byte}, so it is no whole plan")
            }
        })
    })
}

/// Returns the failure that goes with the problems of a plan.
pub(super) fn refusal(problems: &[PlanProblem]) -> Failure {
    let is_json = problems.iter().all(|problem| problem.code != PlanProblemCode::InvalidJson);
    if is_json { Failure::reported() } else { Failure::reported_usage() }
}

/// Makes the result of a plan that cannot run.
pub(super) fn refused(text: &str, problems: Vec<PlanProblem>) -> ResultDocument {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let parsed = PlanDocument::parse(&document).ok();
    let id = document["requestId"].as_str().and_then(|id| id.parse().ok());
    ResultDocument {
        plan_id: id.unwrap_or(PlanId(Uuid::nil())),
        run_id: None,
        success: false,
        narrative: document["narrative"].as_str().map(str::to_owned),
        failed_tools: Vec::new(),
        can_replan: true,
        failure_reason: Some(failure_reason(&problems)),
        problems,
        execution_trace: Vec::new(),
        final_state: Map::new(),
        total_execution_time_ms: 0,
        generation_metadata: parsed.as_ref().map_or_else(PlanMetadata::first, |plan| plan.metadata.clone()),
        disabled_skills: parsed.map(|plan| plan.disabled_skills).unwrap_or_default(),
        assets: Vec::new(),
        fallback: false,
    }
}
