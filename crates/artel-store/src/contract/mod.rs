//! The suite of tests that every store must pass: `artel_store::contract_suite!(factory)` makes one test of each case
//! about runs, `artel_store::agent_contract_suite!(factory)` of each about agents, messages and waits.
//!
//! The factory is an async function that returns `(Arc<store>, guard)`: an empty store, and whatever keeps its folder or
//! server alive until the test ends.

mod agent_lists;
mod agent_random;
mod agent_sample;
mod agents;
mod append;
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
