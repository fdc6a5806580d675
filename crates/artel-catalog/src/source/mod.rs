//! Where the files of a skill come from: a folder on disk, or the binary itself.

mod disk;
mod embedded;
mod hash;
mod tree;

pub use disk::{DiskTree, FolderLimits};
pub(crate) use disk::{FolderEntry, FolderEntryKind, read_file, read_folder};
pub use embedded::{EmbeddedTree, embedded_skills};
pub use hash::{ContentHash, content_hash, file_hash};
pub use tree::{FileEntry, FileTree, Listing, ReadError};
