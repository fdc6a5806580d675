//! How the scanner is run. Values only.

use std::fmt;
use std::str::FromStr;

use artel_model::limit::SCAN_PROGRAM_MS;
use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

/// The policies that the scanner brings along and that need no model.
const PRESETS: [&str; 4] = ["balanced", "strict", "permissive", "low-noise"];

/// How the scanner is run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillScannerConfig {
    /// The `skill-scanner` program.
    pub program: Utf8PathBuf,
    /// What it looks for.
    pub policy: ScannerPolicy,
    /// Where folders are made for as long as a scan takes.
    pub work_folder: Utf8PathBuf,
    /// Milliseconds that one scan may take.
    pub deadline_ms: u64,
}

impl SkillScannerConfig {
    /// Returns how a program is run when nobody says otherwise.
    pub fn new(program: impl Into<Utf8PathBuf>, work_folder: impl Into<Utf8PathBuf>) -> Self {
        Self {
            program: program.into(),
            policy: ScannerPolicy::default(),
            work_folder: work_folder.into(),
            deadline_ms: SCAN_PROGRAM_MS,
        }
    }
}

/// What the scanner looks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ScannerPolicy {
    /// A policy that it brings along.
    Preset(&'static str),
    /// A file with a policy of one's own.
    File(Utf8PathBuf),
}

/// A text that names no policy.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("`{0}` is no policy; there are {list}, and files that end with `.yaml` or `.yml`", list = PRESETS.join(", "))]
pub struct NoPolicy(String);

impl Default for ScannerPolicy {
    fn default() -> Self {
        Self::Preset(PRESETS[0])
    }
}

impl FromStr for ScannerPolicy {
    type Err = NoPolicy;

    fn from_str(text: &str) -> Result<Self, NoPolicy> {
        if let Some(preset) = PRESETS.into_iter().find(|preset| *preset == text) {
            return Ok(Self::Preset(preset));
        }
        match Utf8Path::new(text).extension() {
            Some("yaml" | "yml") => Ok(Self::File(text.into())),
            Some(_) | None => Err(NoPolicy(text.chars().take(100).collect())),
        }
    }
}

impl fmt::Display for ScannerPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset(name) => f.write_str(name),
            Self::File(path) => f.write_str(path.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_a_word_or_a_file() {
        assert_eq!("strict".parse(), Ok(ScannerPolicy::Preset("strict")));
        assert_eq!("conf/own.yaml".parse(), Ok(ScannerPolicy::File("conf/own.yaml".into())));
        assert_eq!(ScannerPolicy::default().to_string(), "balanced");
        for wrong in ["", "Strict", "quiet", "--help", "conf/own.json"] {
            assert!(wrong.parse::<ScannerPolicy>().is_err(), "{wrong}");
        }
    }
}
