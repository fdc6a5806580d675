//! What can be done, once: each method parses its parameters, decides, lets the kernel work, and writes one change.

mod checks;
mod constraints;
mod curves;
mod entities;
mod features;
mod files;
mod formats;
mod history;
mod list;
mod mass;
mod merging;
mod motions;
mod overlaps;
mod pictures;
mod regions;
mod session;
mod solids;
mod sweeps;
mod workspaces;

pub use formats::Format;
pub(crate) use list::methods;
pub use pictures::render_to;
pub(crate) use session::fingerprint;
pub use session::{Call, Session};
