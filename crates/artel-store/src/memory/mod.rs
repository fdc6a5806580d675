//! A store in memory, for tests and simulations: what it keeps ends with it.

mod agents;
mod audit;
mod custom;
mod dead;
mod hubs;
mod keys;
mod listing;
mod mail;
mod mailbox;
mod people;
mod post;
mod scans;
mod store;
mod tables;
mod topics;
mod trail;
mod waits;

pub use store::MemoryStore;
