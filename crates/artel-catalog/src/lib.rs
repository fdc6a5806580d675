//! Folders of skills: reading, checking, finding and describing them.
//!
//! Knows nothing of databases, HTTP or running tools.

mod catalog;
mod client;
mod document;
mod export;
mod file;
mod fix;
mod frontmatter_writer;
pub mod hub;
mod load;
pub mod lock;
pub mod mirror;
mod personal_settings;
mod profile;
mod prompt;
mod read;
mod remove;
mod scaffold;
pub mod scan;
pub mod search;
mod settings;
pub mod shared;
mod source;
mod text;
mod verbatim;
mod watch;

pub use catalog::{Catalog, CatalogRequest, SearchResult, SelectRequest, TaskKind, main_file};
pub use client::{Client, ClientFindings};
pub use export::{ExportError, ExportReport, ExportScope, ExportTarget, UnknownClient, export};
pub use fix::{Fix, FixError, FixPlan, Obstacle, Unfixed, apply_fixes, plan_fixes};
pub use load::{
    Discovery, HiddenFolders, Keep, LoadOptions, Loaded, Location, check_set, discover, discover_builtin,
    load_folder, load_registry_file, load_tree, whole_tree,
};
pub use personal_settings::{
    personal_settings_folder, personal_settings_path, read_personal_settings, write_personal_settings,
};
pub use profile::{Profile, UnknownProfile};
pub use prompt::{Prompt, PromptBudget, PromptFormat, UnknownFormat, one_line, prompt};
pub use remove::{ScratchFolder, remove_folder, remove_folder_if_there};
pub use scaffold::{ScaffoldError, Template, UnknownTemplate, scaffold};
pub use settings::{SettingsError, Switches, config_path, holds_settings, read_config, write_config};
pub use source::{
    ContentHash, DiskTree, EmbeddedTree, FileEntry, FileTree, FolderLimits, Listing, MemoryTree, ReadError,
    UnreadableHash, content_hash, embedded_skills, file_hash,
};
pub use text::visible;
pub use verbatim::frontmatter;
pub use watch::{WatchError, Watcher};
