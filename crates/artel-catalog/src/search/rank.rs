//! Scoring: postings into one score for each document, and the best of them. Knows no text but what the plan
//! names.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::buffers::{Noted, Sums};
use super::document::DocumentSet;
use super::index::SearchIndex;
use super::plan::{Clue, Terms, Way, closeness, joined_clues, typo_way, whole_name_clue, word_clue};
use super::posting::Posting;
use super::query::Query;

/// The documents that a search may find.
#[derive(Debug, Clone, Copy)]
pub(super) enum View<'a> {
    All,
    Only(&'a DocumentSet),
}

/// The scores of one search.
pub(super) struct Ranking {
    /// What was searched for, with what it turned out to be worth.
    pub(super) clues: Vec<Clue>,
    sums: Sums,
    coordination: Vec<f32>,
}

/// A document and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) document: u32,
    pub(super) score: f32,
}

impl Ranking {
    pub(super) fn new(index: &SearchIndex, query: &Query, view: View<'_>, sums: Sums) -> Self {
        let documents = match view {
            View::All => index.len(),
            View::Only(set) => set.len().min(index.len()),
        };
        let mut tally = Tally { index, view, documents, sums };
        let mut clues = Vec::new();
        let mut rarities = Vec::new();
        for (position, word) in query.words().enumerate() {
            let mut clue = word_clue(index.dictionary(), query, position, word);
            rarities.push(tally.count_word(&mut clue));
            clues.push(clue);
        }
        for mut clue in joined_clues(index.dictionary(), query) {
            tally.count_joined(&mut clue);
            clues.push(clue);
        }
        if let Some(mut clue) = whole_name_clue(index.dictionary(), query) {
            tally.count_whole_name(&mut clue, &clues);
            clues.push(clue);
        }
        Self { clues, sums: tally.sums, coordination: coordination(&rarities) }
    }

    /// Returns the `count` best documents, the best first, equal ones in order of documents, and how many
    /// matched.
    pub(super) fn best(&self, count: usize) -> (Vec<Scored>, usize) {
        let mut kept: BinaryHeap<Reverse<Scored>> = BinaryHeap::with_capacity(count);
        for &document in self.sums.found.documents() {
            let score = self.sums.scores[document as usize] * self.coordination_of(document);
            let scored = Scored { document, score };
            if kept.len() < count {
                kept.push(Reverse(scored));
            } else if let Some(mut worst) = kept.peek_mut()
                && scored > worst.0
            {
                *worst = Reverse(scored);
            }
        }
        let best = kept.into_sorted_vec().into_iter().map(|Reverse(scored)| scored).collect();
        (best, self.sums.found.documents().len())
    }

    /// Returns by how much a document's matches are scaled for the words it has of those that were asked for.
    pub(super) fn coordination_of(&self, document: u32) -> f32 {
        self.coordination[usize::from(self.sums.covered[document as usize])]
    }

    /// Returns the sums for another search.
    pub(super) fn into_sums(self) -> Sums {
        self.sums
    }
}

impl Eq for Scored {}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.document.cmp(&self.document))
    }
}

/// Counts clues one after the other.
struct Tally<'a> {
    index: &'a SearchIndex,
    view: View<'a>,
    /// How many documents there are in the view.
    documents: usize,
    sums: Sums,
}

impl Tally<'_> {
    /// Counts a word, as a typo too when nobody has the word itself, and returns how rare it is.
    fn count_word(&mut self, clue: &mut Clue) -> f32 {
        let letters = clue.text.chars().count();
        let matched = self.count_way(&mut clue.ways[0], letters);
        if matched == 0 {
            // Decided by the view and not by the dictionary, which knows words of documents outside of it.
            clue.ways.push(typo_way(self.index.dictionary(), &clue.text));
        }
        for way in &mut clue.ways[1..] {
            self.count_way(way, letters);
        }
        self.sums.commit_clue(clue.covers);
        let strongest = clue.ways.iter().map(|way| way.worth).find(|&worth| worth > 0.0);
        strongest.unwrap_or_else(|| rarity(0, self.documents))
    }

    /// Words written as one are worth as much as each of them would be.
    fn count_joined(&mut self, clue: &mut Clue) {
        for way in &mut clue.ways {
            self.sweep(way, 0);
            let matched = self.sums.clue_found.documents().len();
            if matched > 0 {
                way.worth = rarity(matched, self.documents) * clue.covers.count_ones() as f32;
                self.sums.fold_way(way.worth);
            }
        }
        self.sums.commit_clue(clue.covers);
    }

    /// A whole name outweighs everything else that the query could match, even where a long name is a weak
    /// match.
    fn count_whole_name(&mut self, clue: &mut Clue, others: &[Clue]) {
        const SAFETY: f32 = 3.0;
        let strongest = |clue: &Clue| clue.ways.iter().map(|way| way.worth).fold(0.0, f32::max);
        let worth = SAFETY * others.iter().map(strongest).sum::<f32>();
        for way in &mut clue.ways {
            self.sweep(way, 0);
            way.worth = worth;
            self.sums.fold_way(worth);
        }
        self.sums.commit_clue(clue.covers);
    }

    /// Counts one way to match and returns how many documents match the clue in this way or one before.
    ///
    /// All its terms share one rarity, that of matching at all: a rare completion is not better than a common
    /// one.
    fn count_way(&mut self, way: &mut Way, letters: usize) -> usize {
        self.sweep(way, letters);
        let matched = self.sums.clue_found.documents().len();
        if !self.sums.way_found.documents().is_empty() {
            way.worth = rarity(matched, self.documents);
            self.sums.fold_way(way.worth);
        }
        matched
    }

    /// Takes the strongest posting of each document.
    fn sweep(&mut self, way: &Way, letters: usize) {
        let dictionary = self.index.dictionary();
        for shard in self.index.shards() {
            let lists = way.scope.lists(shard);
            let mut best = Best {
                first: shard.first,
                values: &mut self.sums.way[shard.span()],
                found: &mut self.sums.way_found,
            };
            for Terms { ids, kind } in &way.terms {
                for term in ids.clone() {
                    let closeness = closeness(*kind, letters, dictionary.letters(term));
                    let list = lists.of(term);
                    match self.view {
                        View::All => best.raise(list, closeness, |posting| way.scope.admits(posting)),
                        View::Only(set) => best.raise(list, closeness, |posting| {
                            way.scope.admits(posting) && set.contains(shard.first + posting.document() as u32)
                        }),
                    }
                }
            }
        }
        for &document in self.sums.way_found.documents() {
            self.sums.clue_found.note_if(self.sums.clue[document as usize] == 0.0, document);
        }
    }
}

/// The best matches of one shard's documents.
struct Best<'a> {
    first: u32,
    values: &'a mut [f32],
    found: &'a mut Noted,
}

impl Best<'_> {
    fn raise(&mut self, list: &[Posting], closeness: f32, admits: impl Fn(Posting) -> bool) {
        for &posting in list {
            if admits(posting) {
                let value = &mut self.values[posting.document()];
                self.found.note_if(*value == 0.0, self.first + posting.document() as u32);
                *value = value.max(closeness * posting.strength());
            }
        }
    }
}

/// The inverse document frequency: what a match in `matched` of `documents` tells. Always above zero.
fn rarity(matched: usize, documents: usize) -> f32 {
    let (matched, documents) = (matched as f32, documents as f32);
    (1.0 + (documents - matched + 0.5).max(0.5) / (matched + 0.5)).ln()
}

/// For every set of words, as bits: the square of its share of all words, each weighed by its rarity.
fn coordination(rarities: &[f32]) -> Vec<f32> {
    let mut sums = vec![0.0_f32; 1 << rarities.len()];
    for set in 1..sums.len() {
        sums[set] = sums[set & (set - 1)] + rarities[set.trailing_zeros() as usize];
    }
    let all = sums.last().copied().unwrap_or(0.0).max(f32::MIN_POSITIVE);
    sums.into_iter().map(|sum| (sum / all).powi(2)).collect()
}
