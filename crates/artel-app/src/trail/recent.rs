//! What was noted a moment ago: who asks the same again and again leaves one entry.

use std::collections::BTreeMap;

use artel_model::access::UserId;
use artel_model::limit::TRAIL_REPEAT_MS;
use artel_model::time::Timestamp;

/// How much is remembered.
const REMEMBERED_MAX: usize = 10_000;

/// What was noted a moment ago.
#[derive(Default)]
pub(super) struct Recent {
    noted: BTreeMap<(UserId, String), Timestamp>,
}

impl Recent {
    /// Says whether the same was not noted a moment ago, and remembers it.
    pub(super) fn is_first(&mut self, user: &UserId, key: String, at: Timestamp) -> bool {
        let is_recent = |noted: &Timestamp| at.millis_since(*noted) < TRAIL_REPEAT_MS;
        let place = (user.clone(), key);
        if self.noted.get(&place).is_some_and(is_recent) {
            return false;
        }
        if self.noted.len() >= REMEMBERED_MAX {
            self.noted.retain(|_, noted| is_recent(noted));
        }
        if self.noted.len() >= REMEMBERED_MAX {
            self.noted.clear();
        }
        self.noted.insert(place, at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_noted_once_in_a_while() {
        let mut recent = Recent::default();
        let (ann, bob): (UserId, UserId) = ("ann".parse().unwrap(), "bob".parse().unwrap());
        let at = |millis| Timestamp::from_millis(millis);
        assert!(recent.is_first(&ann, "a".to_owned(), at(0)));
        assert!(!recent.is_first(&ann, "a".to_owned(), at(59_999)));
        assert!(recent.is_first(&ann, "b".to_owned(), at(59_999)));
        assert!(recent.is_first(&bob, "a".to_owned(), at(59_999)));
        assert!(recent.is_first(&ann, "a".to_owned(), at(60_000)));
    }

    #[test]
    fn only_so_much_is_remembered() {
        let mut recent = Recent::default();
        let ann: UserId = "ann".parse().unwrap();
        for number in 0..=REMEMBERED_MAX {
            assert!(recent.is_first(&ann, number.to_string(), Timestamp::from_millis(0)));
        }
        assert_eq!(recent.noted.len(), 1);
    }
}
