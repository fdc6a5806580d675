//! Many forbidden patterns at once: which of them leave nothing of an allowed one, without trying each.

use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};

use super::pattern::ToolPattern;

/// Forbidden patterns, found by how the names they mean begin; each with what it belongs to.
pub(crate) struct Forbidden<'a, T> {
    by_head: BTreeMap<String, Vec<(&'a ToolPattern, T)>>,
}

impl<'a, T: Copy> Forbidden<'a, T> {
    /// Takes the patterns in.
    pub(crate) fn new(patterns: impl IntoIterator<Item = (&'a ToolPattern, T)>) -> Self {
        let mut by_head: BTreeMap<String, Vec<(&'a ToolPattern, T)>> = BTreeMap::new();
        for (pattern, owner) in patterns {
            by_head.entry(pattern.name_head().to_ascii_lowercase()).or_default().push((pattern, owner));
        }
        Self { by_head }
    }

    /// Returns what every pattern belongs to that leaves nothing of `allowed`.
    pub(crate) fn leaving_nothing_of(&self, allowed: &ToolPattern) -> impl Iterator<Item = T> {
        // What covers a pattern has its first star no later, so its head is a beginning of the pattern's head.
        let heads = self.beginnings(&allowed.name_head().to_ascii_lowercase());
        heads
            .into_iter()
            .flatten()
            .filter(|(pattern, _)| pattern.forbids_all(allowed))
            .map(|&(_, owner)| owner)
    }

    /// Returns what is kept under every beginning of a text, the longest first.
    fn beginnings(&self, text: &str) -> Vec<&Vec<(&'a ToolPattern, T)>> {
        let mut found = Vec::new();
        let mut rest = Some(text);
        while let Some((head, patterns)) =
            rest.and_then(|rest| self.by_head.range::<str, _>((Unbounded, Included(rest))).next_back())
        {
            // The last head up to `rest` is a beginning of it, or every beginning is also one of what both share.
            rest = if text.starts_with(head.as_str()) {
                found.push(patterns);
                head.len().checked_sub(1).map(|bytes| &text[..bytes])
            } else {
                let shared = head.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
                Some(&text[..shared])
            };
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern() -> impl Strategy<Value = ToolPattern> {
        "[abA*]{1,4}(\\([ab]{1,2}:\\*\\))?".prop_filter_map("a pattern", |text| text.parse().ok())
    }

    proptest! {
        #[test]
        fn the_same_is_found_as_by_trying_each(
            forbidden in prop::collection::vec(pattern(), 0..8), allowed in pattern(),
        ) {
            let all = Forbidden::new(forbidden.iter().zip(0_usize..));
            let mut found: Vec<usize> = all.leaving_nothing_of(&allowed).collect();
            found.sort_unstable();
            let tried: Vec<usize> =
                (0..forbidden.len()).filter(|&at| forbidden[at].forbids_all(&allowed)).collect();
            prop_assert_eq!(found, tried);
        }
    }
}
