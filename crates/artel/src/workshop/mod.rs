//! Everything that a command needs to run something: the store, the skills, the launcher, the engine, and waiting.
//!
//! Knows nothing of what can be typed, and prints only what happens while a run goes on.

mod carry_out;
mod interrupts;
#[cfg(debug_assertions)]
mod mortal;
mod open;
mod runtime;
mod shelf;
mod store;
mod story;
mod teller;

pub(crate) use carry_out::{Carried, Follower, carry_out};
pub(crate) use interrupts::Interrupts;
pub(crate) use open::{Workshop, person};
pub(crate) use runtime::wait_for;
pub(crate) use shelf::{Shelf, failed_for_good};
pub(crate) use store::Store;
pub(crate) use story::Story;
pub(crate) use teller::{Teller, find_run, is_driven};
