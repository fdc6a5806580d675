//! What scanners found, as it travels.

use artel_model::catalog::{FindingRecord, Override, Severity, SourceKind};
use artel_model::limit::{CATALOG_PAGE_SIZE_MAX, OVERRIDE_REASON_CHARS_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::shapes;

/// Which findings to list.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingQuery {
    /// Where the skill comes from.
    #[schemars(with = "Option<SourceKind>")]
    pub source_type: Option<String>,
    /// The hub or the saved skill.
    pub source_id: Option<String>,
    /// The hub; an older name of `source_id`.
    pub hub_id: Option<String>,
    /// The skill's id.
    pub skill_id: Option<String>,
    /// At least this bad.
    #[schemars(with = "Option<Severity>")]
    pub severity: Option<String>,
    /// About exactly these files.
    pub content_revision: Option<String>,
    /// Where the page begins: the `next` of the page before; nothing for the first.
    #[serde(default)]
    #[schemars(schema_with = "shapes::cursor")]
    pub after: Option<String>,
    /// Findings on a page.
    #[schemars(range(min = 1, max = CATALOG_PAGE_SIZE_MAX))]
    pub limit: Option<usize>,
}

/// A page of findings, the last first.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct FindingList {
    /// The findings.
    pub items: Vec<FindingRecord>,
    /// Where the next page begins: the `after` of the next request; nothing at the end.
    pub next: Option<String>,
    /// Whose work some findings are, and what they are worth.
    pub attribution: String,
}

/// Why files are fine that a scanner flagged.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"reason": "the download is our own mirror"}))]
pub struct OverrideDraft {
    /// The reason, for whoever asks later.
    #[schemars(length(min = 1, max = OVERRIDE_REASON_CHARS_MAX), regex(pattern = r"\S"))]
    pub reason: String,
}

/// All overrides, by hash.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct OverrideList {
    /// The overrides.
    pub items: Vec<Override>,
}

/// How the skills of a hub stand after they were scanned again.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
pub struct RescannedHub {
    /// Skills that passed.
    pub passed: usize,
    /// Skills with findings that count.
    pub flagged: usize,
    /// Skills that were not scanned in full.
    pub unscanned: usize,
    /// Skills of the catalog that still wait for the second scanner, which goes on by itself.
    pub waiting: usize,
    /// The number of the catalog.
    pub generation: u64,
}
