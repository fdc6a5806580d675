//! When something last changed that an audience sees: everyone, a team, or one person. What changes for others leaves the
//! moment as it is, so it can be shown to anyone of the audience.

use std::collections::BTreeMap;

use artel_model::access::{TeamId, UserId, Viewer};
use artel_model::catalog::Visibility;
use artel_model::limit::CATALOG_VIEWS_MAX;
use artel_model::time::Timestamp;

use super::digest::{Digest, Hash};
use super::entry::Entry;

/// Those who see the same skills for the same reason.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Audience {
    Everyone,
    Team(TeamId),
    Owner(UserId),
}

/// What an audience sees, and since when.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Seen {
    /// Nothing when the audience sees no skills of its own any more.
    digest: Option<Hash>,
    since: Timestamp,
}

/// What every audience sees, and since when.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes(BTreeMap<Audience, Seen>);

impl Changes {
    /// Looks at the skills of a snapshot; `sources` is a hash of what everyone is told of the sources.
    pub(super) fn of(entries: &[Entry], sources: &Hash, now: Timestamp) -> Self {
        let mut digests = BTreeMap::from([(Audience::Everyone, Digest::of("audience").hash(sources))]);
        for entry in entries {
            for audience in audiences(&entry.visibility) {
                let digest = digests.entry(audience).or_insert_with(|| Digest::of("audience"));
                *digest = std::mem::take(digest).hash(&entry.digest);
            }
        }
        let seen = |digest: Digest| Seen { digest: Some(digest.finish()), since: now };
        Self(digests.into_iter().map(|(audience, digest)| (audience, seen(digest))).collect())
    }

    /// Returns the same with the earlier moment for every audience that sees what it saw in an earlier snapshot. A moment
    /// never goes back, whatever the clock does.
    pub(super) fn after(mut self, before: &Self) -> Self {
        let now = self.0.get(&Audience::Everyone).map(|everyone| everyone.since);
        for (audience, earlier) in &before.0 {
            let since = now.map_or(earlier.since, |now| now.max(earlier.since + 1));
            let seen = self.0.entry(audience.clone()).or_insert(Seen { digest: None, since });
            seen.since = if seen.digest == earlier.digest { earlier.since } else { since };
        }
        while self.0.values().filter(|seen| seen.digest.is_none()).count() > CATALOG_VIEWS_MAX {
            let emptied = self.0.iter().filter(|(_, seen)| seen.digest.is_none());
            let Some(oldest) =
                emptied.min_by_key(|(_, seen)| seen.since).map(|(audience, _)| audience.clone())
            else {
                break;
            };
            self.0.remove(&oldest);
        }
        self
    }

    /// Returns when something last changed that a viewer sees.
    pub(super) fn last_for(&self, viewer: &Viewer) -> Timestamp {
        let teams = viewer.teams.iter().cloned().map(Audience::Team);
        let own = [Audience::Everyone, Audience::Owner(viewer.user.clone())];
        let seen = own.into_iter().chain(teams).filter_map(|audience| self.0.get(&audience));
        seen.map(|seen| seen.since).max().unwrap_or(Timestamp::from_millis(0))
    }
}

fn audiences(visibility: &Visibility) -> Vec<Audience> {
    match visibility {
        Visibility::Global => vec![Audience::Everyone],
        Visibility::Team { team_ids } => team_ids.iter().cloned().map(Audience::Team).collect(),
        Visibility::Personal { owner_user_id } => vec![Audience::Owner(owner_user_id.clone())],
    }
}
