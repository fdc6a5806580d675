//! Hubs: repositories of somebody else that skills are taken from.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::UserId;
use crate::catalog::hub_visibility::HubVisibility;
use crate::id::HubId;
use crate::time::Timestamp;

/// What the name of a variable with a token for a hub begins with.
pub const CREDENTIALS_PREFIX: &str = "ARTEL_HUB_TOKEN_";

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
    /// Who sees its skills.
    #[serde(default)]
    pub visibility: HubVisibility,
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
    /// Which content is published: a commit fetched with other settings is another content. Every node that serves the
    /// hub compares it with what it holds.
    #[serde(default)]
    pub content: Option<String>,
    /// How many skills it has.
    pub skills_count: u64,
    /// Caps that were reached and skills that were skipped.
    pub warnings: Vec<String>,
}

impl Hub {
    /// Returns a text that changes with every setting that decides which content the hub gives. What was fetched with
    /// another text is not what the hub is set up for.
    pub fn content_key(&self) -> String {
        let paths: BTreeSet<&String> = self.include_paths.iter().collect();
        let settings = (self.kind, &self.location, &self.reference, paths, &self.credentials_ref);
        serde_json::to_string(&settings).expect("strings are written as JSON")
    }
}

impl HubStatus {
    /// Says whether readers of the catalog are told the same by both: only the times of successes may differ.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let failure = |status: &Self| status.is_failing().then(|| status.last_failure_message.clone());
        self.content == other.content && self.revision == other.revision && failure(self) == failure(other)
    }

    /// Says whether the last try failed.
    pub fn is_failing(&self) -> bool {
        match (self.last_failure_at, self.last_success_at) {
            (Some(failed), Some(succeeded)) => failed > succeeded,
            (failed, _) => failed.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn hub() -> Hub {
        Hub {
            id: HubId(Uuid::nil()),
            kind: HubKind::Git,
            location: "https://git.example.com/a.git".to_owned(),
            reference: None,
            include_paths: vec!["one".to_owned(), "two".to_owned()],
            is_enabled: true,
            credentials_ref: None,
            visibility: HubVisibility::default(),
            position: 1,
            created_at: Timestamp::from_millis(1),
            updated_at: Timestamp::from_millis(1),
            created_by: "ann".parse().unwrap(),
            status: HubStatus::default(),
        }
    }

    #[test]
    fn every_setting_that_decides_the_content_is_in_its_key() {
        let key = hub().content_key();
        let changed = [
            Hub { kind: HubKind::WellKnown, ..hub() },
            Hub { location: "https://git.example.com/b.git".to_owned(), ..hub() },
            Hub { reference: Some("main".to_owned()), ..hub() },
            Hub { include_paths: vec!["one".to_owned()], ..hub() },
            Hub { include_paths: Vec::new(), ..hub() },
            Hub { credentials_ref: Some("ARTEL_HUB_TOKEN_A".to_owned()), ..hub() },
        ];
        for hub in changed {
            assert_ne!(hub.content_key(), key, "{hub:?}");
        }
        let same = Hub {
            include_paths: vec!["two".to_owned(), "one".to_owned()],
            is_enabled: false,
            updated_at: Timestamp::from_millis(9),
            ..hub()
        };
        assert_eq!(same.content_key(), key);
    }

    #[test]
    fn a_status_without_a_content_is_read() {
        let old = r#"{"last_success_at":null,"last_failure_at":null,"last_failure_message":null,"revision":"abc",
            "skills_count":2,"warnings":[]}"#;
        let status: HubStatus = serde_json::from_str(old).unwrap();
        assert_eq!((status.revision.as_deref(), status.content), (Some("abc"), None));
    }
}
