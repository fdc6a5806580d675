//! Everything that a command needs to run something: the store, the skills, the launcher, the engine, and waiting.
//!
//! Knows nothing of what can be typed, and prints only what happens while a run goes on.

mod agency;
mod application;
mod assistant;
mod drivers;
mod foundation;
mod interrupts;
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

pub(crate) use agency::Agency;
pub(crate) use application::{app_to_read, app_to_work};
pub(crate) use foundation::{Foundation, local_principal};
pub(crate) use interrupts::Interrupts;
pub(crate) use office::{BusAway, Reached, reach_bus};
pub(crate) use open::{Workshop, launcher_program, settings_rules};
pub(crate) use reload::Reloading;
pub(crate) use runtime::wait_for;
pub(crate) use second_scanner::second_verdicts;
pub(crate) use serving::{Serving, Token, server_config};
pub(crate) use shelf::{Shelf, local_health};
pub(crate) use store::Store;
pub(crate) use teller::Teller;
pub(crate) use users::{UsersState, client_user, users_state};
