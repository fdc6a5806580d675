//! Both buses: the suite that each must pass, and what only one of them can get wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

mod contract;
mod faults;
mod load;
mod metrics;
mod proxy;
mod redis;
mod rings;
mod sample;
mod server;
