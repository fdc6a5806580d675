//! How bad a finding is. Knows nothing of rules or files.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// How bad a finding is, from the least to the worst.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
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

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A word that is no severity.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no severity; there are info, low, medium, high and critical")]
pub struct UnknownSeverity(String);

impl FromStr for Severity {
    type Err = UnknownSeverity;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|severity| severity.as_str() == text);
        found.ok_or_else(|| UnknownSeverity(text.to_owned()))
    }
}
