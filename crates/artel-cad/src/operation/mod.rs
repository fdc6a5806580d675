//! What can be done, once: each method parses its parameters, decides, lets the kernel work, and writes one change.

mod checks;
mod entities;
mod list;
mod session;
mod solids;
mod workspaces;

pub(crate) use list::methods;
pub(crate) use session::fingerprint;
pub use session::{Call, Session};
