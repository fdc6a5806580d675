//! The commands, one file each.

mod check;
mod compose;
mod config;
mod context;
mod doctor;
mod export;
mod list;
mod man;
mod new;
mod prompt;
mod run;
mod search;
mod select;
mod show;
mod switch;
mod validate;

pub(crate) use run::run;
