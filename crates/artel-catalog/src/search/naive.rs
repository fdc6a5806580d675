//! The formula once more, without an index: every document is read for every query, and compared with what
//! the index says.
//!
//! Words have three letters, so that none is a prefix, a typo or a plural of another.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Query, SearchDocument, SearchIndex};

type Words = Vec<&'static str>;

const VOCABULARY: [&str; 8] = ["aab", "aba", "bab", "bba", "cac", "cab", "dad", "bad"];

#[derive(Debug, Clone)]
struct Document {
    name: Words,
    title: Words,
    tags: Words,
    description: Words,
    body: Words,
}

impl Document {
    fn fields(&self) -> [(&Words, f64, f64, f64); 5] {
        [
            (&self.name, 8.0, 2.0, 0.5),
            (&self.title, 5.0, 3.0, 0.5),
            (&self.tags, 3.0, 4.0, 0.3),
            (&self.description, 1.5, 20.0, 0.5),
            (&self.body, 0.4, 300.0, 0.6),
        ]
    }

    /// The strength of a term given how often it occurs in each field.
    fn strength(&self, occurrences: impl Fn(usize, &Words) -> usize) -> f64 {
        let mut weighted = 0.0;
        for (number, (words, weight, usual, effect)) in self.fields().into_iter().enumerate() {
            let count = occurrences(number, words) as f64;
            if count > 0.0 {
                weighted +=
                    weight * (1.0 + count.ln()) / (1.0 - effect + effect * words.len() as f64 / usual);
            }
        }
        weighted / (weighted + 1.2)
    }

    fn word_strength(&self, word: &str) -> f64 {
        self.strength(|_, words| words.iter().filter(|other| **other == word).count())
    }

    /// Only names are indexed as one word.
    fn joined_strength(&self, joined: &str) -> f64 {
        self.strength(|number, words| usize::from(number == 0 && words.concat() == joined && words.len() > 1))
    }
}

fn rarity(matched: usize, documents: usize) -> f64 {
    (1.0 + (documents as f64 - matched as f64 + 0.5) / (matched as f64 + 0.5)).ln()
}

/// The scores of all documents for different words; zero for those that do not match.
fn scores(documents: &[Document], query: &[&str]) -> Vec<f64> {
    let count =
        |strength: &dyn Fn(&Document) -> f64| documents.iter().filter(|one| strength(one) > 0.0).count();
    let worth = |word: &str| rarity(count(&|one| one.word_strength(word)), documents.len());
    let worths: Vec<f64> = query.iter().map(|word| worth(word)).collect();
    let mut runs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for length in [2, 3, query.len()] {
        runs.extend((0..=query.len().saturating_sub(length)).map(|start| (start, start + length)));
    }
    runs.retain(|(start, end)| end - start > 1 && *end <= query.len());
    let score = |document: &Document| {
        let mut sum = 0.0;
        let mut best = 0.0;
        let mut covered = BTreeSet::new();
        for (position, (word, worth)) in query.iter().zip(&worths).enumerate() {
            let strength = document.word_strength(word);
            sum += worth * strength;
            if count(&|one| one.word_strength(word)) > 0 {
                best += worth;
            }
            covered.extend((strength > 0.0).then_some(position));
        }
        for &(start, end) in &runs {
            let joined = query[start..end].concat();
            let strength = document.joined_strength(&joined);
            let matched = count(&|one| one.joined_strength(&joined));
            if matched > 0 {
                let worth = rarity(matched, documents.len()) * (end - start) as f64;
                sum += worth * strength;
                best += worth;
            }
            if strength > 0.0 {
                covered.extend(start..end);
            }
        }
        if document.name.concat() == query.concat() {
            let whole =
                document.joined_strength(&query.concat()).max(document.word_strength(&query.concat()));
            sum += 3.0 * best * whole;
        }
        let covered: f64 = covered.into_iter().map(|position| worths[position]).sum();
        sum * (covered / worths.iter().sum::<f64>()).powi(2)
    };
    documents.iter().map(score).collect()
}

fn words(length: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Words> {
    proptest::collection::vec(proptest::sample::select(&VOCABULARY[..]), length)
}

fn document() -> impl Strategy<Value = Document> {
    let fields = (words(1..4), words(0..3), words(0..3), words(0..12), words(0..40));
    fields.prop_map(|(name, title, tags, description, body)| Document {
        name,
        title,
        tags,
        description,
        body,
    })
}

fn query() -> impl Strategy<Value = Words> {
    words(1..5).prop_map(|words| {
        let mut seen = BTreeSet::new();
        words.into_iter().filter(|word| seen.insert(*word)).collect()
    })
}

proptest! {
    #[test]
    fn the_index_says_what_reading_everything_says(
        documents in proptest::collection::vec(document(), 1..12),
        query in query(),
    ) {
        let texts: Vec<(String, String, Vec<String>, String, String)> = documents.iter().map(|one| {
            let tags = one.tags.iter().map(|tag| (*tag).to_owned()).collect();
            (one.name.join("-"), one.title.join(" "), tags, one.description.join(" "), one.body.join(", "))
        }).collect();
        let index = SearchIndex::build(texts.iter().map(|(name, title, tags, description, body)| {
            SearchDocument { name, title, description, tags, body }
        }));
        let found = index.search(&Query::new(&query.join(" ")), 200);
        let mut left = scores(&documents, &query);
        for hit in &found.hits {
            let expected = std::mem::take(&mut left[hit.document as usize]);
            let off = (f64::from(hit.score) - expected).abs();
            prop_assert!(off <= 0.01 * expected + 0.001, "{} for {expected}: {hit:#?}", hit.score);
        }
        prop_assert!(left.iter().all(|score| *score == 0.0), "not found: {left:?}");
    }
}
