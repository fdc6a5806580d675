//! The trail of a skill: when its files were first served, to whom it was offered, who took it up. What scanners said and what
//! came of running it is kept elsewhere, and belongs to the trail as well.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::UserId;
use crate::time::Timestamp;

/// What happened to a skill, of what is kept for its trail.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrailKind {
    /// Its files were there for the first time.
    Installed,
    /// It was among what somebody was shown who looked for something.
    Offered,
    /// Somebody took it up.
    Activated,
}

impl TrailKind {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Offered => "offered",
            Self::Activated => "activated",
        }
    }
}

/// Where somebody was offered a skill.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OfferedBy {
    /// In the answer to a search over HTTP.
    Search,
    /// In the answer to a search over MCP.
    McpSearch,
}

impl OfferedBy {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::McpSearch => "mcp_search",
        }
    }
}

/// How somebody took a skill up.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivatedBy {
    /// They read its instructions over HTTP.
    Read,
    /// They read its instructions over MCP.
    McpRead,
    /// They called it by name, as a prompt.
    Prompt,
    /// They gave it to an agent.
    Agent,
}

impl ActivatedBy {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::McpRead => "mcp_read",
            Self::Prompt => "prompt",
            Self::Agent => "agent",
        }
    }
}

/// What happened, with its reasons.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TrailEvent {
    /// Its files were there for the first time.
    Installed,
    /// It was among what somebody was shown who looked for something.
    Offered {
        /// Where.
        by: OfferedBy,
        /// What they looked for; the beginning of a long text.
        query: String,
        /// Its place in the answer, from 1.
        rank: u64,
        /// Which words of the skill were found.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        matched: Vec<String>,
    },
    /// Somebody took it up.
    Activated {
        /// How.
        by: ActivatedBy,
    },
}

impl TrailEvent {
    /// Returns what happened, without its reasons.
    pub fn kind(&self) -> TrailKind {
        match self {
            Self::Installed => TrailKind::Installed,
            Self::Offered { .. } => TrailKind::Offered,
            Self::Activated { .. } => TrailKind::Activated,
        }
    }
}

/// One entry of a trail.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct TrailEntry {
    /// Its id.
    pub id: Uuid,
    /// When.
    pub at: Timestamp,
    /// The skill's id in the catalog.
    pub skill_id: String,
    /// The hash of its files at that moment.
    pub content_hash: String,
    /// Whom it is about; nobody when it is about the files alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    /// Whose skill it was at that moment, when nobody else saw it: nobody else sees the entry either, whatever becomes of the
    /// skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_to: Option<UserId>,
    /// What happened.
    pub event: TrailEvent,
}
