//! Building an index: documents into sorted postings, shard by shard, on as many cores as there are.
//!
//! The result does not depend on the number of cores: a shard is built by one of them, and shards are merged
//! in order.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::dictionary::Dictionary;
use super::document::SearchDocument;
use super::field::{Field, FieldSet, PerField, occurrence_weights, strength};
use super::limits::{BODY_BYTES_MAX, FIELD_BYTES_MAX, SHARD_DOCUMENTS_MAX, TWO_SHARDS_DOCUMENTS_MIN};
use super::posting::{Lists, Posting, Shard};
use super::text::{CaseChange, Piece, cut, for_each_piece};

/// Returns the dictionary and the shards of `documents`.
pub(super) fn build(documents: &[SearchDocument<'_>]) -> (Dictionary, Vec<Shard>) {
    let least = if documents.len() < TWO_SHARDS_DOCUMENTS_MIN { 1 } else { 2 };
    let count = documents.len().div_ceil(SHARD_DOCUMENTS_MAX).max(least);
    let chunks: Vec<_> = documents.chunks(documents.len().div_ceil(count).max(1)).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    merge(draft_all(&chunks, cores))
}

fn draft_all(chunks: &[&[SearchDocument<'_>]], cores: usize) -> Vec<Draft> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut drafts = Vec::new();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(position) else { break drafts };
            drafts.push((position, draft(chunk)));
        }
    };
    let mut drafts = if cores.min(chunks.len()) < 2 {
        work()
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..cores.min(chunks.len())).map(|_| scope.spawn(work)).collect();
            let joined = workers.into_iter().map(|worker| worker.join().expect("building does not panic"));
            joined.flatten().collect()
        })
    };
    drafts.sort_by_key(|(position, _)| *position);
    drafts.into_iter().map(|(_, draft)| draft).collect()
}

/// A shard whose lists are in order of its own sorted terms.
struct Draft {
    documents: u32,
    terms: Vec<Box<str>>,
    every: Lists,
    telling: Lists,
}

fn draft(documents: &[SearchDocument<'_>]) -> Draft {
    let mut drafter = Drafter::default();
    for (document, texts) in (0_u16..).zip(documents) {
        drafter.add(document, texts);
    }
    drafter.finish(documents.len() as u32)
}

#[derive(Default)]
struct Drafter {
    terms: Terms,
    /// The terms of the document being read.
    entries: Vec<Entry>,
    /// Every posting with its term, in order of documents.
    postings: Vec<(u32, Posting)>,
}

/// Numbers terms in order of appearance, and remembers where the document being read has them.
#[derive(Default)]
struct Terms {
    /// The hasher is seeded at random: hub content must not be able to choose terms that collide.
    ids: HashMap<Box<str>, u32>,
    /// For each term, one more than its place in the entries of the document being read; zero when it has
    /// none.
    places: Vec<u32>,
}

struct Entry {
    term: u32,
    occurrences: PerField,
    whole_name: bool,
}

impl Drafter {
    fn add(&mut self, document: u16, texts: &SearchDocument<'_>) {
        let mut scratch = String::new();
        let mut lengths = PerField::default();
        let mut name = String::new();
        let mut read = |field: Field, text: &str, name: Option<&mut String>| {
            lengths[field as usize] += self.read(field, text, &mut scratch, name);
        };
        read(Field::Name, start(texts.name, FIELD_BYTES_MAX), Some(&mut name));
        read(Field::Title, start(texts.title, FIELD_BYTES_MAX), None);
        let mut tags_left = FIELD_BYTES_MAX;
        for tag in texts.tags {
            let tag = start(tag, tags_left);
            tags_left -= tag.len();
            read(Field::Tags, tag, None);
        }
        read(Field::Description, start(texts.description, FIELD_BYTES_MAX), None);
        read(Field::Body, start(texts.body, BODY_BYTES_MAX), None);
        self.mark_whole_name(cut(&name));
        self.post(document, &lengths);
    }

    /// Counts the words of a text and returns how many they are, compounds not counted beside their parts.
    fn read(&mut self, field: Field, text: &str, scratch: &mut String, mut name: Option<&mut String>) -> u32 {
        let mut words = 0;
        for_each_piece(text, CaseChange::Splits, scratch, |piece, word| {
            self.terms.entry(word, &mut self.entries).occurrences[field as usize] += 1;
            match piece {
                Piece::Word => {
                    words += 1;
                    if let Some(name) = name.as_mut() {
                        name.push_str(word);
                    }
                }
                Piece::Compound => {}
            }
        });
        words
    }

    fn mark_whole_name(&mut self, name: &str) {
        if name.is_empty() {
            return;
        }
        let entry = self.terms.entry(name, &mut self.entries);
        let occurrences = &mut entry.occurrences[Field::Name as usize];
        *occurrences = (*occurrences).max(1);
        entry.whole_name = true;
    }

    fn post(&mut self, document: u16, lengths: &PerField) {
        let weights = occurrence_weights(lengths);
        for Entry { term, occurrences, whole_name } in self.entries.drain(..) {
            let fields = Field::ALL.into_iter().filter(|field| occurrences[*field as usize] > 0);
            let bits = fields.fold(0, |bits, field| bits | 1 << field as u8);
            let strength = strength(&occurrences, &weights);
            self.postings
                .push((term, Posting::new(document, strength, FieldSet::from_bits(bits), whole_name)));
            self.terms.places[term as usize] = 0;
        }
    }

    /// Sorts the terms, then deals the postings to their lists, which keeps each list in order of documents.
    fn finish(self, documents: u32) -> Draft {
        let mut terms: Vec<(Box<str>, u32)> = self.terms.ids.into_iter().collect();
        terms.sort_unstable();
        let mut ranks = vec![0_u32; terms.len()];
        for (rank, (_, id)) in (0_u32..).zip(&terms) {
            ranks[*id as usize] = rank;
        }
        let mut starts = vec![0_u32; terms.len() + 1];
        for (term, _) in &self.postings {
            starts[ranks[*term as usize] as usize + 1] += 1;
        }
        for rank in 1..starts.len() {
            starts[rank] += starts[rank - 1];
        }
        let mut free = starts.clone();
        let mut postings = vec![Posting::EMPTY; self.postings.len()];
        for (term, posting) in self.postings {
            let place = &mut free[ranks[term as usize] as usize];
            postings[*place as usize] = posting;
            *place += 1;
        }
        let every = Lists { starts, postings };
        let telling = every.telling();
        Draft { documents, terms: terms.into_iter().map(|(term, _)| term).collect(), every, telling }
    }
}

impl Terms {
    fn entry<'e>(&mut self, word: &str, entries: &'e mut Vec<Entry>) -> &'e mut Entry {
        let term = match self.ids.get(word) {
            Some(&term) => term,
            None => {
                let term = self.places.len() as u32;
                self.ids.insert(word.into(), term);
                self.places.push(0);
                term
            }
        };
        let place = &mut self.places[term as usize];
        if *place == 0 {
            entries.push(Entry { term, occurrences: PerField::default(), whole_name: false });
            *place = entries.len() as u32;
        }
        &mut entries[*place as usize - 1]
    }
}

/// Joins the terms of all drafts into one dictionary. Lists stay where they are: both are sorted the same
/// way.
fn merge(drafts: Vec<Draft>) -> (Dictionary, Vec<Shard>) {
    let mut dictionary = Dictionary::default();
    let mut taken = vec![0_usize; drafts.len()];
    let mut starts: Vec<[Vec<u32>; 2]> = vec![Default::default(); drafts.len()];
    loop {
        let upcoming = drafts.iter().zip(&taken).filter_map(|(draft, &taken)| draft.terms.get(taken));
        let Some(term) = upcoming.min() else { break };
        dictionary.push(term);
        for ((draft, taken), [every, telling]) in drafts.iter().zip(&mut taken).zip(&mut starts) {
            every.push(draft.every.starts[*taken]);
            telling.push(draft.telling.starts[*taken]);
            *taken += usize::from(draft.terms.get(*taken) == Some(term));
        }
    }
    dictionary.shrink();
    let mut first = 0;
    let shards = drafts.into_iter().zip(starts).map(|(draft, [every, telling])| {
        let documents = draft.documents;
        let shard = Shard {
            first,
            documents,
            every: with_starts(draft.every, every),
            telling: with_starts(draft.telling, telling),
        };
        first += documents;
        shard
    });
    (dictionary, shards.collect())
}

fn with_starts(lists: Lists, mut starts: Vec<u32>) -> Lists {
    starts.push(lists.postings.len() as u32);
    starts.shrink_to_fit();
    Lists { starts, postings: lists.postings }
}

fn start(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
