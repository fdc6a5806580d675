//! What goes into the index, and sets of documents to search inside. Knows nothing of postings or scores.

/// The searched texts of one document, borrowed.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchDocument<'a> {
    /// The slug; a query that is exactly the name puts the document first.
    pub name: &'a str,
    /// The name for people, or empty.
    pub title: &'a str,
    /// The description.
    pub description: &'a str,
    /// The tags.
    pub tags: &'a [String],
    /// The instructions; only the first [`BODY_BYTES_MAX`](super::BODY_BYTES_MAX) bytes are indexed.
    pub body: &'a str,
}

/// A set of documents of one index, by their positions in build order: what a caller may see, or a filter
/// lets through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentSet {
    words: Vec<u64>,
    len: usize,
}

impl DocumentSet {
    /// Returns whether the document at this position is in the set.
    pub fn contains(&self, document: u32) -> bool {
        let word = self.words.get(document as usize / 64).copied().unwrap_or(0);
        word >> (document % 64) & 1 == 1
    }

    /// Adds the document at this position.
    pub fn insert(&mut self, document: u32) {
        let word = document as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if !self.contains(document) {
            self.words[word] |= 1 << (document % 64);
            self.len += 1;
        }
    }

    /// Returns how many documents are in the set.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the set has no documents.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<u32> for DocumentSet {
    fn from_iter<I: IntoIterator<Item = u32>>(documents: I) -> Self {
        let mut set = Self::default();
        for document in documents {
            set.insert(document);
        }
        set
    }
}
