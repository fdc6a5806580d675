//! The bus between processes, through Redis. Everything that is published goes through one stream, so that all subscribers
//! everywhere see one order; every bus reads that stream from where it stopped and delivers to its own subscribers. Rings go over a channel beside it.

mod bus;
mod config;
mod link;
mod position;
mod reader;
mod rings;
mod wire;

pub use self::bus::RedisBus;
pub use self::config::{KeyPrefix, KeyPrefixError, RedisBusConfig};
