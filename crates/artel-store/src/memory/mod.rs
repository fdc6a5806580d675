//! A store in memory, for tests and simulations: what it keeps ends with it.

mod listing;
mod store;
mod tables;

pub use store::MemoryStore;
