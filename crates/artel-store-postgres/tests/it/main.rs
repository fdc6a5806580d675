//! The store on a real server: the suite of every store, and what only this one can get wrong.

mod contract;
mod durability;
mod errors;
mod lost_answers;
mod metrics;
mod migrations;
mod own_server;
mod proxy;
mod prune;
mod server;
mod tls;
