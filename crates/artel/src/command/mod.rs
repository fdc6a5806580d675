//! The commands, one file each.

mod check;
mod compose;
mod config;
mod context;
mod db;
mod dispatch;
mod doctor;
mod export;
mod health;
mod list;
mod man;
mod new;
mod parameters;
mod plan;
mod prompt;
mod runs;
mod search;
mod select;
mod show;
mod skill_run;
mod switch;
mod validate;

pub(crate) use context::Context;
pub(crate) use dispatch::run;
