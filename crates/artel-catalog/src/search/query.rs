//! A query: its words in the form in which the index has them. Knows no index.

use super::limits::{JOINED_WORDS_MAX, QUERY_CHARS_MAX, QUERY_WORDS_MAX};
use super::text::{CaseChange, Piece, cut, for_each_piece};

/// How much of the text became the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryExtent {
    /// All of it.
    Whole,
    /// The first [`QUERY_CHARS_MAX`] characters.
    CutAtChars,
    /// The first [`QUERY_WORDS_MAX`] different words.
    CutAtWords,
}

/// The words to search for. Upper and lower case are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    words: Vec<String>,
    joins: Vec<Join>,
    whole: Join,
    last: usize,
    extent: QueryExtent,
}

/// Adjacent words written as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Join {
    pub(super) text: String,
    /// The joined words, for people.
    pub(super) spaced: String,
    /// A bit for each word of the query it is made of.
    pub(super) covers: u16,
}

impl Query {
    /// Returns the query for a text that a person typed.
    pub fn new(text: &str) -> Self {
        let chars_end = text.char_indices().nth(QUERY_CHARS_MAX).map_or(text.len(), |(at, _)| at);
        let mut extent = if chars_end < text.len() { QueryExtent::CutAtChars } else { QueryExtent::Whole };
        let mut words: Vec<String> = Vec::new();
        let mut sequence: Vec<usize> = Vec::new();
        for_each_piece(&text[..chars_end], CaseChange::Ignored, &mut String::new(), |piece, word| {
            let position = words.iter().position(|known| known == word);
            match (piece, position) {
                (Piece::Compound, _) => {}
                (Piece::Word, Some(position)) => sequence.push(position),
                (Piece::Word, None) if words.len() < QUERY_WORDS_MAX => {
                    sequence.push(words.len());
                    words.push(word.to_owned());
                }
                (Piece::Word, None) => extent = QueryExtent::CutAtWords,
            }
        });
        Self {
            joins: joins(&words, &sequence),
            whole: join(&words, &sequence),
            last: sequence.last().copied().unwrap_or(0),
            words,
            extent,
        }
    }

    /// Returns the different words, in order of their first appearance.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// Returns whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns how much of the text became the query.
    pub fn extent(&self) -> QueryExtent {
        self.extent
    }

    /// The position of the word that the person typed last, and may still be typing.
    pub(super) fn last(&self) -> usize {
        self.last
    }

    /// The adjacent words that might be written as one.
    pub(super) fn joins(&self) -> &[Join] {
        &self.joins
    }

    /// The whole query as one word, as the index has whole names.
    pub(super) fn whole(&self) -> &Join {
        &self.whole
    }
}

/// Every run of two to [`JOINED_WORDS_MAX`] adjacent words, and all words when they are more.
fn joins(words: &[String], sequence: &[usize]) -> Vec<Join> {
    let runs = (2..=JOINED_WORDS_MAX).flat_map(|length| sequence.windows(length));
    let all = (sequence.len() > JOINED_WORDS_MAX).then_some(sequence);
    let mut joins: Vec<Join> = runs.chain(all).map(|run| join(words, run)).collect();
    joins.sort_by(|a, b| a.text.cmp(&b.text));
    joins.dedup_by(|a, b| a.text == b.text);
    joins
}

fn join(words: &[String], run: &[usize]) -> Join {
    let parts: Vec<&str> = run.iter().map(|&word| words[word].as_str()).collect();
    Join {
        text: cut(&parts.concat()).to_owned(),
        spaced: parts.join(" "),
        covers: run.iter().fold(0, |bits, word| bits | 1 << word),
    }
}

#[cfg(test)]
mod tests {
    use super::{Query, QueryExtent};

    #[test]
    fn words_are_split_and_known_once() {
        let query = Query::new("Fetch-Object, fetch THE fetchObject");
        assert_eq!(query.words().collect::<Vec<_>>(), ["fetch", "object", "the", "fetchobject"]);
        assert_eq!(query.extent(), QueryExtent::Whole);
        assert!(Query::new(" ... --- \t").is_empty());
        assert!(Query::new("").is_empty());
    }

    #[test]
    fn a_cut_is_told() {
        let long = "a".repeat(401);
        assert_eq!(Query::new(&long[..400]).extent(), QueryExtent::Whole);
        assert_eq!(Query::new(&long).extent(), QueryExtent::CutAtChars);
        let many: Vec<String> = (0..17).map(|number| format!("w{number}")).collect();
        assert_eq!(Query::new(&many[..16].join(" ")).extent(), QueryExtent::Whole);
        assert_eq!(Query::new(&many.join(" ")).extent(), QueryExtent::CutAtWords);
        assert_eq!(Query::new(&many.join(" ")).words().count(), 16);
    }

    #[test]
    fn adjacent_words_are_joined() {
        let query = Query::new("git hub actions");
        let joins: Vec<&str> = query.joins().iter().map(|join| join.text.as_str()).collect();
        assert_eq!(joins, ["github", "githubactions", "hubactions"]);
        assert_eq!(query.joins()[0].covers, 0b011);
        assert_eq!(query.joins()[0].spaced, "git hub");
        assert_eq!(query.whole().text, "githubactions");
    }
}
