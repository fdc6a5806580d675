//! Tests of the store in a file.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

mod contract;
mod damage;
mod killed;
mod mail;
mod metrics;
mod reopen;
mod stress;
mod support;
mod together;
