//! Everything that a command needs to run something: the store, the skills, the launcher, the engine, and waiting.
//!
//! Knows nothing of what can be typed, and prints only what happens while a run goes on.

mod agents_setup;
mod application;
mod assistant;
mod block_on;
#[cfg(debug_assertions)]
mod crash_injection;
mod drivers;
mod interrupts;
mod office;
mod open;
mod owners;
mod planner;
mod probes;
mod prune;
mod read_only_engine;
mod reload;
mod second_scanner;
mod serving;
mod shared_catalog;
mod shelf;
mod store;
mod users;

pub(crate) use agents_setup::AgentsSetup;
pub(crate) use application::{app_to_read, app_to_work};
pub(crate) use block_on::wait_for;
pub(crate) use interrupts::Interrupts;
pub(crate) use office::{BusAway, Reached, reach_bus};
pub(crate) use open::{Runtime, launcher_program, settings_rules};
pub(crate) use read_only_engine::ReadOnlyEngine;
pub(crate) use reload::Reloading;
pub(crate) use second_scanner::second_verdicts;
pub(crate) use serving::{Serving, Token, server_config};
pub(crate) use shared_catalog::{SharedCatalog, local_principal};
pub(crate) use shelf::{Shelf, local_health};
pub(crate) use store::Store;
pub(crate) use users::{UsersState, client_user, users_state};
