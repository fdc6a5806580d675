//! The planner that asks a language model, behind one of two protocols; the pattern planner takes over when it fails.
//!
//! `prompt` is what the model reads, `protocol` how a plan is asked for in each protocol, `reply` what a reply must be.

mod error;
mod planner;
mod prompt;
mod protocol;
mod reply;

#[cfg(test)]
mod tests;

pub use planner::LlmPlanner;
