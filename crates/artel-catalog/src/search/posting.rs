//! Postings: which documents have a term, how strongly and in which fields. Knows no text and no query.

use std::ops::Range;

use super::field::FieldSet;

/// One term in one document, packed: 16 bits of document (counted from its shard's first), 10 bits of
/// strength, 6 bits of marks (one for each field, one for "this term is the document's whole name").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting(u32);

impl Posting {
    /// What a list holds before its postings are dealt.
    pub(super) const EMPTY: Self = Self(0);

    const STRENGTH_MAX: f32 = 1023.0;
    const WHOLE_NAME: u32 = 1 << 5;

    /// `strength` lies between 0 and 1. It is never stored as nothing, so that every match has a score.
    pub(super) fn new(document: u16, strength: f32, fields: FieldSet, whole_name: bool) -> Self {
        let steps = (strength * Self::STRENGTH_MAX).round().clamp(1.0, Self::STRENGTH_MAX) as u32;
        let whole = if whole_name { Self::WHOLE_NAME } else { 0 };
        Self(u32::from(document) << 16 | steps << 6 | whole | u32::from(fields.bits()))
    }

    pub(super) fn document(self) -> usize {
        (self.0 >> 16) as usize
    }

    pub(super) fn strength(self) -> f32 {
        (self.0 >> 6 & 0x3ff) as f32 / Self::STRENGTH_MAX
    }

    pub(super) fn fields(self) -> FieldSet {
        FieldSet::from_bits((self.0 & 0x1f) as u8)
    }

    /// Whether the name, the title or a tag has the term.
    pub(super) fn is_telling(self) -> bool {
        self.0 & u32::from(FieldSet::TELLING.bits()) != 0
    }

    /// Whether the term is the document's whole name.
    pub(super) fn is_whole_name(self) -> bool {
        self.0 & Self::WHOLE_NAME != 0
    }
}

/// For every term a list of postings, sorted by document.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Where each term's list starts; one more than there are terms.
    pub(super) starts: Vec<u32>,
    pub(super) postings: Vec<Posting>,
}

impl Lists {
    pub(super) fn of(&self, term: u32) -> &[Posting] {
        let start = self.starts[term as usize] as usize;
        let end = self.starts[term as usize + 1] as usize;
        &self.postings[start..end]
    }

    /// The same lists without the postings that tell little. They are few, so that sweeping many terms is
    /// cheap.
    pub(super) fn telling(&self) -> Self {
        let mut telling = Self { starts: Vec::with_capacity(self.starts.len()), postings: Vec::new() };
        for ends in self.starts.windows(2) {
            telling.starts.push(telling.postings.len() as u32);
            let list = &self.postings[ends[0] as usize..ends[1] as usize];
            telling.postings.extend(list.iter().filter(|posting| posting.is_telling()));
        }
        telling.starts.push(telling.postings.len() as u32);
        telling.postings.shrink_to_fit();
        telling
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u32>() + self.postings.capacity() * size_of::<Posting>()
    }
}

/// The postings of a run of documents.
#[derive(Debug)]
pub(super) struct Shard {
    /// Position of the shard's first document in the index.
    pub(super) first: u32,
    pub(super) documents: u32,
    pub(super) every: Lists,
    pub(super) telling: Lists,
}

impl Shard {
    /// The positions of the shard's documents in the index.
    pub(super) fn span(&self) -> Range<usize> {
        self.first as usize..(self.first + self.documents) as usize
    }
}
