//! What a scan gives: findings, gaps, and the verdict that follows from them.

use camino::Utf8PathBuf;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::finding::ScanFinding;
use crate::source::ContentHash;
use artel_model::catalog::{ScanStatus, Severity};

/// The name of this scanner in findings.
pub const ENGINE: &str = "artel";

/// What a scan of one skill gave.
#[derive(Clone, Debug)]
pub struct ScanReport {
    /// The hash of what was scanned; nothing when not every file could be read.
    pub content_hash: Option<ContentHash>,
    /// Files that were read.
    pub files: usize,
    /// Bytes that were read.
    pub bytes: u64,
    /// What was found, the worst first.
    pub findings: Vec<ScanFinding>,
    /// Findings that are counted but not kept.
    pub left_out: usize,
    /// What was not scanned, by path.
    pub gaps: Vec<Gap>,
}

/// Something that was not scanned, or not in full.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Gap {
    /// The file, or nothing for the skill itself.
    pub path: Option<Utf8PathBuf>,
    /// Why; harmless to show.
    pub reason: String,
}

/// What a scan says of a skill.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Everything was scanned and nothing was found.
    Passed,
    /// Everything was scanned; the worst finding is this bad.
    Findings(Severity),
    /// Not everything could be scanned; the worst finding so far is this bad.
    Incomplete(Option<Severity>),
}

impl ScanReport {
    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        let worst = self.worst();
        match worst {
            worst if !self.gaps.is_empty() => Verdict::Incomplete(worst),
            Some(worst) => Verdict::Findings(worst),
            None => Verdict::Passed,
        }
    }

    /// Returns how bad the worst finding is.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Returns how the skill stands when findings of `fail_on` and worse count.
    pub fn status(&self, fail_on: Severity) -> ScanStatus {
        ScanStatus::of(self.worst(), self.gaps.is_empty(), fail_on)
    }
}

impl Verdict {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Findings(_) => "findings",
            Self::Incomplete(_) => "incomplete",
        }
    }
}

impl Serialize for ScanReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("ScanReport", 9)?;
        out.serialize_field("engine", ENGINE)?;
        out.serialize_field("verdict", self.verdict().as_str())?;
        out.serialize_field("max_severity", &self.worst())?;
        out.serialize_field("content_hash", &self.content_hash)?;
        out.serialize_field("files", &self.files)?;
        out.serialize_field("bytes", &self.bytes)?;
        out.serialize_field("findings", &self.findings)?;
        out.serialize_field("left_out", &self.left_out)?;
        out.serialize_field("gaps", &self.gaps)?;
        out.end()
    }
}
