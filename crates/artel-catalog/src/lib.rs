//! Folders of skills: reading, checking, finding and describing them.
//!
//! Knows nothing of databases, HTTP or running tools.

mod client;
mod document;
mod load;
mod profile;
mod read;
pub mod search;
mod source;
mod text;

pub use client::{Client, ClientFindings};
pub use load::{
    Discovery, Keep, Loaded, Location, check_set, discover, discover_builtin, load_folder,
    load_registry_file, load_tree,
};
pub use profile::{Profile, UnknownProfile};
pub use source::{
    ContentHash, DiskTree, EmbeddedTree, FileEntry, FileTree, Listing, ReadError, content_hash,
    embedded_skills,
};
