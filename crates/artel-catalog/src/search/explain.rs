//! Why a document was found: for each word of the query the match that counted. Recomputed for the hits
//! alone.

use std::ops::Range;

use super::document::DocumentSet;
use super::field::FieldSet;
use super::index::SearchIndex;
use super::plan::{Clue, Terms, Way, closeness};
use super::posting::{Posting, Shard};
use super::rank::{Ranking, Scored};

/// How a term of the index matched something in the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchKind {
    /// It is the word.
    Exact,
    /// It is the word's plural or singular.
    Inflected,
    /// It begins with the word.
    Prefix,
    /// It is so many edits away from the word, which no document has.
    Typo {
        /// Inserted, deleted, replaced letters and swapped neighbours.
        distance: u8,
    },
    /// It is adjacent words of the query written as one.
    Joined,
    /// It is the whole query, and the document's whole name.
    WholeName,
}

impl std::fmt::Display for MatchKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Inflected => f.write_str("inflected"),
            Self::Prefix => f.write_str("prefix"),
            Self::Typo { distance } => write!(f, "typo {distance}"),
            Self::Joined => f.write_str("joined"),
            Self::WholeName => f.write_str("whole name"),
        }
    }
}

/// One match that counts in a hit's score.
#[derive(Debug, Clone, PartialEq)]
pub struct TermMatch {
    /// The word of the query, or several, separated by spaces.
    pub word: String,
    /// The term of the index.
    pub term: String,
    /// How the term matched the word.
    pub kind: MatchKind,
    /// Where the document has the term.
    pub fields: FieldSet,
    /// What the match adds to the score.
    pub contribution: f32,
}

/// Returns the matches of each of `hits`, in the order of `hits`; within one in order of the query.
pub(super) fn explain(index: &SearchIndex, ranking: &Ranking, hits: &[Scored]) -> Vec<Vec<TermMatch>> {
    let mut wanted = Wanted::new(hits);
    let mut matches = vec![Vec::new(); hits.len()];
    for clue in &ranking.clues {
        wanted.best.fill(None);
        let letters = clue.text.chars().count();
        for way in &clue.ways {
            for shard in index.shards() {
                wanted.look(index, shard, way, letters);
            }
        }
        for (place, best) in wanted.best.iter().enumerate() {
            if let Some(best) = best {
                let (document, hit) = wanted.documents[place];
                matches[hit].push(best.told(index, clue, ranking.coordination_of(document)));
            }
        }
    }
    matches
}

/// The documents to explain, and the best match of the clue at hand for each.
struct Wanted {
    /// Sorted, with their places among the hits.
    documents: Vec<(u32, usize)>,
    set: DocumentSet,
    best: Vec<Option<Best>>,
}

#[derive(Debug, Clone, Copy)]
struct Best {
    term: u32,
    kind: MatchKind,
    fields: FieldSet,
    value: f32,
}

impl Best {
    fn told(&self, index: &SearchIndex, clue: &Clue, coordination: f32) -> TermMatch {
        TermMatch {
            word: clue.text.clone(),
            term: index.dictionary().term(self.term).to_owned(),
            kind: self.kind,
            fields: self.fields,
            contribution: self.value * coordination,
        }
    }
}

impl Wanted {
    fn new(hits: &[Scored]) -> Self {
        let mut documents: Vec<(u32, usize)> = hits.iter().map(|hit| hit.document).zip(0..).collect();
        documents.sort_unstable();
        let set = documents.iter().map(|(document, _)| *document).collect();
        Self { set, best: vec![None; documents.len()], documents }
    }

    fn look(&mut self, index: &SearchIndex, shard: &Shard, way: &Way, letters: usize) {
        let span = shard.span();
        let start = self.documents.partition_point(|(document, _)| (*document as usize) < span.start);
        let end = self.documents.partition_point(|(document, _)| (*document as usize) < span.end);
        if start == end {
            return;
        }
        let lists = way.scope.lists(shard);
        for Terms { ids, kind } in &way.terms {
            for term in ids.clone() {
                let worth = way.worth * closeness(*kind, letters, index.dictionary().letters(term));
                for (place, posting) in self.postings(shard, lists.of(term), start..end) {
                    let value = worth * posting.strength();
                    let weaker = self.best[place].is_none_or(|known| known.value < value);
                    if way.scope.admits(posting) && weaker {
                        self.best[place] = Some(Best { term, kind: *kind, fields: posting.fields(), value });
                    }
                }
            }
        }
    }

    /// The postings of a list that belong to the wanted documents at `places`, which are those of the shard.
    fn postings(&self, shard: &Shard, list: &[Posting], places: Range<usize>) -> Vec<(usize, Posting)> {
        /// From here on, looking up each wanted document beats reading the list.
        const LIST_PER_DOCUMENT: usize = 24;
        if list.len() > LIST_PER_DOCUMENT * places.len() {
            let look_up = |place: usize| {
                let document = (self.documents[place].0 - shard.first) as usize;
                let found = list.binary_search_by_key(&document, |posting| posting.document()).ok()?;
                Some((place, list[found]))
            };
            return places.filter_map(look_up).collect();
        }
        let wanted = list.iter().filter_map(|&posting| {
            let document = shard.first + posting.document() as u32;
            let place = || self.documents.partition_point(|(other, _)| *other < document);
            self.set.contains(document).then(|| (place(), posting))
        });
        wanted.collect()
    }
}
