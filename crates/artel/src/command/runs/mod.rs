//! `artel run`: one file a command.

mod executions;
mod list;
mod prune;
mod recover;
mod show;
mod stats;
mod tell;
mod watch;

pub(super) use executions::executions;
pub(super) use list::{comma_separated, list, page_of, tell_next};
pub(super) use prune::prune;
pub(super) use recover::{RecoverWhat, recover};
pub(super) use show::show;
pub(super) use stats::stats;
pub(super) use tell::tell;
pub(super) use watch::watch;
