//! Tantivy with the documents, fields and queries of our own search benchmark, and the same matches as far as it has them (the
//! word, its beginning, one or two typos). It prints a line for each of two kinds of queries, with its times in microseconds:
//! `whole words` takes words as they are, `tantivy` lets them be unfinished or misspelt as we do.

#[path = "../../../../crates/artel-catalog/benches/search/corpus.rs"]
#[expect(dead_code, reason = "our own benchmark needs more of it")]
mod corpus;

use std::hint::black_box;
use std::time::{Duration, Instant};

use corpus::{Corpus, DOCUMENTS, HITS};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, FuzzyTermQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, Searcher, TantivyDocument, Term};

/// The fields and how much more a match in them counts.
const FIELDS: [(&str, f32); 4] = [("name", 8.0), ("tags", 4.0), ("description", 3.0), ("body", 1.0)];
/// Memory for building.
const WRITER_BYTES: usize = 200_000_000;

fn main() {
    let mut corpus = Corpus::new(DOCUMENTS);
    let queries = corpus.mixed();
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs);
    let options = TextOptions::default().set_indexing_options(indexing);
    let fields = FIELDS.map(|(name, weight)| (schema.add_text_field(name, options.clone()), weight));
    let started = Instant::now();
    let searcher = build(&corpus, schema.build(), fields);
    println!("build {:.2}", started.elapsed().as_secs_f64());
    report("whole words", &searcher, &queries, |word, _| {
        fields.iter().map(|(field, weight)| exact(Term::from_field_text(*field, word), *weight)).collect()
    });
    report("tantivy", &searcher, &queries, |word, is_last| {
        fields.iter().flat_map(|(field, weight)| loose(*field, *weight, word, is_last)).collect()
    });
}

fn build(corpus: &Corpus, schema: Schema, fields: [(Field, f32); 4]) -> Searcher {
    let index = Index::create_in_ram(schema);
    let mut writer = index.writer_with_num_threads(1, WRITER_BYTES).expect("there is memory");
    for text in &corpus.texts {
        let mut document = TantivyDocument::default();
        let [(name, _), (tags, _), (description, _), (body, _)] = fields;
        document.add_text(name, &text.name);
        document.add_text(tags, text.tags.join(" "));
        document.add_text(description, &text.description);
        document.add_text(body, &text.body);
        writer.add_document(document).expect("it can be indexed");
    }
    writer.commit().expect("it can be written");
    // One segment is the best that it can have.
    let segments = index.searchable_segment_ids().expect("there are segments");
    if segments.len() > 1 {
        writer.merge(&segments).wait().expect("segments can be merged");
    }
    index.reader().expect("it can be read").searcher()
}

fn exact(term: Term, weight: f32) -> Box<dyn Query> {
    Box::new(BoostQuery::new(Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)), weight))
}

/// The word, its beginning from three letters on (the last one's from the first), and typos.
fn loose(field: Field, weight: f32, word: &str, is_last: bool) -> Vec<Box<dyn Query>> {
    let term = Term::from_field_text(field, word);
    let mut queries = vec![exact(term.clone(), weight)];
    let typos = match word.len() {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    if is_last || word.len() >= 3 {
        queries.push(Box::new(FuzzyTermQuery::new_prefix(term.clone(), 0, true)));
    }
    if typos > 0 {
        queries.push(Box::new(FuzzyTermQuery::new(term, typos, true)));
    }
    queries
}

fn report(
    title: &str,
    searcher: &Searcher,
    queries: &[String],
    matches: impl Fn(&str, bool) -> Vec<Box<dyn Query>>,
) {
    let mut found = 0;
    let mut times: Vec<Duration> = queries
        .iter()
        .map(|words| {
            let started = Instant::now();
            let last = words.split(' ').count() - 1;
            let each = words.split(' ').enumerate();
            let clauses = each.flat_map(|(place, word)| matches(word, place == last));
            let query = BooleanQuery::new(clauses.map(|query| (Occur::Should, query)).collect());
            let top = TopDocs::with_limit(HITS).order_by_score();
            let (hits, count) = searcher.search(&query, &(top, Count)).expect("it can be searched");
            black_box(hits);
            found += count;
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_micros();
    println!("{title} {} {} {} {} {}", at(0.5), at(0.95), at(0.99), at(1.0), found / queries.len());
}
