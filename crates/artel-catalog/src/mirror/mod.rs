//! Copies of the skills that a server offers: packed there, checked and kept here. What arrives is believed only as far as
//! its hashes go.
//!
//! Knows nothing of requests, and of servers only what they offer.

mod bundle;
mod folder;
mod offer;

pub use bundle::{BundleError, BundleWriter, BundledFile, bundled, read_bundle};
pub use folder::{Mirror, MirrorError};
pub use offer::Offer;
