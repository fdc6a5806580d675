//! One thing that was found, and where.

use camino::Utf8PathBuf;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::rule::Rule;
use artel_model::catalog::Severity;

/// One thing that was found in a skill.
#[derive(Clone, Debug)]
pub struct ScanFinding {
    /// What was looked for.
    pub rule: &'static Rule,
    /// How bad it is here; less than usual where it is only spoken about.
    pub severity: Severity,
    /// The file, below the skill's folder; an archive's file after `!/`.
    pub path: Utf8PathBuf,
    /// The line, from 1; nothing when it is about the whole file.
    pub line: Option<u32>,
    /// What exactly was found; harmless to show.
    pub message: String,
    /// The text it was found in; harmless to show.
    pub snippet: Option<String>,
    /// How it was hidden: what had to be decoded, from the outside in.
    pub decoded: Vec<&'static str>,
}

impl ScanFinding {
    /// Orders findings: the worst first, then by file, line and rule.
    pub(super) fn sort_key(&self) -> impl Ord + '_ {
        (std::cmp::Reverse(self.severity), self.path.as_str(), self.line, self.rule.id, self.message.as_str())
    }
}

impl Serialize for ScanFinding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("ScanFinding", 11)?;
        out.serialize_field("rule_id", self.rule.id)?;
        out.serialize_field("severity", &self.severity)?;
        out.serialize_field("category", &self.rule.category)?;
        out.serialize_field("owasp", &self.rule.category.owasp())?;
        out.serialize_field("path", &self.path)?;
        out.serialize_field("line", &self.line)?;
        out.serialize_field("title", self.rule.title)?;
        out.serialize_field("message", &self.message)?;
        out.serialize_field("snippet", &self.snippet)?;
        out.serialize_field("decoded", &self.decoded)?;
        out.serialize_field("remediation", self.rule.remediation)?;
        out.end()
    }
}
