//! The index as its callers see it. How words are read, matched and weighed is the business of its
//! neighbours.

use super::buffers::SpareSums;
use super::build::build;
use super::dictionary::Dictionary;
use super::document::{DocumentSet, SearchDocument};
use super::explain::{TermMatch, explain};
use super::limits::RESULTS_MAX;
use super::posting::Shard;
use super::query::Query;
use super::rank::{Ranking, Scored, View};

/// An immutable index over documents, which it knows by their positions in build order.
#[derive(Debug)]
pub struct SearchIndex {
    dictionary: Dictionary,
    shards: Vec<Shard>,
    documents: usize,
    spare: SpareSums,
}

/// Which of the ranked hits to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How many of the best hits to pass over.
    pub offset: usize,
    /// How many to return; at most [`RESULTS_MAX`] are.
    pub limit: usize,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The hits of the window, the best first; equal ones in build order.
    pub hits: Vec<Hit>,
    /// How many documents matched altogether.
    pub total: usize,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document's position in build order.
    pub document: u32,
    /// How well it matches; comparable within one answer only.
    pub score: f32,
    /// What matched, in order of the query; the contributions add up to the score.
    pub explanation: Vec<TermMatch>,
}

impl SearchIndex {
    /// Returns the index of these documents. Takes time linear in their text, on all cores.
    pub fn build<'a>(documents: impl IntoIterator<Item = SearchDocument<'a>>) -> Self {
        let documents: Vec<SearchDocument<'a>> = documents.into_iter().collect();
        let (dictionary, shards) = build(&documents);
        Self { dictionary, shards, documents: documents.len(), spare: SpareSums::default() }
    }

    /// Returns the best `limit` documents for a query, at most [`RESULTS_MAX`].
    pub fn search(&self, query: &Query, limit: usize) -> Found {
        self.find(query, View::All, Window { offset: 0, limit })
    }

    /// Returns a window of the documents in `view` for a query, as if the index held no others.
    pub fn search_within(&self, query: &Query, view: &DocumentSet, window: Window) -> Found {
        self.find(query, View::Only(view), window)
    }

    /// Returns how many documents the index holds.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Returns whether the index holds no documents.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Returns how many different terms the index holds.
    pub fn terms(&self) -> usize {
        self.dictionary.len() as usize
    }

    /// Returns the memory that the index occupies, without the room that searches use meanwhile.
    pub fn heap_bytes(&self) -> usize {
        let shards = self.shards.iter().map(|shard| shard.every.heap_bytes() + shard.telling.heap_bytes());
        self.dictionary.heap_bytes() + shards.sum::<usize>()
    }

    pub(super) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    pub(super) fn shards(&self) -> &[Shard] {
        &self.shards
    }

    fn find(&self, query: &Query, view: View<'_>, window: Window) -> Found {
        if query.is_empty() || self.is_empty() {
            return Found { hits: Vec::new(), total: 0 };
        }
        let ranking = Ranking::new(self, query, view, self.spare.take(self.documents));
        let end = window.offset.saturating_add(window.limit.min(RESULTS_MAX)).min(self.documents);
        let (best, total) = ranking.best(end);
        let best = best.get(window.offset..).unwrap_or_default();
        let explanations = explain(self, &ranking, best);
        self.spare.give_back(ranking.into_sums());
        let hit = |(&Scored { document, score }, explanation)| Hit { document, score, explanation };
        Found { hits: best.iter().zip(explanations).map(hit).collect(), total }
    }
}
