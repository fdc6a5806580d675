//! The real binary in a folder of its own, as a person would use it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

mod agents;
mod agents_again;
mod builtin;
mod commands;
mod docs;
mod examples;
mod hostile_runs;
mod hub;
mod key;
mod lock;
mod mcp;
mod messages;
mod metrics;
mod mistakes;
mod plans;
mod policy;
mod postgres;
mod recovery;
mod running;
mod runs;
mod scan;
mod schemas;
mod serve;
mod serve_session;
mod session;
mod settings;
mod skills;
mod untrusted;
mod validate;
