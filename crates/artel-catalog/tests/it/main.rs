//! What the catalog promises, on real folders.

mod fixtures;
