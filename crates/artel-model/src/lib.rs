//! The nouns and rules of artel: skills, plans, runs, agents, messages, policies, limits.
//!
//! Pure and synchronous. Knows nothing of files, networks, clocks, randomness or the environment: the same input gives
//! the same output, so every rule is tested as data.

pub mod access;
pub mod agent;
pub mod catalog;
pub mod composite;
pub mod contract;
pub mod data_scope;
pub mod diagnostic;
pub mod graph;
pub mod health;
pub mod id;
mod json;
pub mod limit;
pub mod merge;
pub mod message;
pub mod metric;
pub mod name;
pub mod number;
#[cfg(test)]
mod pattern_tests;
pub mod plan;
pub mod policy;
pub mod protocol;
pub mod quota;
pub mod reference;
pub mod registry;
pub mod rule;
pub mod run;
pub mod schema;
pub mod select;
pub mod set;
pub mod setting;
pub mod skill;
pub mod time;
pub mod tool;
pub mod trace;
pub mod user_range;
pub mod version;
