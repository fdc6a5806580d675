//! What scanners say of a skill's files, how that stands against a threshold, and whether such a skill is served.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::UserId;
use crate::catalog::visibility::SourceKind;
use crate::time::Timestamp;

/// How bad a finding is, from the least to the worst.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Unusual or careless, rarely an attack.
    Low,
    /// Suspicious: somebody should look.
    Medium,
    /// Likely harmful.
    High,
    /// Harmful whatever the intention.
    Critical,
}

/// A word that is no severity.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no severity; there are info, low, medium, high and critical")]
pub struct UnknownSeverity(String);

impl Severity {
    /// Every severity, from the least to the worst.
    pub const ALL: [Self; 5] = [Self::Info, Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Severity {
    type Err = UnknownSeverity;

    fn from_str(text: &str) -> Result<Self, UnknownSeverity> {
        let found = Self::ALL.into_iter().find(|severity| severity.as_str() == text);
        found.ok_or_else(|| UnknownSeverity(text.to_owned()))
    }
}

/// How a skill stands against a threshold.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScanStatus {
    /// Everything was scanned and nothing reaches the threshold.
    Passed,
    /// Something reaches the threshold.
    Flagged,
    /// Nothing is known to reach the threshold, but not everything was scanned.
    Unscanned,
}

impl ScanStatus {
    /// Returns how something stands whose worst finding and completeness are known.
    pub fn of(worst: Option<Severity>, is_complete: bool, fail_on: Severity) -> Self {
        if worst.is_some_and(|worst| worst >= fail_on) {
            Self::Flagged
        } else if is_complete {
            Self::Passed
        } else {
            Self::Unscanned
        }
    }

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Flagged => "flagged",
            Self::Unscanned => "unscanned",
        }
    }
}

/// What one engine said of exactly these files.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct VerdictRecord {
    /// The hash of the files.
    pub content_hash: String,
    /// Who scanned.
    pub engine: String,
    /// The rules that were used; others make another verdict.
    pub engine_version: String,
    /// How bad the worst finding is.
    pub worst: Option<Severity>,
    /// Whether everything was scanned.
    pub is_complete: bool,
    /// Why not, harmless to show; empty when it was.
    pub gaps: Vec<String>,
    /// What was found, the worst first.
    pub findings: Vec<FindingRecord>,
    /// When.
    pub scanned_at: Timestamp,
}

/// One thing that a scanner found.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FindingRecord {
    /// Its id.
    pub id: Uuid,
    /// Where the skill comes from.
    pub source_type: SourceKind,
    /// The hub or the saved skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// The skill's id in the catalog.
    pub skill_id: String,
    /// The hash of what was scanned.
    pub content_revision: String,
    /// How bad it is.
    pub severity: Severity,
    /// The rule.
    pub rule_id: String,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What was found; harmless to show.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation: Option<String>,
    /// Who found it.
    pub engine: String,
    /// When.
    #[schemars(with = "String")]
    pub created_at: Timestamp,
}

/// An administrator's word that exactly these files are fine.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Override {
    /// The hash of the files; any other files are not meant.
    pub content_hash: String,
    /// Why.
    pub reason: String,
    /// Who said so.
    pub by: UserId,
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
}

/// Which skills are served.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// All but those with a critical finding.
    #[default]
    Warn,
    /// Only those that passed.
    Strict,
    /// All.
    Off,
}

/// A word that is no gate.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no gate; there are warn, strict and off")]
pub struct UnknownGate(String);

impl FromStr for Gate {
    type Err = UnknownGate;

    fn from_str(text: &str) -> Result<Self, UnknownGate> {
        match text {
            "warn" => Ok(Self::Warn),
            "strict" => Ok(Self::Strict),
            "off" => Ok(Self::Off),
            unknown => Err(UnknownGate(unknown.chars().take(64).collect())),
        }
    }
}

/// Whether a skill is served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Served {
    /// It is.
    Yes,
    /// It is held back.
    Blocked,
}

impl Gate {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Strict => "strict",
            Self::Off => "off",
        }
    }

    /// Decides whether a skill is served that stands so, has that worst finding, and was or was not overridden.
    pub fn decide(self, status: ScanStatus, worst: Option<Severity>, overridden: bool) -> Served {
        let blocked = match self {
            Self::Off => false,
            Self::Warn => worst == Some(Severity::Critical),
            Self::Strict => status != ScanStatus::Passed,
        };
        if blocked && !overridden { Served::Blocked } else { Served::Yes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_that_is_not_complete_never_passes() {
        for fail_on in Severity::ALL {
            for worst in Severity::ALL.map(Some).into_iter().chain([None]) {
                assert_ne!(ScanStatus::of(worst, false, fail_on), ScanStatus::Passed);
                let flagged = worst.is_some_and(|worst| worst >= fail_on);
                assert_eq!(ScanStatus::of(worst, true, fail_on) == ScanStatus::Flagged, flagged);
            }
        }
    }

    #[test]
    fn gates() {
        let check = |gate: Gate, status, worst, overridden, served| {
            assert_eq!(gate.decide(status, worst, overridden), served, "{gate:?} {status:?} {worst:?}");
        };
        use ScanStatus::{Flagged, Passed, Unscanned};
        use Served::{Blocked, Yes};
        check(Gate::Warn, Flagged, Some(Severity::High), false, Yes);
        check(Gate::Warn, Unscanned, None, false, Yes);
        check(Gate::Warn, Flagged, Some(Severity::Critical), false, Blocked);
        check(Gate::Warn, Flagged, Some(Severity::Critical), true, Yes);
        check(Gate::Strict, Passed, Some(Severity::Low), false, Yes);
        check(Gate::Strict, Flagged, Some(Severity::High), false, Blocked);
        check(Gate::Strict, Unscanned, None, false, Blocked);
        check(Gate::Strict, Unscanned, None, true, Yes);
        check(Gate::Off, Flagged, Some(Severity::Critical), false, Yes);
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for severity in Severity::ALL {
            assert_eq!(severity.as_str().parse(), Ok(severity));
            assert_eq!(serde_json::to_value(severity).unwrap(), severity.as_str());
        }
        for gate in [Gate::Warn, Gate::Strict, Gate::Off] {
            assert_eq!(gate.as_str().parse(), Ok(gate));
        }
        assert!("Strict".parse::<Gate>().is_err());
    }
}
