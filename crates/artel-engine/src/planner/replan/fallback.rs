//! What is answered when all attempts failed: a text that quotes the request, around what is known. Pure.

use artel_model::id::PlanId;
use artel_model::name::SkillName;
use artel_model::plan::{FailureReason, PlanMetadata, PlanProblem, failure_reason};
use artel_model::run::ResultDocument;

use super::state::Last;
use crate::quote::quote;

/// Characters of a request that are quoted.
const REQUEST_CHARS_MAX: usize = 200;

/// Why there are no more attempts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Exhausted {
    /// So many were made.
    Attempts(u32),
    /// There is no time left for another.
    Time(u32),
}

/// Returns the answer; what the last attempt did stays in it.
pub(super) fn fallback(text: &str, last: Last, base: ResultDocument, exhausted: Exhausted) -> ResultDocument {
    let (mut result, why) = match last {
        Last::Ran(result) => (*result, None),
        Last::Invalid(problems) => {
            let first = problems.first().map(PlanProblem::to_string);
            let reason = Some(failure_reason(&problems));
            (ResultDocument { failure_reason: reason, problems, ..base }, first)
        }
        Last::NotPlanned(why) => (base, Some(why)),
        Last::Nothing => (base, None),
    };
    if matches!(exhausted, Exhausted::Time(_)) {
        result.failure_reason = Some(FailureReason::Timeout);
    }
    let tried = match exhausted {
        Exhausted::Attempts(1) => "after one attempt".to_owned(),
        Exhausted::Attempts(count) => format!("after {count} attempts"),
        Exhausted::Time(0 | 1) => "in the time there was".to_owned(),
        Exhausted::Time(count) => format!("in the time there was, with {count} attempts"),
    };
    let request = quote(text, REQUEST_CHARS_MAX);
    let why = why.map(|why| {
        format!(" The last problem was: {}.", quote(&why, REQUEST_CHARS_MAX).trim_end_matches('.'))
    });
    result.narrative = Some(format!("I could not do `{request}` {tried}.{}", why.unwrap_or_default()));
    result.success = false;
    result.can_replan = false;
    result.fallback = true;
    result
}

/// Returns the result of a request for which nothing ran.
pub(super) fn nothing_ran(
    plan_id: PlanId,
    metadata: PlanMetadata,
    disabled: Vec<SkillName>,
) -> ResultDocument {
    ResultDocument::not_run(plan_id, metadata, disabled, FailureReason::InvalidPlan)
}
