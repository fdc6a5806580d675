//! A store in memory, for tests and simulations: what it keeps ends with it.

mod agents;
mod dead;
mod listing;
mod mail;
mod mailbox;
mod post;
mod store;
mod tables;
mod topics;
mod waits;

pub use store::MemoryStore;
