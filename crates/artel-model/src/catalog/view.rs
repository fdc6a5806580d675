//! What one person sees of all skills: first what they are entitled to, then which one wins by name.

use std::collections::BTreeMap;

use crate::access::Viewer;
use crate::catalog::visibility::{SourceKind, Visibility};
use crate::name::SkillName;

/// What deciding about a skill needs to know of it.
pub trait Listed {
    /// Its name.
    fn name(&self) -> &SkillName;
    /// Where it comes from.
    fn source(&self) -> SourceKind;
    /// Orders skills of the same source: the smaller was there earlier.
    fn rank(&self) -> u64;
    /// Who sees it.
    fn visibility(&self) -> &Visibility;
}

/// Returns the places of the skills that a person sees, in the order of a list: by source, then by name. What only others
/// see decides nothing: a private skill hides no shared one.
pub fn view<T: Listed>(all: &[T], viewer: &Viewer) -> Vec<usize> {
    let mut winners: BTreeMap<&SkillName, usize> = BTreeMap::new();
    let seen = all.iter().enumerate().filter(|(_, entry)| entry.visibility().is_seen_by(viewer));
    for (place, entry) in seen {
        winners
            .entry(entry.name())
            .and_modify(|winner| {
                let key = |place: usize| (all[place].source(), all[place].rank(), place);
                if key(place) < key(*winner) {
                    *winner = place;
                }
            })
            .or_insert(place);
    }
    let mut places: Vec<usize> = winners.into_values().collect();
    places.sort_by_key(|place| (all[*place].source(), all[*place].name()));
    places
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::access::TeamId;

    #[derive(Clone, Debug)]
    struct Entry {
        name: SkillName,
        source: SourceKind,
        rank: u64,
        visibility: Visibility,
    }

    impl Listed for Entry {
        fn name(&self) -> &SkillName {
            &self.name
        }
        fn source(&self) -> SourceKind {
            self.source
        }
        fn rank(&self) -> u64 {
            self.rank
        }
        fn visibility(&self) -> &Visibility {
            &self.visibility
        }
    }

    fn visibilities() -> impl Strategy<Value = Visibility> {
        let team = proptest::sample::subsequence(vec!["red", "blue", "green"], 1..=2);
        prop_oneof![
            Just(Visibility::Global),
            team.prop_map(|teams| Visibility::Team {
                team_ids: teams.iter().map(|team| team.parse().unwrap()).collect()
            }),
            prop::sample::select(vec!["ann", "bob"])
                .prop_map(|user| Visibility::Personal { owner_user_id: user.parse().unwrap() }),
        ]
    }

    fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let names = prop::sample::select(vec!["one", "two", "three"]);
        let sources = prop::sample::select(SourceKind::ALL.to_vec());
        let entry =
            (names, sources, 0..3_u64, visibilities()).prop_map(|(name, source, rank, visibility)| Entry {
                name: name.parse().unwrap(),
                source,
                rank,
                visibility,
            });
        prop::collection::vec(entry, 0..12)
    }

    fn viewers() -> impl Strategy<Value = Viewer> {
        let users = prop::sample::select(vec!["ann", "bob", "eve"]);
        let teams = proptest::sample::subsequence(vec!["red", "blue", "green"], 0..=3);
        (users, teams).prop_map(|(user, teams)| Viewer {
            user: user.parse().unwrap(),
            teams: teams.iter().map(|team| team.parse::<TeamId>().unwrap()).collect::<BTreeSet<_>>(),
        })
    }

    proptest! {
        #[test]
        fn nobody_sees_what_they_are_not_entitled_to(all in entries(), viewer in viewers()) {
            for place in view(&all, &viewer) {
                prop_assert!(all[place].visibility.is_seen_by(&viewer));
            }
        }

        #[test]
        fn what_others_see_changes_nothing(all in entries(), viewer in viewers()) {
            let own: Vec<Entry> = all.iter().filter(|entry| entry.visibility.is_seen_by(&viewer)).cloned().collect();
            let shown = |all: &[Entry]| -> Vec<(String, SourceKind, u64)> {
                view(all, &viewer).into_iter()
                    .map(|place| (all[place].name.to_string(), all[place].source, all[place].rank))
                    .collect()
            };
            prop_assert_eq!(shown(&all), shown(&own));
        }

        #[test]
        fn every_name_one_sees_is_there_once_and_the_earliest_source_wins(all in entries(), viewer in viewers()) {
            let places = view(&all, &viewer);
            for entry in all.iter().filter(|entry| entry.visibility.is_seen_by(&viewer)) {
                let same: Vec<&usize> = places.iter().filter(|place| all[**place].name == entry.name).collect();
                prop_assert_eq!(same.len(), 1);
                let winner = &all[*same[0]];
                prop_assert!((winner.source, winner.rank) <= (entry.source, entry.rank));
            }
        }

        #[test]
        fn lists_are_ordered(all in entries(), viewer in viewers()) {
            let keys: Vec<_> =
                view(&all, &viewer).into_iter().map(|place| (all[place].source, all[place].name.clone())).collect();
            prop_assert!(keys.is_sorted());
        }
    }
}
