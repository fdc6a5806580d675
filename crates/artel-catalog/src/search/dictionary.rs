//! The terms of an index, sorted, with look-up by word, by prefix and by likeness. Knows no documents.

use std::ops::Range;

use super::distance::{edits_within, signature};

/// All indexed terms in byte order; a term's id is its position.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    text: String,
    ends: Vec<usize>,
    letters: Vec<u8>,
    signatures: Vec<u64>,
}

impl Dictionary {
    /// Adds a term, which must come after all others in byte order.
    pub(super) fn push(&mut self, term: &str) {
        debug_assert!(self.ends.is_empty() || self.term(self.last()) < term, "terms come in order");
        self.text.push_str(term);
        self.ends.push(self.text.len());
        // Terms are cut to fewer bytes than a u8 counts.
        self.letters.push(term.chars().count().min(usize::from(u8::MAX)) as u8);
        self.signatures.push(signature(term));
    }

    pub(super) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    pub(super) fn term(&self, id: u32) -> &str {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.text[start..self.ends[id]]
    }

    /// Returns how many letters the term has.
    pub(super) fn letters(&self, id: u32) -> u8 {
        self.letters[id as usize]
    }

    pub(super) fn find(&self, word: &str) -> Option<u32> {
        let id = self.first_where(0, |term| term >= word);
        (id < self.len() && self.term(id) == word).then_some(id)
    }

    /// Returns the ids of the terms that begin with `prefix` and are longer.
    pub(super) fn longer_than(&self, prefix: &str) -> Range<u32> {
        let start = self.first_where(0, |term| term > prefix);
        let end = self.first_where(start, |term| !term.starts_with(prefix));
        start..end
    }

    /// Returns the terms within `limit` edits of `word`, with their distance, in order.
    ///
    /// It looks at every term, but at almost all of them only at eight bytes: the letters they consist of.
    pub(super) fn similar(&self, word: &str, limit: usize) -> Vec<(u32, usize)> {
        let wanted = signature(word);
        let from: Vec<char> = word.chars().collect();
        let mut to = Vec::new();
        let mut found = Vec::new();
        for (id, &offered) in (0_u32..).zip(&self.signatures) {
            let hopeless = (wanted ^ offered).count_ones() as usize > 2 * limit
                || usize::from(self.letters(id)).abs_diff(from.len()) > limit;
            if hopeless {
                continue;
            }
            to.clear();
            to.extend(self.term(id).chars());
            if let Some(edits) = edits_within(&from, &to, limit) {
                found.push((id, edits));
            }
        }
        found
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.text.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.letters.capacity()
            + self.signatures.capacity() * size_of::<u64>()
    }

    pub(super) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.letters.shrink_to_fit();
        self.signatures.shrink_to_fit();
    }

    fn last(&self) -> u32 {
        self.len() - 1
    }

    /// Returns the first id from `start` for which `holds`, given that it holds for all that follow.
    fn first_where(&self, start: u32, holds: impl Fn(&str) -> bool) -> u32 {
        let (mut low, mut high) = (start, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(self.term(middle)) { high = middle } else { low = middle + 1 }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::Dictionary;

    fn dictionary() -> Dictionary {
        let mut dictionary = Dictionary::default();
        for term in ["fetch", "fetched", "fetcher", "fetish", "fi", "object", "objects"] {
            dictionary.push(term);
        }
        dictionary
    }

    #[test]
    fn a_prefix_is_a_range_without_the_word_itself() {
        let dictionary = dictionary();
        let longer =
            |prefix| dictionary.longer_than(prefix).map(|id| dictionary.term(id)).collect::<Vec<_>>();
        assert_eq!(longer("fetch"), ["fetched", "fetcher"]);
        assert_eq!(longer("fet"), ["fetch", "fetched", "fetcher", "fetish"]);
        assert_eq!(longer("objects"), [""; 0]);
        assert_eq!(longer("zebra"), [""; 0]);
        assert_eq!(dictionary.find("fetcher"), Some(2));
        assert_eq!(dictionary.find("fetche"), None);
        assert_eq!(Dictionary::default().find("fetch"), None);
    }

    #[test]
    fn similar_terms_come_with_their_distance() {
        let dictionary = dictionary();
        let similar = |word, limit| {
            let found = dictionary.similar(word, limit).into_iter();
            found.map(|(id, edits)| format!("{} {edits}", dictionary.term(id))).collect::<Vec<_>>()
        };
        assert_eq!(similar("ftech", 1), ["fetch 1"]);
        assert_eq!(similar("bject", 1), ["object 1"]);
        assert_eq!(similar("fetchre", 2), ["fetch 2", "fetched 2", "fetcher 1"]);
    }
}
