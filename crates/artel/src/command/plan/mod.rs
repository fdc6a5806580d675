//! `artel plan`: one file a command.

mod ask;
mod generate;
mod planner;
mod read;
mod run;
mod validate;

pub(super) use ask::ask;
pub(super) use generate::generate;
pub(super) use run::run;
pub(super) use validate::validate;
