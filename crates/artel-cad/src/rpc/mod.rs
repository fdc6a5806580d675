//! JSON-RPC: lines into calls, and the table of the methods.

mod discover;
mod message;
mod serve;
mod table;

pub use serve::serve;
pub use table::Table;
pub(crate) use table::{Access, Method};
