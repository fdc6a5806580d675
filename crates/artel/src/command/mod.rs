//! The commands, one file each.

mod agent;
mod check;
mod child;
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
mod message;
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
