//! The planner that was asked for.

use artel_api::plans::PlannerWord;

use crate::cli::PlannerChoice;

/// Returns the planner that was asked for; without one, the configured planner makes the plan.
pub(super) fn word(choice: Option<PlannerChoice>) -> Option<PlannerWord> {
    choice.map(|choice| match choice {
        PlannerChoice::Pattern => PlannerWord::Pattern,
        PlannerChoice::Llm => PlannerWord::Llm,
        PlannerChoice::Command => PlannerWord::Command,
    })
}
