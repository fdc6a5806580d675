//! What a rule is: data, with the examples that test it.

use super::category::Category;
use artel_model::catalog::Severity;

/// Something the scanner looks for.
#[derive(Debug)]
pub struct Rule {
    /// Its name in findings; never changes.
    pub id: &'static str,
    /// How bad it usually is.
    pub severity: Severity,
    /// What it is about.
    pub category: Category,
    /// What was found, in a few words.
    pub title: &'static str,
    /// Why it matters.
    pub explanation: &'static str,
    /// What to do about it.
    pub remediation: &'static str,
    /// Files that must be found by it.
    pub bad: &'static [Example],
    /// Files that look similar and must not be found by it.
    pub good: &'static [Example],
}

/// One file of a skill that tests a rule.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Its path.
    pub path: &'static str,
    /// Its content.
    pub content: &'static [u8],
}

impl Rule {
    /// Says whether two are the same rule.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// Instructions in `SKILL.md`.
pub(super) const fn says(content: &'static str) -> Example {
    Example { path: "SKILL.md", content: content.as_bytes() }
}

/// A shell script.
pub(super) const fn shell(content: &'static str) -> Example {
    Example { path: "scripts/run.sh", content: content.as_bytes() }
}

/// A Python script.
pub(super) const fn python(content: &'static str) -> Example {
    Example { path: "scripts/run.py", content: content.as_bytes() }
}

/// A JavaScript file.
pub(super) const fn javascript(content: &'static str) -> Example {
    Example { path: "scripts/run.js", content: content.as_bytes() }
}

/// Any other file.
pub(super) const fn file(path: &'static str, content: &'static [u8]) -> Example {
    Example { path, content }
}
