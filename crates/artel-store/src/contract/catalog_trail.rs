//! The trails of skills.

use artel_model::catalog::{ActivatedBy, OfferedBy, TrailEntry, TrailEvent, TrailKind};
use uuid::Uuid;

use super::catalog_sample::{HOSTILE, SharedCatalog, all_pages};
use super::sample::{WORKS, at, user};
use crate::StoreError;
use crate::page::{Cursor, PageRequest};
use crate::trail::TrailFilter;

/// Returns an entry about a skill, at `millis`, about somebody when one is named.
pub fn trail_entry(number: u128, millis: i64, skill: &str, about: Option<&str>) -> TrailEntry {
    let event = match (about, number % 2) {
        (None, _) => TrailEvent::Installed,
        (Some(_), 0) => TrailEvent::Activated { by: ActivatedBy::McpRead },
        (Some(_), _) => {
            let (by, query, matched) = (OfferedBy::Search, HOSTILE.to_owned(), vec![HOSTILE.to_owned()]);
            TrailEvent::Offered { by, query, rank: u64::MAX >> 1, matched }
        }
    };
    TrailEntry {
        id: Uuid::from_u128(number),
        at: at(millis),
        skill_id: skill.to_owned(),
        content_hash: format!("hash {number}"),
        user: about.map(user),
        private_to: None,
        event,
    }
}

async fn numbers(store: &SharedCatalog, filter: &TrailFilter, limit: usize) -> Vec<u128> {
    let found = all_pages(limit, async |page| store.trail(filter, &page).await).await;
    found.into_iter().map(|entry| entry.id.as_u128()).collect()
}

fn of(skill: &str) -> TrailFilter {
    TrailFilter { skill_id: skill.to_owned(), ..TrailFilter::default() }
}

/// Entries of every kind come back whole; one that is added twice stays as it was first.
pub async fn a_trail_is_kept_whole_and_once(store: SharedCatalog) {
    let entries = [
        TrailEntry { private_to: Some(user("ann")), ..trail_entry(1, 30, HOSTILE, Some("ann")) },
        trail_entry(2, 20, HOSTILE, Some("Böb <bob@example.org>")),
        trail_entry(3, 10, HOSTILE, None),
    ];
    store.add_trail(&[]).await.expect(WORKS);
    store.add_trail(&entries).await.expect(WORKS);
    let again = TrailEntry { at: at(99), ..entries[2].clone() };
    store.add_trail(&[again, trail_entry(4, 5, HOSTILE, None)]).await.expect(WORKS);
    let found = all_pages(2, async |page| store.trail(&of(HOSTILE), &page).await).await;
    assert_eq!(found[..3], entries);
    assert_eq!(found[3], trail_entry(4, 5, HOSTILE, None));
    assert_eq!(found.len(), 4);
}

/// Entries are found by every filter, the last first, and pages of any size agree.
pub async fn trails_are_found_by_every_filter(store: SharedCatalog) {
    let private = |entry| TrailEntry { private_to: Some(user("ann")), ..entry };
    let entries = [
        trail_entry(9, 20, "a", Some("ann")),
        trail_entry(2, 30, "a", Some("bob")),
        trail_entry(5, 20, "a", None),
        private(trail_entry(4, 10, "a", Some("ann"))),
        private(trail_entry(8, 40, "a", None)),
        trail_entry(7, 20, "b", None),
    ];
    store.add_trail(&entries).await.expect(WORKS);
    let cases: Vec<(TrailFilter, Vec<u128>)> = vec![
        (of("a"), vec![8, 2, 9, 5, 4]),
        (of("b"), vec![7]),
        (of("A"), vec![]),
        (TrailFilter { kind: Some(TrailKind::Installed), ..of("a") }, vec![8, 5]),
        (TrailFilter { kind: Some(TrailKind::Offered), ..of("a") }, vec![9]),
        (TrailFilter { kind: Some(TrailKind::Activated), ..of("a") }, vec![2, 4]),
        (TrailFilter { about: Some(user("bob")), ..of("a") }, vec![8, 2, 5]),
        (TrailFilter { reader: Some(user("bob")), ..of("a") }, vec![2, 9, 5]),
        (TrailFilter { about: Some(user("bob")), reader: Some(user("bob")), ..of("a") }, vec![2, 5]),
        (TrailFilter { about: Some(user("ann")), reader: Some(user("ann")), ..of("a") }, vec![8, 9, 5, 4]),
    ];
    for (filter, expected) in cases {
        for limit in [1, 2, 100] {
            assert_eq!(numbers(&store, &filter, limit).await, expected, "{filter:?}");
        }
    }
    let page = PageRequest { after: Some(Cursor("' OR 1=1 --".to_owned())), limit: 3 };
    let refused = store.trail(&of("a"), &page).await.err();
    assert!(matches!(refused, Some(StoreError::UnknownCursor { .. })), "{refused:?}");
}

/// Old entries about people are removed, then the oldest beyond the limit; what is about files alone stays.
pub async fn trails_of_people_are_pruned(store: SharedCatalog) {
    let mut entries: Vec<TrailEntry> =
        (1..=10).map(|number| trail_entry(number, 10 * number as i64, "a", Some("ann"))).collect();
    entries.push(trail_entry(11, 1, "a", None));
    store.add_trail(&entries).await.expect(WORKS);
    assert_eq!(store.prune_trail(at(30), 100).await.expect(WORKS), 2);
    assert_eq!(numbers(&store, &of("a"), 100).await, [10, 9, 8, 7, 6, 5, 4, 3, 11]);
    assert_eq!(store.prune_trail(at(0), 5).await.expect(WORKS), 3);
    assert_eq!(numbers(&store, &of("a"), 100).await, [10, 9, 8, 7, 6, 11]);
    assert_eq!(store.prune_trail(at(0), 5).await.expect(WORKS), 0);
    assert_eq!(store.prune_trail(at(1000), 0).await.expect(WORKS), 5);
    assert_eq!(numbers(&store, &of("a"), 100).await, [11]);
}
