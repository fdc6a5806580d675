//! Everything that a command needs to run something: the store, the skills, the launcher, the engine, and waiting.
//!
//! Knows nothing of what can be typed, and prints only what happens while a run goes on.

mod agency;
mod assistant;
mod drivers;
mod foundation;
mod interrupts;
mod key_cabinet;
#[cfg(debug_assertions)]
mod mortal;
mod office;
mod open;
mod owners;
mod planner;
mod probes;
mod prune;
mod reload;
mod runtime;
mod second_scanner;
mod serving;
mod shelf;
mod store;
mod teller;
mod users;

pub(crate) use agency::{Agency, cause};
pub(crate) use foundation::{Foundation, local_principal, stores};
pub(crate) use interrupts::Interrupts;
pub(crate) use key_cabinet::KeyCabinet;
pub(crate) use office::{BusAway, Reached, open_office, reach_bus};
pub(crate) use open::{Workshop, launcher_program, person, settings_rules, store_failed};
pub(crate) use planner::{planner, planning_ms};
pub(crate) use prune::{prune, prune_work};
pub(crate) use reload::Reloading;
pub(crate) use runtime::wait_for;
pub(crate) use second_scanner::second_verdicts;
pub(crate) use serving::{Serving, Token, server_config};
pub(crate) use shelf::{Shelf, failed_for_good, local_health};
pub(crate) use store::Store;
pub(crate) use teller::Teller;
pub(crate) use users::{UsersState, client_user, users_state};
