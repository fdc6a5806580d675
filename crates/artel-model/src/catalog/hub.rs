//! Hubs: repositories of somebody else that skills are taken from.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::UserId;
use crate::id::HubId;
use crate::time::Timestamp;

/// What kind of place a hub is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HubKind {
    /// A repository at GitHub.
    Github,
    /// Any git repository.
    Git,
    /// A site that publishes an index of its skills at a well-known address.
    WellKnown,
}

/// A word that is no kind of hub.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no kind of hub; there are github, git and well-known")]
pub struct UnknownHubKind(String);

impl HubKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Github, Self::Git, Self::WellKnown];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Git => "git",
            Self::WellKnown => "well-known",
        }
    }
}

impl fmt::Display for HubKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for HubKind {
    type Err = UnknownHubKind;

    fn from_str(text: &str) -> Result<Self, UnknownHubKind> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| UnknownHubKind(text.chars().take(64).collect()))
    }
}

/// A hub that somebody registered.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Hub {
    /// Its id.
    pub id: HubId,
    /// What kind of place it is.
    pub kind: HubKind,
    /// Where it is, in the one way it is written: two hubs with the same location are the same.
    pub location: String,
    /// A branch, a tag or a commit; nothing for the usual branch.
    pub reference: Option<String>,
    /// Folders to look in; none for all.
    pub include_paths: Vec<String>,
    /// Whether its skills are in the catalog.
    pub is_enabled: bool,
    /// The name of the environment variable that holds its token; never the token.
    pub credentials_ref: Option<String>,
    /// The order of registration, from 1: the earlier wins by name.
    pub position: u64,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When somebody last changed it.
    pub updated_at: Timestamp,
    /// Who registered it.
    pub created_by: UserId,
    /// What came of fetching it.
    pub status: HubStatus,
}

/// What came of fetching a hub.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct HubStatus {
    /// When its content was last known to be current.
    pub last_success_at: Option<Timestamp>,
    /// When it last failed.
    pub last_failure_at: Option<Timestamp>,
    /// Why, in at most 500 characters and without secrets.
    pub last_failure_message: Option<String>,
    /// The commit, or the digest of the index, that is published.
    pub revision: Option<String>,
    /// How many skills it has.
    pub skills_count: u64,
    /// Caps that were reached and skills that were skipped.
    pub warnings: Vec<String>,
}

impl HubStatus {
    /// Says whether the last try failed.
    pub fn is_failing(&self) -> bool {
        match (self.last_failure_at, self.last_success_at) {
            (Some(failed), Some(succeeded)) => failed > succeeded,
            (failed, _) => failed.is_some(),
        }
    }
}
