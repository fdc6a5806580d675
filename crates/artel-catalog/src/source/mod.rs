//! Where the files of a skill come from: a folder on disk, the binary itself, or memory.

mod disk;
mod embedded;
mod hash;
mod memory;
mod tree;

pub use disk::{DiskTree, FolderLimits};
pub(crate) use disk::{FolderEntry, FolderEntryKind, read_file, read_folder};
pub use embedded::{EmbeddedTree, embedded_skills};
pub use hash::{ContentHash, UnreadableHash, content_hash, file_hash};
pub(crate) use hash::{hash_contents, hash_files, hash_hashes};
pub use memory::MemoryTree;
pub use tree::{FileEntry, FileTree, Listing, ReadError};
