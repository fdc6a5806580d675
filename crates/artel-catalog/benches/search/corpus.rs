//! The made-up documents and queries of the search benchmark, the same every time. Knows no index: the program that
//! measures another search engine includes this file.

/// Documents there are.
pub(crate) const DOCUMENTS: usize = 100_000;
/// Hits that are asked for.
pub(crate) const HITS: usize = 20;
const VOCABULARY: usize = 20_000;
const QUERIES: usize = 2_000;
/// What all random numbers follow from.
const START: u64 = 0x5eed;

/// Kinds of queries, in the order in which they are measured.
pub(crate) const KINDS: [Kind; 6] =
    [Kind::Exact, Kind::Common, Kind::Prefix, Kind::FirstLetter, Kind::Typo, Kind::Mixed];

/// Everything that is made up.
pub(crate) struct Corpus {
    pub(crate) language: Language,
    pub(crate) texts: Vec<Text>,
    /// What follows from here on.
    pub(crate) random: Random,
}

impl Corpus {
    /// Makes up that many documents.
    pub(crate) fn new(documents: usize) -> Self {
        let mut random = Random(START);
        let language = Language::new(&mut random);
        let texts = (0..documents).map(|_| Text::new(&language, &mut random)).collect();
        Self { language, texts, random }
    }

    /// Makes up queries of one to four words of any kind.
    pub(crate) fn mixed(&mut self) -> Vec<String> {
        (1..=4).flat_map(|words| queries(&self.language, &mut self.random, Kind::Mixed, words)).collect()
    }
}

/// What the words of a query are like.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
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

/// Makes up queries of that many words.
pub(crate) fn queries(language: &Language, random: &mut Random, kind: Kind, words: usize) -> Vec<String> {
    let query = |random: &mut Random| {
        let typed: Vec<String> =
            (1..=words).map(|position| typed(language, random, kind, position == words)).collect();
        typed.join(" ")
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

/// A document.
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
    pub(crate) body: String,
}

impl Text {
    /// Makes one up.
    pub(crate) fn new(language: &Language, random: &mut Random) -> Self {
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
}

/// Made-up words, the most frequent first.
pub(crate) struct Language {
    words: Vec<String>,
    /// The share of a text that the words up to each position make up.
    shares: Vec<f64>,
}

impl Language {
    /// Makes one up.
    pub(crate) fn new(random: &mut Random) -> Self {
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
pub(crate) struct Random(pub(crate) u64);

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
