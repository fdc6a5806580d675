//! What the catalog promises, on real folders.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

mod export;
mod fixtures;
mod fuzz;
mod hostile;
mod hostile_hubs;
mod hostile_texts;
mod hub;
mod hub_fuzz;
mod hub_pack;
mod lock;
mod mutate;
mod place;
mod plans;
mod reference;
mod restrictions;
mod same;
mod scan;
mod shared;
