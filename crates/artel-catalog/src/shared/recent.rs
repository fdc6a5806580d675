//! A bounded map that forgets what was not asked for the longest.

use std::collections::BTreeMap;

/// Values by key, each with the turn in which it was last asked for.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    kept: BTreeMap<K, (u64, V)>,
    turn: u64,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { kept: BTreeMap::new(), turn: 0 }
    }
}

impl<K: Ord + Clone, V: Clone> Recent<K, V> {
    pub(super) fn get(&mut self, key: &K) -> Option<V> {
        self.turn += 1;
        let turn = self.turn;
        self.kept.get_mut(key).map(|(used, value)| {
            *used = turn;
            value.clone()
        })
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.turn += 1;
        self.kept.insert(key, (self.turn, value));
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.kept.values().map(|(_, value)| value)
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Forgets what was not asked for the longest, but never the last that is left.
    pub(super) fn forget_one(&mut self) -> bool {
        let oldest = self.kept.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
        match oldest.filter(|_| self.kept.len() > 1) {
            Some(key) => self.kept.remove(&key).is_some(),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_the_longest_goes_first() {
        let mut recent = Recent::default();
        for key in ["a", "b", "c"] {
            recent.insert(key, ());
        }
        assert!(recent.get(&"a").is_some());
        assert!(recent.forget_one());
        assert!(recent.get(&"b").is_none() && recent.get(&"c").is_some() && recent.get(&"a").is_some());
        assert!(recent.forget_one() && !recent.forget_one());
        assert!(recent.get(&"a").is_some());
        assert_eq!(recent.len(), 1);
    }
}
