//! `artel agent`: one file a command.

mod event;
mod execute;
mod list;
mod metrics;
mod policy;
mod prune;
mod render;
mod request;
mod show;
mod spawn;
mod start;
mod tell;
mod wait_for_agent;

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
