//! Room for the sums of a search, kept from one search to the next. Knows documents by number only.
//!
//! A search touches few places of large vectors; having the system map and clear fresh memory each time would
//! cost several times as much as the search itself.

use std::sync::{Mutex, PoisonError};

/// Sums for every document of an index. All are zero, and nothing is noted, when a search begins.
///
/// Only the places of noted documents are ever written, so that a search, and making room for the next one,
/// costs what it finds and not what there is.
#[derive(Debug)]
pub(super) struct Sums {
    pub(super) found: Noted,
    pub(super) scores: Vec<f32>,
    /// A bit for each word of the query that the document has.
    pub(super) covered: Vec<u16>,
    /// The best match of the clue at hand.
    pub(super) clue: Vec<f32>,
    pub(super) clue_found: Noted,
    /// The best match of the way at hand, between 0 and 1.
    pub(super) way: Vec<f32>,
    pub(super) way_found: Noted,
}

impl Sums {
    fn new(documents: usize) -> Self {
        Self {
            found: Noted::new(documents),
            scores: vec![0.0; documents],
            covered: vec![0; documents],
            clue: vec![0.0; documents],
            clue_found: Noted::new(documents),
            way: vec![0.0; documents],
            way_found: Noted::new(documents),
        }
    }

    /// Takes the way into the clue, and makes room for the next way.
    pub(super) fn fold_way(&mut self, worth: f32) {
        for &document in self.way_found.documents() {
            let (clue, way) = (&mut self.clue[document as usize], &mut self.way[document as usize]);
            *clue = clue.max(*way * worth);
            *way = 0.0;
        }
        self.way_found.forget();
    }

    /// Takes the clue into the scores, and makes room for the next clue.
    pub(super) fn commit_clue(&mut self, covers: u16) {
        for &document in self.clue_found.documents() {
            let covered = &mut self.covered[document as usize];
            self.found.note_if(*covered == 0, document);
            *covered |= covers;
            self.scores[document as usize] += self.clue[document as usize];
            self.clue[document as usize] = 0.0;
        }
        self.clue_found.forget();
    }

    /// Makes room for the next search.
    fn clear(&mut self) {
        for &document in self.found.documents() {
            self.scores[document as usize] = 0.0;
            self.covered[document as usize] = 0;
        }
        self.found.forget();
    }
}

/// Documents in order of their appearance, each once.
#[derive(Debug)]
pub(super) struct Noted {
    /// One place more than there are documents, see [`Self::note_if`].
    places: Vec<u32>,
    length: usize,
}

impl Noted {
    fn new(documents: usize) -> Self {
        Self { places: vec![0; documents + 1], length: 0 }
    }

    /// Always writes, and moves on only when the document is wanted: whether it is cannot be predicted, so a
    /// branch would cost more than the write.
    pub(super) fn note_if(&mut self, wanted: bool, document: u32) {
        self.places[self.length] = document;
        self.length += usize::from(wanted);
    }

    pub(super) fn documents(&self) -> &[u32] {
        &self.places[..self.length]
    }

    fn forget(&mut self) {
        self.length = 0;
    }
}

/// Sums that no search uses at the moment.
#[derive(Debug, Default)]
pub(super) struct SpareSums(Mutex<Vec<Sums>>);

impl SpareSums {
    /// More searches than these at once make their own sums.
    const KEPT_MAX: usize = 4;

    pub(super) fn take(&self, documents: usize) -> Sums {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| Sums::new(documents))
    }

    pub(super) fn give_back(&self, mut sums: Sums) {
        sums.clear();
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < Self::KEPT_MAX {
            spare.push(sums);
        }
    }
}
