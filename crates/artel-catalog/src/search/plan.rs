//! What in the dictionary could answer a query: for each word the terms that match it, and how well. No
//! scores.

use std::ops::Range;

use super::dictionary::Dictionary;
use super::explain::MatchKind;
use super::posting::{Lists, Posting, Shard};
use super::query::Query;

/// Words shorter than this match by prefix only while they are typed, and only in the telling fields.
const PREFIX_LETTERS_MIN: usize = 3;

/// Something in the query that a document can have: a word, words written as one, or the whole query as its
/// name.
#[derive(Debug)]
pub(super) struct Clue {
    /// As a person wrote it.
    pub(super) text: String,
    /// A bit for each word of the query that a match accounts for.
    pub(super) covers: u16,
    /// Ways to match, the strongest first. The best one counts for each document.
    pub(super) ways: Vec<Way>,
}

/// One way to match a clue: terms that are alike in kind and share one rarity.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) terms: Vec<Terms>,
    pub(super) scope: Scope,
    /// What a full match is worth; known once the documents that match are counted.
    pub(super) worth: f32,
}

/// Neighbouring terms of the dictionary that match in the same manner.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub(super) ids: Range<u32>,
    pub(super) kind: MatchKind,
}

/// Where in a document a term counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Anywhere,
    /// In the name, the title or a tag.
    Telling,
    /// As the whole name.
    WholeName,
}

impl Way {
    fn new(scope: Scope, terms: Vec<Terms>) -> Self {
        Self { terms, scope, worth: 0.0 }
    }
}

impl Scope {
    /// The lists in which all postings of this scope are, among others perhaps.
    pub(super) fn lists(self, shard: &Shard) -> &Lists {
        match self {
            Self::Anywhere => &shard.every,
            Self::Telling | Self::WholeName => &shard.telling,
        }
    }

    /// Whether a posting of those lists is of this scope.
    pub(super) fn admits(self, posting: Posting) -> bool {
        match self {
            Self::Anywhere | Self::Telling => true,
            Self::WholeName => posting.is_whole_name(),
        }
    }
}

/// The word itself and its other number, then longer words that begin with it. Typos are asked for
/// separately.
pub(super) fn word_clue(dictionary: &Dictionary, query: &Query, position: usize, word: &str) -> Clue {
    let exact = dictionary.find(word).map(|id| one(id, MatchKind::Exact));
    let inflected = other_numbers(word).into_iter().filter_map(|form| dictionary.find(&form));
    let same = exact.into_iter().chain(inflected.map(|id| one(id, MatchKind::Inflected))).collect();
    let same = Way::new(Scope::Anywhere, same);

    let long_enough = word.chars().count() >= PREFIX_LETTERS_MIN;
    let scope = if long_enough { Scope::Anywhere } else { Scope::Telling };
    let mut longer = Way::new(scope, Vec::new());
    if long_enough || position == query.last() {
        longer.terms.push(Terms { ids: dictionary.longer_than(word), kind: MatchKind::Prefix });
    }
    Clue { text: word.to_owned(), covers: 1 << position, ways: vec![same, longer] }
}

/// The terms that the word may have been meant to be.
pub(super) fn typo_way(dictionary: &Dictionary, word: &str) -> Way {
    let edits_max = match word.chars().count() {
        _ if !word.contains(char::is_alphabetic) => 0,
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    let similar = if edits_max == 0 { Vec::new() } else { dictionary.similar(word, edits_max) };
    let typos =
        similar.into_iter().map(|(id, distance)| one(id, MatchKind::Typo { distance: distance as u8 }));
    Way::new(Scope::Anywhere, typos.collect())
}

/// Adjacent words that the index has as one.
pub(super) fn joined_clues(dictionary: &Dictionary, query: &Query) -> Vec<Clue> {
    let known = query.joins().iter().filter_map(|join| Some((join, dictionary.find(&join.text)?)));
    let clue = known.map(|(join, id)| Clue {
        text: join.spaced.clone(),
        covers: join.covers,
        ways: vec![Way::new(Scope::Anywhere, vec![one(id, MatchKind::Joined)])],
    });
    clue.collect()
}

/// The query as the whole name of a document.
pub(super) fn whole_name_clue(dictionary: &Dictionary, query: &Query) -> Option<Clue> {
    let whole = query.whole();
    let id = dictionary.find(&whole.text)?;
    let way = Way::new(Scope::WholeName, vec![one(id, MatchKind::WholeName)]);
    Some(Clue { text: whole.spaced.clone(), covers: whole.covers, ways: vec![way] })
}

/// How well a term of so many letters matches a word of so many letters, from 0 to 1.
pub(super) fn closeness(kind: MatchKind, word_letters: usize, term_letters: u8) -> f32 {
    match kind {
        MatchKind::Exact | MatchKind::Joined | MatchKind::WholeName => 1.0,
        MatchKind::Inflected => 0.9,
        MatchKind::Prefix => 0.3 + 0.4 * word_letters as f32 / f32::from(term_letters.max(1)),
        MatchKind::Typo { distance: 0 | 1 } => 0.35,
        MatchKind::Typo { distance: _ } => 0.2,
    }
}

fn one(id: u32, kind: MatchKind) -> Terms {
    Terms { ids: id..id + 1, kind }
}

/// English plurals of a singular and singulars of a plural. Forms that do not exist are in no dictionary.
fn other_numbers(word: &str) -> Vec<String> {
    let letters = word.chars().count();
    if letters < 3 || !word.ends_with(|last: char| last.is_ascii_lowercase()) {
        return Vec::new();
    }
    let mut forms = vec![format!("{word}s"), format!("{word}es")];
    if let Some(stem) = word.strip_suffix('y') {
        forms.push(format!("{stem}ies"));
    }
    let ends_as_singular = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if letters > 3 && !ends_as_singular {
        forms.extend(word.strip_suffix('s').map(str::to_owned));
        forms.extend(word.strip_suffix("ies").map(|stem| format!("{stem}y")));
        let endings = ["ches", "shes", "sses", "xes", "zes"];
        if endings.iter().any(|ending| word.ends_with(ending)) {
            forms.extend(word.strip_suffix("es").map(str::to_owned));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::other_numbers;

    #[test]
    fn singular_and_plural_know_each_other() {
        for (one, many) in [("skill", "skills"), ("query", "queries"), ("box", "boxes"), ("class", "classes")]
        {
            assert!(other_numbers(one).contains(&many.to_owned()), "{one}: {:?}", other_numbers(one));
            assert!(other_numbers(many).contains(&one.to_owned()), "{many}: {:?}", other_numbers(many));
        }
        for (word, no) in
            [("redis", "redi"), ("class", "clas"), ("status", "statu"), ("css", "cs"), ("aws", "aw")]
        {
            assert!(!other_numbers(word).contains(&no.to_owned()), "{word}: {:?}", other_numbers(word));
        }
    }
}
