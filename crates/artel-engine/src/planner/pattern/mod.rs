//! The planner that needs no network: finds skills by the words of a request, and fills their parameters by schema.
//!
//! [`compose`](compose::compose) is pure: a text and offers in, a plan out. `clause` and `words` take a request apart,
//! `property` reads what a schema says about one parameter, `fill` finds values for all of them, `target` is what can
//! be run, `weigh` says how well that fits. No skill is known by name.

mod clause;
mod compose;
mod fill;
mod find;
mod narrative;
mod number;
mod phrase;
mod planner;
mod property;
mod shape;
mod target;
mod weigh;
mod words;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use planner::PatternPlanner;

pub(super) use target::ranked_offers;
