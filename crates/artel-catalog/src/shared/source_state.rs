//! How current each source of skills is.

use artel_model::access::Viewer;
use artel_model::catalog::{SourceKind, Visibility};
use artel_model::time::Timestamp;
use serde::Serialize;

/// A source, and how current what it gave is.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct SourceState {
    /// What kind of source it is.
    pub kind: SourceKind,
    /// Which one, where there are several of a kind.
    pub id: Option<String>,
    /// What people call it.
    pub label: String,
    /// Who is told about it; nothing stands for everybody.
    pub audience: Vec<Visibility>,
    /// When its content was last read with success.
    pub loaded_at: Option<Timestamp>,
    /// How current its content is.
    pub state: Freshness,
}

/// How current the content of a source is.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Freshness {
    /// As it was when it was last looked at.
    Fresh,
    /// The last good content is shown, because the source failed since.
    Stale {
        /// Since when.
        since: Timestamp,
        /// Why; harmless to show.
        reason: String,
    },
    /// There is no content to show.
    Unavailable {
        /// Why; harmless to show.
        reason: String,
    },
}

impl SourceState {
    /// Says whether a viewer is told about it.
    pub fn is_for(&self, viewer: &Viewer) -> bool {
        self.audience.is_empty() || self.audience.iter().any(|visibility| visibility.is_seen_by(viewer))
    }

    /// Says whether people should be told that something may be missing or old.
    pub fn is_unavailable(&self) -> bool {
        match self.state {
            Freshness::Fresh => false,
            Freshness::Stale { .. } | Freshness::Unavailable { .. } => true,
        }
    }
}
