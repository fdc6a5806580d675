//! `artel agent`: one file a command.

mod event;
mod execute;
mod list;
mod metrics;
mod paper;
mod policy;
mod prune;
mod request;
mod see_to;
mod show;
mod spawn;
mod start;
mod tell;

pub(super) use execute::execute;
pub(super) use list::list;
pub(super) use metrics::metrics;
pub(super) use policy::{Judgement, judge, judgements, known_tools, rules, tool_use};
pub(super) use prune::prune;
pub(super) use request::payload_of;
pub(super) use show::show;
pub(super) use spawn::spawn;
pub(super) use start::start;
pub(super) use tell::tell;
