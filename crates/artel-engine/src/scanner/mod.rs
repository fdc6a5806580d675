//! Skill Scanner, provided by Cisco AI Defense, run as a program of somebody else: in the sandbox, without a network, on
//! copies of exactly what is published.
//!
//! What it says is the catalog's to read. Knows nothing of gates and stores.

mod config;
mod error;
mod layout;
mod skill_scanner;

pub use config::{NoPolicy, ScannerPolicy, SkillScannerConfig};
pub use layout::installed_version;
pub use skill_scanner::SkillScanner;
