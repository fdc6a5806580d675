//! The suite of tests that every store must pass: `artel_store::contract_suite!(factory)` makes one test of each case
//! about runs, `artel_store::agent_contract_suite!(factory)` of each about agents, messages and waits,
//! `artel_store::catalog_contract_suite!(factory)` of each about the shared catalog.
//!
//! The factory is an async function that returns `(Arc<store>, guard)`: an empty store, and whatever keeps its folder or
//! server alive until the test ends.

mod agent_lists;
mod agent_random;
mod agent_sample;
mod agents;
mod append;
mod catalog_audit;
mod catalog_hubs;
mod catalog_keys;
mod catalog_people;
mod catalog_random;
mod catalog_sample;
mod catalog_scans;
mod catalog_skills;
mod catalog_trail;
mod claims;
mod concurrent;
mod dead_letters;
mod executions;
mod health;
mod lists;
mod mailboxes;
mod posts;
mod prune;
mod random;
mod runs;
mod sample;
mod stats;
mod suite;
mod waits;

pub use agent_lists::*;
pub use agent_random::*;
pub use agent_sample::{
    AnyAgentStore, agent_id, agent_record, correlation, message, message_id, new_agent, peek, post, said, to,
};
pub use agents::*;
pub use append::*;
pub use catalog_audit::*;
pub use catalog_hubs::*;
pub use catalog_keys::*;
pub use catalog_people::*;
pub use catalog_random::*;
pub use catalog_sample::{
    AnyCatalogStore, api_key, audit_entry, custom_id, custom_skill, finding, hub_id, new_hub, verdict,
};
pub use catalog_scans::*;
pub use catalog_skills::*;
pub use catalog_trail::*;
pub use claims::*;
pub use concurrent::*;
pub use dead_letters::*;
pub use executions::*;
pub use health::*;
pub use lists::*;
pub use mailboxes::*;
pub use posts::*;
pub use prune::*;
pub use random::*;
pub use runs::*;
pub use sample::{AnyStore, execution, new_run, note, run_id, summary};
pub use stats::*;
pub use waits::*;
