//! The pattern planner: composes a plan, and composes again without what cannot be run.

use std::collections::BTreeSet;

use artel_model::name::SkillName;
use artel_model::plan::{PlanDocument, PlanProblem};
use async_trait::async_trait;

use super::compose::compose;
use crate::planner::ask::{Planned, PlannedBy, Planner, PlanningRequest};
use crate::planner::error::PlanningError;

/// Plans that are composed for one request; the last one has no tools.
const ROUNDS_MAX: usize = 20;

/// Makes plans from the words of a request and the schemas of skills, without any network: the same request and the
/// same skills give the same plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatternPlanner;

impl PatternPlanner {
    /// Makes a plan that can be run; it has no tools, and says which skills there are, when nothing fits.
    pub fn compose(&self, ask: &PlanningRequest) -> PlanDocument {
        let mut avoided = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let document = compose(ask, &avoided);
            let problems = ask.check.problems(&document);
            if problems.is_empty() {
                return document;
            }
            avoided.extend(blamed(&document, &problems));
        }
        let all: BTreeSet<SkillName> = ask.offers.iter().map(|offer| offer.name.clone()).collect();
        compose(ask, &all)
    }
}

/// Returns the skills that problems are about: those of the tools they point at, or all of the plan.
fn blamed(document: &PlanDocument, problems: &[PlanProblem]) -> BTreeSet<SkillName> {
    let skill = |tool: usize| Some(document.tools.get(tool)?.skill.as_ref()?.name.clone());
    let pointed = problems.iter().filter_map(|problem| {
        let rest = problem.path.strip_prefix("/tools/")?;
        skill(rest.split('/').next()?.parse().ok()?)
    });
    let pointed: BTreeSet<SkillName> = pointed.collect();
    if pointed.is_empty() { (0..document.tools.len()).filter_map(skill).collect() } else { pointed }
}

#[async_trait]
impl Planner for PatternPlanner {
    async fn plan(&self, ask: &PlanningRequest) -> Result<Planned, PlanningError> {
        Ok(Planned { document: self.compose(ask), by: PlannedBy::Pattern, notes: Vec::new() })
    }
}
