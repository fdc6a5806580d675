//! Skills that people save: what they send is checked as a whole, every problem is told at once, and what is published
//! is written from the checked fields, so that it is always well formed.
//!
//! Knows nothing of stores, requests or who may save what.

mod check;
mod draft;
mod import;
mod metadata;
mod path;
mod tree;
mod unzip;
mod write;

#[cfg(test)]
mod tests;

pub use check::{CheckedSkill, check};
pub use draft::{CustomDraft, DraftError, DraftProblem};
pub use import::{ImportError, ImportedSkill, import_skill};
pub use path::{PathError, skill_path};
pub use tree::{custom_folder, custom_tree};
pub use unzip::{ZipCaps, ZipFiles, ZipProblem, files_of_zip};
pub use write::{WriteError, write_tree};
