//! Where the files of a skill come from: a folder on disk, the binary itself, or memory.

mod disk;
mod embedded;
mod hash;
mod memory;
mod tree;

pub use disk::{DiskTree, FolderLimits};
pub(crate) use disk::{FolderEntry, FolderEntryKind, read_file, read_folder};
pub use embedded::{EmbeddedTree, embedded_skills};
pub(crate) use hash::hash_contents;
pub use hash::{ContentHash, content_hash, file_hash};
pub use memory::MemoryTree;
pub use tree::{FileEntry, FileTree, Listing, ReadError};
