//! The suite of tests that every store must pass: `artel_store::contract_suite!(factory)` makes one test of each case.
//!
//! The factory is an async function that returns `(Arc<store>, guard)`: an empty store, and whatever keeps its folder or
//! server alive until the test ends.

mod append;
mod claims;
mod concurrent;
mod executions;
mod health;
mod lists;
mod prune;
mod random;
mod runs;
mod sample;
mod stats;
mod suite;

pub use append::*;
pub use claims::*;
pub use concurrent::*;
pub use executions::*;
pub use health::*;
pub use lists::*;
pub use prune::*;
pub use random::*;
pub use runs::*;
pub use sample::{AnyStore, execution, new_run, note, run_id, summary};
pub use stats::*;
