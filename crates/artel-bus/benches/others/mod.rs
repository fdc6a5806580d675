//! What the buses stand beside: bare channels, Redis and NATS, each with the same work.
//!
//! Knows nothing of artel's buses. Redis and NATS are spoken to by hand, so that no library of theirs is measured.

mod broker;
mod broker_work;
mod channel;
mod figures;
mod server;
mod single;

pub(crate) use broker::Broker;
pub(crate) use broker_work::measure_broker;
pub(crate) use channel::measure_channels;
pub(crate) use figures::{Figures, print_head};
pub(crate) use server::Server;
pub(crate) use single::{Listen, single_times};
