//! Every rule, as data. Who looks for what is in the other modules of the scanner.

mod all;
pub(super) mod behaviour;
pub(super) mod files;
pub(super) mod harm;
pub(super) mod hidden;
pub(super) mod manifest;
mod manipulation;
mod requests;

pub(super) use all::TEXT_RULES;
pub use all::{rule, rules};
