//! Who makes plans, and of what.

use std::sync::Arc;

use artel_api::plans::PlannerWord;
use artel_engine::planner::{SkillOffer, offers};
use artel_model::plan::SkillLookup as _;

use crate::cli::PlannerChoice;
use crate::command::Context;
use crate::config::PlannerKind;
use crate::workshop::Shelf;

/// Says who makes plans: who was asked for, else who is configured.
pub(super) fn kind(context: Context<'_>, choice: Option<PlannerChoice>) -> PlannerKind {
    match choice {
        Some(PlannerChoice::Pattern) => PlannerKind::Pattern,
        Some(PlannerChoice::Llm) => PlannerKind::Llm,
        Some(PlannerChoice::Command) => PlannerKind::Command,
        None => context.config.planner.value.kind,
    }
}

/// Says the same to a server, which knows who is configured there.
pub(super) fn word(choice: Option<PlannerChoice>) -> Option<PlannerWord> {
    choice.map(|choice| match choice {
        PlannerChoice::Pattern => PlannerWord::Pattern,
        PlannerChoice::Llm => PlannerWord::Llm,
        PlannerChoice::Command => PlannerWord::Command,
    })
}

/// Returns the skills that plans may use.
pub(super) fn offered(shelf: &Shelf) -> Arc<[SkillOffer]> {
    let skills = &shelf.skills;
    offers(skills.catalog(), |name| skills.skill(name, None).is_some_and(|view| view.health.is_usable()))
}
