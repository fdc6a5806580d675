//! What the catalog promises, on real folders.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

mod fixtures;
mod fuzz;
mod hostile;
mod hostile_texts;
mod mutate;
mod place;
mod plans;
mod reference;
mod restrictions;
mod same;
mod scan;
