//! The trail of a skill.

use artel_model::catalog::Severity;
use artel_model::limit::API_PAGE_ITEMS_MAX;
use artel_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::shapes;

/// Which page of a trail is asked for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrailQuery {
    /// Where the page begins: the `next` of the page before.
    #[serde(default)]
    #[schemars(schema_with = "shapes::cursor")]
    pub after: Option<String>,
    /// Items on a page.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}

/// What happened to a skill.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrailStep {
    /// Its files were there for the first time.
    Installed,
    /// A scanner looked at its files.
    Scanned,
    /// Somebody was shown it who looked for something.
    Offered,
    /// Somebody took it up.
    Activated,
    /// It was run.
    Executed,
}

impl TrailStep {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Scanned => "scanned",
            Self::Offered => "offered",
            Self::Activated => "activated",
            Self::Executed => "executed",
        }
    }
}

/// One thing that happened to a skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TrailItem {
    /// When.
    pub at: Timestamp,
    /// What.
    pub event: TrailStep,
    /// The skill's id in the catalog.
    pub skill_id: String,
    /// The hash of its files at that moment.
    pub content_hash: String,
    /// Whom it was offered to, or who took it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// How it was offered or taken up, or which scanner looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What was looked for when it was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Its place in what was offered, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// Which of its words were found, and where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<String>,
    /// How many things a scanner found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<u64>,
    /// How bad the worst of them is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Severity>,
    /// The run that it was a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Uuid>,
    /// The record of the run of the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<Uuid>,
    /// The agent that it was run for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Uuid>,
    /// What came of it: of a scan whether everything was looked at, of a run its status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How long it ran, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl TrailItem {
    /// Makes an item that says no more than what happened, when, and to which files.
    pub fn new(at: Timestamp, skill_id: &str, content_hash: String, event: TrailStep) -> Self {
        Self {
            at,
            event,
            skill_id: skill_id.to_owned(),
            content_hash,
            user: None,
            by: None,
            query: None,
            rank: None,
            matched: Vec::new(),
            findings: None,
            worst: None,
            run_id: None,
            execution_id: None,
            agent_id: None,
            result: None,
            duration_ms: None,
        }
    }
}
