//! What is noted about a skill while it is served, and the entries that are made of it.

use std::sync::Arc;

use artel_catalog::search::{Field, TermMatch};
use artel_catalog::shared::{Entry, ListQuery, ListingItem, View};
use artel_model::access::UserId;
use artel_model::catalog::{ActivatedBy, OfferedBy, TrailEntry, TrailEvent, Visibility};
use artel_model::limit::{TRAIL_QUERY_CHARS_MAX, TRAIL_RANKS_MAX};
use artel_model::time::Timestamp;
use uuid::Uuid;

/// Words that an entry says were found.
const MATCHED_MAX: usize = 10;

/// Which skill an entry is about.
#[derive(Clone, Debug)]
pub(super) struct About {
    skill_id: String,
    content_hash: String,
    private_to: Option<UserId>,
}

impl About {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            skill_id: entry.id.to_string(),
            content_hash: entry.content_hash.clone(),
            private_to: match &entry.visibility {
                Visibility::Global | Visibility::Team { .. } => None,
                Visibility::Personal { owner_user_id } => Some(owner_user_id.clone()),
            },
        }
    }

    /// Returns an entry about the skill.
    pub(super) fn entry(
        self,
        id: Uuid,
        at: Timestamp,
        user: Option<UserId>,
        event: TrailEvent,
    ) -> TrailEntry {
        let Self { skill_id, content_hash, private_to } = self;
        TrailEntry { id, at, skill_id, content_hash, user, private_to, event }
    }
}

/// Something that happened to skills because of somebody.
pub(super) struct Note {
    pub(super) at: Timestamp,
    pub(super) user: UserId,
    pub(super) what: What,
}

/// What happened.
pub(super) enum What {
    /// They searched; which skills they were offered is found out when it is kept.
    Searched { by: OfferedBy, view: Arc<View>, query: ListQuery },
    /// They took a skill up.
    Activated { by: ActivatedBy, about: About },
}

impl Note {
    /// Returns what tells it from others of the same user.
    pub(super) fn key(&self) -> String {
        match &self.what {
            What::Searched { by, view, query } => format!("{} {} {query:?}", by.as_str(), view.etag()),
            What::Activated { by, about } => {
                format!("{} {} {}", by.as_str(), about.skill_id, about.content_hash)
            }
        }
    }

    /// Returns the entries that it leaves. Searching takes a while.
    pub(super) fn entries(self) -> Vec<TrailEntry> {
        let Self { at, user, what } = self;
        match what {
            What::Activated { by, about } => {
                vec![about.entry(Uuid::now_v7(), at, Some(user), TrailEvent::Activated { by })]
            }
            What::Searched { by, view, query } => {
                let before = (query.page.number() as usize - 1).saturating_mul(query.page.size());
                let words: String =
                    query.words.iter().flat_map(|words| words.chars()).take(TRAIL_QUERY_CHARS_MAX).collect();
                let offered = view.list(&query).items;
                let ranked = (before + 1..).zip(&offered).take_while(|(rank, _)| *rank <= TRAIL_RANKS_MAX);
                let entry = |(rank, item): (usize, &ListingItem<'_>)| {
                    let (query, rank, matched) = (words.clone(), rank as u64, matched(item));
                    let event = TrailEvent::Offered { by, query, rank, matched };
                    About::of(item.entry).entry(Uuid::now_v7(), at, Some(user.clone()), event)
                };
                ranked.map(entry).collect()
            }
        }
    }
}

fn matched(item: &ListingItem<'_>) -> Vec<String> {
    let found = item.hit.iter().flat_map(|hit| &hit.explanation).take(MATCHED_MAX);
    let told = |found: &TermMatch| {
        let fields: Vec<&str> = found.fields.iter().map(Field::as_str).collect();
        format!("{} in {}", found.term, fields.join(", "))
    };
    found.map(told).collect()
}
