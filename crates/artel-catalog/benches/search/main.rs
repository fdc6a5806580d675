//! How long the search index takes to build and to answer, on a corpus that this program makes up the same
//! every time.
//!
//! 100,000 documents by default (an argument that is a number is another count): a name, a description of
//! about 20 words and a body of about 300, from a vocabulary of 20,000 words in a Zipf distribution. It
//! prints numbers and judges nothing.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod corpus;

use std::hint::black_box;
use std::time::{Duration, Instant};

use artel_catalog::search::{DocumentSet, Query, SearchDocument, SearchIndex, Window};
use corpus::{Corpus, DOCUMENTS, HITS, KINDS, Kind, Text, queries};

fn main() {
    let documents = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(DOCUMENTS);
    let mut corpus = Corpus::new(documents);
    let mixed = parsed(&corpus.mixed());
    let Corpus { language, texts, mut random } = corpus;
    let bytes: usize =
        texts.iter().map(|text| text.name.len() + text.description.len() + text.body.len()).sum();
    println!("corpus: {documents} documents, {} MB of text, {} MB resident", megabytes(bytes), resident());

    let started = Instant::now();
    let index = SearchIndex::build(texts.iter().map(document));
    let took = started.elapsed();
    println!(
        "build: {:.2} s, {:.0} MB/s, {} terms, index {} MB, {} MB resident",
        took.as_secs_f64(),
        megabytes(bytes) / took.as_secs_f64(),
        index.terms(),
        megabytes(index.heap_bytes()),
        resident()
    );

    println!(
        "{:<36} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "queries", "p50 us", "p95 us", "p99 us", "max us", "mean hits"
    );
    let half: DocumentSet = (0..documents as u32).filter(|document| document % 2 == 0).collect();
    for words in 1..=4 {
        for kind in KINDS {
            let queries = parsed(&queries(&language, &mut random, kind, words));
            report(&format!("{words} words, {kind:?}"), &queries, |query| index.search(query, HITS).total);
        }
    }
    report("1-4 words, Mixed", &mixed, |query| index.search(query, HITS).total);
    report("1-4 words, Mixed, 200 hits", &mixed, |query| index.search(query, 200).total);
    let window = Window { offset: 0, limit: HITS };
    report("1-4 words, Mixed, half the view", &mixed, |query| {
        index.search_within(query, &half, window).total
    });
    let longest = parsed(&queries(&language, &mut random, Kind::Common, 60));
    report("60 words, of which 16 count, Common", &longest, |query| index.search(query, HITS).total);
    println!("{} MB resident at the end", resident());
}

fn parsed(queries: &[String]) -> Vec<Query> {
    queries.iter().map(|words| Query::new(words)).collect()
}

fn document(text: &Text) -> SearchDocument<'_> {
    let Text { name, description, tags, body } = text;
    SearchDocument { name, title: "", description, tags, body }
}

fn report(title: &str, queries: &[Query], search: impl Fn(&Query) -> usize) {
    let mut found = 0;
    let mut times: Vec<Duration> = queries
        .iter()
        .map(|query| {
            let started = Instant::now();
            found += black_box(search(black_box(query)));
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_micros();
    let mean = found / queries.len();
    println!("{title:<36} {:>9} {:>9} {:>9} {:>9} {mean:>9}", at(0.5), at(0.95), at(0.99), at(1.0));
}

fn megabytes(bytes: usize) -> f64 {
    (bytes as f64 / 1e5).round() / 10.0
}

/// Memory of this process in MB, or 0 where `/proc` does not say.
fn resident() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.and_then(|pages| pages.split(' ').nth(1)?.parse::<usize>().ok());
    megabytes(resident.unwrap_or(0) * 4096)
}
