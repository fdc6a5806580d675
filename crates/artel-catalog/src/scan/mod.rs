//! Looks for harm in a skill: in its instructions, its scripts and all its other files.
//!
//! [`scan_skill`] reads every file of a skill, whole, and decides without running anything. Rules are data
//! ([`rules`]); their examples are their tests. What could not be read makes the verdict incomplete, never better.
//! Knows nothing of gates, overrides or stores. Another scanner is shown an [`ScanCopy`]; [`cisco`] reads what it said.

mod archive;
mod category;
mod characters;
pub mod cisco;
mod code;
mod collector;
mod commands;
mod data_file;
mod encoded;
mod file_kind;
mod finding;
pub mod limits;
mod manifest_check;
mod markdown;
mod other_script;
mod piece;
mod report;
mod rule;
mod rules;
mod sarif;
mod scan_copy;
mod scan_skill;
mod secrets;
mod session;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod text_scan;
mod verdict;

pub use artel_model::catalog::{ScanStatus, Severity, UnknownSeverity};
pub use category::{Category, OwaspRisk};
pub use finding::ScanFinding;
pub use report::{ENGINE, Gap, ScanReport, Verdict};
pub use rule::{Example, Rule};
pub use rules::{rule, rules};
pub use sarif::{ScannedSkill, sarif};
pub use scan_copy::{ScanCopy, ScanCopyError};
pub use scan_skill::{ScanOptions, scan_skill};
pub use table::{TableRow, table_rows, verdict_rows};
pub use verdict::{ENGINE_VERSION, Scanned, verdict_of_report};
