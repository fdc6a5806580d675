//! How long the search index takes to build and to answer, on a corpus that this program makes up the same
//! every time.
//!
//! 100,000 documents by default (an argument that is a number is another count): a name, a description of
//! about 20 words and a body of about 300, from a vocabulary of 20,000 words in a Zipf distribution. It
//! prints numbers and judges nothing.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use artel_catalog::search::{DocumentSet, Query, SearchDocument, SearchIndex, Window};

const DOCUMENTS: usize = 100_000;
const VOCABULARY: usize = 20_000;
const QUERIES: usize = 2_000;
const HITS: usize = 20;

fn main() {
    let documents = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(DOCUMENTS);
    let mut random = Random(0x5eed);
    let language = Language::new(&mut random);
    let corpus: Vec<Text> = (0..documents).map(|_| Text::new(&language, &mut random)).collect();
    let bytes: usize =
        corpus.iter().map(|text| text.name.len() + text.description.len() + text.body.len()).sum();
    println!("corpus: {documents} documents, {} MB of text, {} MB resident", megabytes(bytes), resident());

    let started = Instant::now();
    let index = SearchIndex::build(corpus.iter().map(Text::document));
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
        for kind in [Kind::Exact, Kind::Common, Kind::Prefix, Kind::FirstLetter, Kind::Typo, Kind::Mixed] {
            let queries = queries(&language, &mut random, kind, words);
            report(&format!("{words} words, {kind:?}"), &queries, |query| index.search(query, HITS).total);
        }
    }
    let mixed: Vec<Query> =
        (1..=4).flat_map(|words| queries(&language, &mut random, Kind::Mixed, words)).collect();
    report("1-4 words, Mixed", &mixed, |query| index.search(query, HITS).total);
    report("1-4 words, Mixed, 200 hits", &mixed, |query| index.search(query, 200).total);
    let window = Window { offset: 0, limit: HITS };
    report("1-4 words, Mixed, half the view", &mixed, |query| {
        index.search_within(query, &half, window).total
    });
    let longest = queries(&language, &mut random, Kind::Common, 60);
    report("60 words, of which 16 count, Common", &longest, |query| index.search(query, HITS).total);
    println!("{} MB resident at the end", resident());
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

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Words of any frequency, each as likely as the other.
    Exact,
    /// Words as they are used, so mostly frequent ones.
    Common,
    /// The last word is not finished.
    Prefix,
    /// Only the first letter of the last word is there.
    FirstLetter,
    /// Every word has a typo.
    Typo,
    /// Each word is any of these.
    Mixed,
}

fn queries(language: &Language, random: &mut Random, kind: Kind, words: usize) -> Vec<Query> {
    let query = |random: &mut Random| {
        let typed: Vec<String> =
            (1..=words).map(|position| typed(language, random, kind, position == words)).collect();
        Query::new(&typed.join(" "))
    };
    (0..QUERIES / 4).map(|_| query(random)).collect()
}

fn typed(language: &Language, random: &mut Random, kind: Kind, last: bool) -> String {
    match kind {
        Kind::Exact => language.words[random.below(VOCABULARY)].clone(),
        Kind::Common => language.word(random).to_owned(),
        Kind::Prefix | Kind::FirstLetter if !last => language.word(random).to_owned(),
        Kind::Prefix => {
            let word = language.word(random);
            word[..word.len().min(2 + random.below(4))].to_owned()
        }
        Kind::FirstLetter => language.word(random)[..1].to_owned(),
        Kind::Typo => misspelt(&language.words[random.below(VOCABULARY)], random),
        Kind::Mixed => {
            let kinds = [Kind::Exact, Kind::Common, Kind::Prefix, Kind::FirstLetter, Kind::Typo];
            let kind = kinds[random.below(kinds.len())];
            typed(language, random, kind, last)
        }
    }
}

/// One edit, two for long words.
fn misspelt(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    for _ in 0..if letters.len() >= 9 { 2 } else { 1 } {
        let at = random.below(letters.len() - 1);
        match random.below(4) {
            0 => letters.swap(at, at + 1),
            1 => letters[at] = 'q',
            2 => letters.insert(at, 'x'),
            _ => {
                letters.remove(at);
            }
        }
    }
    letters.into_iter().collect()
}

struct Text {
    name: String,
    description: String,
    tags: Vec<String>,
    body: String,
}

impl Text {
    fn new(language: &Language, random: &mut Random) -> Self {
        let name_words = 2 + random.below(2);
        let name: Vec<&str> =
            (0..name_words).map(|_| language.words[random.below(VOCABULARY)].as_str()).collect();
        Self {
            name: name.join("-"),
            description: language.text(random, 20),
            tags: (0..2).map(|_| language.word(random).to_owned()).collect(),
            body: language.text(random, 300),
        }
    }

    fn document(&self) -> SearchDocument<'_> {
        let Self { name, description, tags, body } = self;
        SearchDocument { name, title: "", description, tags, body }
    }
}

/// Made-up words, the most frequent first.
struct Language {
    words: Vec<String>,
    /// The share of a text that the words up to each position make up.
    shares: Vec<f64>,
}

impl Language {
    fn new(random: &mut Random) -> Self {
        let mut known = std::collections::BTreeSet::new();
        let mut words = Vec::new();
        while words.len() < VOCABULARY {
            // Frequent words are short, as in any language.
            let syllables = 1 + usize::from(words.len() > 100) + random.below(3);
            let word: String = (0..syllables).map(|_| syllable(random)).collect();
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=VOCABULARY)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Self { words, shares: sums.into_iter().map(|part| part / sum).collect() }
    }

    fn word(&self, random: &mut Random) -> &str {
        let share = random.share();
        &self.words[self.shares.partition_point(|upto| *upto < share).min(VOCABULARY - 1)]
    }

    /// About so many words: between half and one and a half times.
    fn text(&self, random: &mut Random, words: usize) -> String {
        let count = words / 2 + random.below(words + 1);
        let words: Vec<&str> = (0..count).map(|_| self.word(random)).collect();
        words.join(" ")
    }
}

fn syllable(random: &mut Random) -> String {
    const BEGINNINGS: [&str; 24] = [
        "b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "pr",
        "s", "t", "c", "a", "in",
    ];
    const MIDDLES: [&str; 8] = ["a", "e", "i", "o", "u", "e", "a", "ou"];
    const ENDS: [&str; 10] = ["", "", "", "n", "r", "s", "t", "l", "m", "ck"];
    let [beginning, middle, end] = [random.of(&BEGINNINGS), random.of(&MIDDLES), random.of(&ENDS)];
    format!("{beginning}{middle}{end}")
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
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
