//! All skills of all sources at one moment. Immutable; what each person sees of it is found out when they ask.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use artel_model::access::{TeamId, UserId, Viewer};
use artel_model::catalog::Visibility;
use artel_model::limit::CATALOG_VIEWS_MAX;
use artel_model::time::Timestamp;

use super::audience::Changes;
use super::digest::{Digest, hex};
use super::entry::Entry;
use super::entry_id::EntryId;
use super::indexes::Indexes;
use super::recent::Recent;
use super::source_state::{Freshness, SourceState};
use super::view::{View, add_failing};

/// All skills of all sources at one moment.
#[derive(Debug)]
pub struct Snapshot {
    content: Arc<Content>,
    repeated: Vec<EntryId>,
    generation: u64,
    made_at: Timestamp,
    content_hash: String,
    changes: Changes,
    /// The teams and people that some skill is for. Whoever else somebody is makes no difference to what they see.
    teams: BTreeSet<TeamId>,
    owners: BTreeSet<UserId>,
    views: Mutex<Recent<ViewKey, Arc<View>>>,
    indexes: Arc<Indexes>,
}

/// What views are made of.
#[derive(Debug)]
pub(super) struct Content {
    /// By source, name, rank and id.
    pub(super) entries: Vec<Entry>,
    pub(super) places: BTreeMap<EntryId, u32>,
    /// What the gate holds back, in the same order.
    pub(super) blocked: Vec<Entry>,
    pub(super) sources: Vec<SourceState>,
}

/// What decides which entries somebody sees: two people with the same key see the same.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct ViewKey {
    teams: BTreeSet<TeamId>,
    owner: Option<UserId>,
}

/// What a snapshot is made of; everything is in order.
pub(super) struct Parts {
    pub(super) generation: u64,
    pub(super) made_at: Timestamp,
    pub(super) sources: Vec<SourceState>,
    pub(super) entries: Vec<Entry>,
    pub(super) blocked: Vec<Entry>,
    pub(super) repeated: Vec<EntryId>,
}

impl Snapshot {
    pub(super) fn new(parts: Parts, indexes: Arc<Indexes>) -> Self {
        let Parts { generation, made_at, sources, entries, blocked, repeated } = parts;
        let content_hash = content_hash(&entries, &blocked);
        let (mut teams, mut owners) = (BTreeSet::new(), BTreeSet::new());
        let audiences = sources.iter().flat_map(|source| &source.audience);
        for visibility in entries.iter().map(|entry| &entry.visibility).chain(audiences) {
            match visibility {
                Visibility::Global => {}
                Visibility::Team { team_ids } => teams.extend(team_ids.iter().cloned()),
                Visibility::Personal { owner_user_id } => {
                    owners.insert(owner_user_id.clone());
                }
            }
        }
        owners.extend(blocked.iter().filter_map(|entry| entry.owner.clone()));
        // A hub that only some callers see changes nothing for the others.
        let is_for_all = |source: &&SourceState| {
            source.audience.is_empty() || source.audience.contains(&Visibility::Global)
        };
        let failing = add_failing(Digest::of("sources"), sources.iter().filter(is_for_all)).finish();
        let changes = Changes::of(&entries, &failing, made_at);
        let places = (0..).zip(&entries).map(|(place, entry)| (entry.id.clone(), place)).collect();
        let content = Arc::new(Content { entries, places, blocked, sources });
        let views = Mutex::default();
        Self { content, repeated, generation, made_at, content_hash, changes, teams, owners, views, indexes }
    }

    /// Gives it the number that everybody who serves this content has agreed on.
    #[must_use]
    pub fn numbered(self, generation: u64) -> Self {
        Self { generation, ..self }
    }

    /// Makes it the successor of an earlier one: for those who see the same as before, nothing has changed since then.
    #[must_use]
    pub fn following(self, before: &Self) -> Self {
        Self { changes: self.changes.after(&before.changes), ..self }
    }

    /// Returns when something last changed that a viewer sees. What changes for others only has no part in it.
    pub fn changed_for(&self, viewer: &Viewer) -> Timestamp {
        self.changes.last_for(viewer)
    }

    /// Returns which state of the sources it shows; a later one has a larger number.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns when it was made.
    pub fn made_at(&self) -> Timestamp {
        self.made_at
    }

    /// Returns a hash that is the same on every machine with the same content, whatever order it was read in.
    pub fn content_hash(&self) -> &str {
        &self.content_hash
    }

    /// Returns every skill that is served to anybody, by source and name. Not for people: see [`Snapshot::view`].
    pub fn entries(&self) -> &[Entry] {
        &self.content.entries
    }

    /// Returns the skill of that id, whoever sees it, also when it is held back: for administrators.
    pub fn any(&self, id: &EntryId) -> Option<&Entry> {
        let served = self.content.places.get(id).map(|place| &self.content.entries[*place as usize]);
        served.or_else(|| self.content.blocked.iter().find(|entry| entry.id == *id))
    }

    /// Returns what is held back by the gate, for administrators. Views have it for who saved it, apart from the rest.
    pub fn blocked(&self) -> &[Entry] {
        &self.content.blocked
    }

    /// Returns the ids that a source gave more than once; the first is used.
    pub fn repeated(&self) -> &[EntryId] {
        &self.repeated
    }

    /// Returns the sources, by kind and id.
    pub fn sources(&self) -> &[SourceState] {
        &self.content.sources
    }

    /// Says whether there is nothing to serve because sources failed: that is not the same as an empty catalog.
    pub fn is_unavailable(&self) -> bool {
        let has_failed = |source: &SourceState| matches!(source.state, Freshness::Unavailable { .. });
        self.content.entries.is_empty() && self.content.sources.iter().any(has_failed)
    }

    /// Returns what somebody sees. People who see the same share one view; a view that nobody asked for in a while is
    /// made again.
    pub fn view(&self, viewer: &Viewer) -> Arc<View> {
        let key = ViewKey {
            teams: viewer.teams.intersection(&self.teams).cloned().collect(),
            owner: self.owners.get(&viewer.user).cloned(),
        };
        if let Some(view) = self.views().get(&key) {
            return view;
        }
        let made = Arc::new(View::new(Arc::clone(&self.content), viewer, Arc::clone(&self.indexes)));
        let mut views = self.views();
        // Different teams may come to the same skills.
        let view = views.values().find(|view| view.etag() == made.etag()).cloned().unwrap_or(made);
        views.insert(key, Arc::clone(&view));
        while views.len() > CATALOG_VIEWS_MAX && views.forget_one() {}
        view
    }

    fn views(&self) -> std::sync::MutexGuard<'_, Recent<ViewKey, Arc<View>>> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn content_hash(entries: &[Entry], blocked: &[Entry]) -> String {
    let add = |digest: Digest, entries: &[Entry]| {
        let digest = digest.number(entries.len() as u64);
        entries.iter().fold(digest, |digest, entry| entry.add_content_to(digest))
    };
    format!("sha256:{}", hex(&add(add(Digest::of("snapshot"), entries), blocked).finish()))
}
