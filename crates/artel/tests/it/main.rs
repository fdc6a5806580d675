//! The real binary in a folder of its own, as a person would use it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

mod agents;
mod agents_again;
mod both_ways;
mod builtin;
mod collector;
mod commands;
mod database;
mod docs;
mod examples;
mod fault_place;
mod hostile_runs;
mod hub;
mod key;
mod lock;
mod mcp;
mod messages;
mod metrics;
mod mistakes;
mod operating;
mod outages;
mod plans;
mod policy;
mod postgres;
mod recovery;
mod running;
mod runs;
mod sandbox_users;
mod scan;
mod schemas;
mod serve;
mod serve_session;
mod server_mode_access;
mod server_mode_agents;
mod server_mode_runs;
mod server_mode_skills;
mod session;
mod settings;
mod shutdown;
mod skills;
mod traces;
mod trail;
mod untrusted;
mod validate;
