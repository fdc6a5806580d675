//! `cargo xtask bench`: how fast artel is, beside other programs that do comparable work on the same files.
//!
//! It prints numbers, ratios and goals, and judges nothing: a busy machine must not fail a build.

mod data;
mod measure;
mod report;
mod run;

pub(crate) use run::run;
