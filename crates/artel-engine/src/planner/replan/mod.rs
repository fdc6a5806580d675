//! The replan loop: plans, has the plan run, and plans again without what failed, at most a few times.
//!
//! `state` decides and is pure; `driver` asks the planner and the runner; `fallback` is what is said when nothing worked.

mod driver;
mod fallback;
mod state;
mod summary;

#[cfg(test)]
mod tests;

pub use driver::{Answer, PlanRunner, Question, Ran, ReplanConfig, Replanner, RunVerdict};
pub use state::ReplanState;
pub use summary::{AttemptOutcome, AttemptSummary};
