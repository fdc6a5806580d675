//! Whatever skills there are and whoever looks: what somebody is not entitled to has no part in anything they are shown.

use artel_model::access::Viewer;
use artel_model::catalog::{SourceKind, Visibility};
use proptest::prelude::*;

use super::testing::{Made, Said, snapshot, snapshot_on};
use super::{EntryId, Indexes, ListQuery, Page, Snapshot};
use crate::prompt::{PromptBudget, PromptFormat};

const NAMES: [&str; 4] = ["one", "two", "three", "four"];
const WORDS: [&str; 5] = ["carrot", "onion", "carrots", "pepper", "onion onion carrot"];

fn visibilities() -> impl Strategy<Value = Visibility> {
    let teams = proptest::sample::subsequence(vec!["red", "blue", "green"], 1..=2);
    prop_oneof![
        Just(Visibility::Global),
        teams.prop_map(|teams| Visibility::Team {
            team_ids: teams.iter().map(|team| team.parse().unwrap()).collect()
        }),
        prop::sample::select(vec!["ann", "bob"])
            .prop_map(|user| Visibility::Personal { owner_user_id: user.parse().unwrap() }),
    ]
}

fn skills() -> impl Strategy<Value = Vec<Made>> {
    let sources = prop::sample::select(SourceKind::ALL.to_vec());
    let (names, words) = (prop::sample::select(NAMES.to_vec()), prop::sample::select(WORDS.to_vec()));
    let skill =
        (sources, 1..3_u8, names, words, visibilities()).prop_map(|(source, number, name, words, seen)| {
            // Only what people save can be for some of them.
            let visibility = if source == SourceKind::AgentSkills { seen } else { Visibility::Global };
            Made { source, number, name, text: words.to_owned(), visibility }
        });
    prop::collection::vec(skill, 0..10).prop_map(|mut skills| {
        let key = |made: &Made| {
            (made.source, if made.source == SourceKind::Default { 0 } else { made.number }, made.name)
        };
        skills.sort_by_key(key);
        skills.dedup_by_key(|made| key(made));
        skills
    })
}

fn viewers() -> impl Strategy<Value = Viewer> {
    let users = prop::sample::select(vec!["ann", "bob", "eve"]);
    let teams = proptest::sample::subsequence(vec!["red", "blue", "green", "grey"], 0..=3);
    (users, teams).prop_map(|(user, teams)| super::testing::viewer(user, &teams))
}

/// Everything that a snapshot shows to somebody, as text.
fn shown(snapshot: &Snapshot, viewer: &Viewer, ids: &[EntryId]) -> Vec<String> {
    let view = snapshot.view(viewer);
    let mut shown = vec![view.etag().to_owned(), view.len().to_string()];
    for words in [None, Some("carrot"), Some("onion pepper"), Some("carot"), Some("one")] {
        for page in [Page::new(1, 2).unwrap(), Page::new(2, 2).unwrap(), Page::default()] {
            for source in [None, Some(SourceKind::AgentSkills)] {
                let words = words.map(str::to_owned);
                let listing = view.list(&ListQuery { words, page, source, ..ListQuery::default() });
                for item in &listing.items {
                    shown.push(format!("{} {:?}", item.entry.id, item.hit));
                }
                shown.push(format!("{} {} {:?}", listing.total, listing.has_more, listing.message));
            }
        }
    }
    for id in ids {
        let seen = view.get(id).map(|seen| (&seen.entry.files, &seen.entry.visibility, seen.shadowed_by));
        shown.push(format!("{id} {seen:?}"));
    }
    for name in NAMES {
        shown.push(format!("{:?}", view.by_name(&name.parse().unwrap()).map(|entry| &entry.id)));
    }
    shown.push(view.prompt(PromptFormat::Xml, PromptBudget::default()).text);
    let catalog = view.catalog();
    shown.extend(catalog.published().iter().map(|loaded| format!("{:?}", loaded.instructions)));
    shown
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_only_others_see_has_no_part_in_anything(all in skills(), viewer in viewers()) {
        let own: Vec<Made> = all.iter().filter(|made| made.visibility.is_seen_by(&viewer)).cloned().collect();
        let (whole, alone) = (snapshot(&all), snapshot(&own));
        let ids: Vec<EntryId> = whole.entries().iter().map(|entry| entry.id.clone()).collect();
        prop_assert_eq!(shown(&whole, &viewer, &ids), shown(&alone, &viewer, &ids));
        for entry in whole.entries() {
            let seen = whole.view(&viewer).get(&entry.id).is_some();
            prop_assert_eq!(seen, entry.visibility.is_seen_by(&viewer));
        }
    }

    #[test]
    fn the_same_content_has_the_same_hash_on_every_machine(all in skills(), turn in 0..10_usize, viewer in viewers()) {
        let mut other = all.clone();
        if !other.is_empty() {
            let middle = turn % other.len();
            other.rotate_left(middle);
        }
        let indexes = Indexes::new();
        let here = snapshot_on("here", 1, &all, Said::default(), &indexes);
        let there = snapshot_on("there", 8, &other, Said::default(), &indexes);
        prop_assert_eq!(here.content_hash(), there.content_hash());
        let (here, there) = (here.view(&viewer), there.view(&viewer));
        prop_assert_eq!(here.etag(), there.etag());
        prop_assert!(here.entries().map(|entry| &entry.id).eq(there.entries().map(|entry| &entry.id)));
    }
}
