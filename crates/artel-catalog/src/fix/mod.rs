//! Mending what can be mended without guessing: first decided from what a folder holds, then done.
//!
//! A fix never changes what a skill means. Knows nothing of profiles: whether something is worth mending is not asked.

mod apply;
mod change;
mod lines;
mod metadata;
mod name;
mod plan;
mod quote;
#[cfg(test)]
mod tests;

pub use apply::{FixError, apply_fixes};
pub use change::{Fix, Obstacle, Unfixed};
pub use plan::{FixPlan, plan_fixes};
