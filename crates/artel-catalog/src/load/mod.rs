//! Skills out of folders and registry files: what can be used is used, what is wrong is told.

mod check_set;
mod discover;
mod files;
mod folder;
mod loaded;
mod options;
mod registry_file;
mod whole_tree;

pub use check_set::check_set;
pub use discover::{Discovery, discover, discover_builtin};
pub use folder::{load_folder, load_tree};
pub use loaded::{Loaded, Location};
pub use options::{HiddenFolders, Keep, LoadOptions};
pub use registry_file::load_registry_file;
pub use whole_tree::whole_tree;
