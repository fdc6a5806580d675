//! `cargo xtask bench`: how fast artel is, beside other programs that do comparable work on the same files.
//!
//! It prints numbers, ratios and goals, and judges nothing: a busy machine must not fail a build.

mod agents;
mod artel;
mod data;
mod http;
mod inside;
mod mail;
mod measure;
mod messages;
mod plan;
mod plan_data;
mod report;
mod run;
mod scan;
mod serve;
mod served;
mod steps;

pub(crate) use run::run;
