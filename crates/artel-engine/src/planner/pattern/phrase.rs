//! The words of one clause, which of them are spoken for, and pieces of them as values. Knows nothing of schemas.

use std::ops::Range;

use super::words::{Form, Mark, Word};

/// Words of a name in a sentence.
const NAME_WORDS_MAX: usize = 8;
/// Where a name in a sentence ends.
const ENDS: &[&str] = &[
    "about", "and", "as", "at", "because", "by", "for", "from", "in", "inside", "into", "is", "of", "on",
    "or", "since", "so", "that", "to", "toward", "towards", "under", "when", "which", "while", "who", "with",
    "without",
];
/// What stands between a verb and what it is done to.
const PARTICLES: &[&str] = &["all", "down", "me", "out", "that", "up", "us"];
/// What begins a question, which asks about a thing and does nothing to it.
const QUESTIONS: &[&str] = &[
    "are", "did", "do", "does", "has", "have", "how", "is", "was", "were", "what", "what's", "when", "where",
    "which", "who", "why",
];

/// Words of a clause that were taken as a value, and how telling that is, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) words: Range<usize>,
    pub(super) strength: f32,
}

/// A clause that is being read.
#[derive(Clone, Debug)]
pub(super) struct Reading<'a> {
    pub(super) words: &'a [Word],
    pub(super) taken: Vec<Span>,
}

/// Whether `the` and `a` belong to a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Articles {
    Kept,
    Dropped,
}

impl<'a> Reading<'a> {
    pub(super) fn new(words: &'a [Word]) -> Self {
        Self { words, taken: Vec::new() }
    }

    pub(super) fn is_free(&self, at: usize) -> bool {
        at < self.words.len() && !self.taken.iter().any(|span| span.words.contains(&at))
    }

    pub(super) fn are_free(&self, words: Range<usize>) -> bool {
        words.clone().all(|at| self.is_free(at)) && !words.is_empty()
    }

    pub(super) fn take(&mut self, words: Range<usize>, strength: f32) {
        self.taken.push(Span { words, strength });
    }

    /// Returns where these words stand one after the other, `-` and spaces being alike.
    pub(super) fn find(&self, wanted: &[String], from: usize) -> Option<Range<usize>> {
        (from..self.words.len()).find_map(|start| {
            let end = self.end_of(wanted, start)?;
            Some(start..end)
        })
    }

    fn end_of(&self, wanted: &[String], start: usize) -> Option<usize> {
        let (mut at, mut rest) = (start, wanted);
        while !rest.is_empty() {
            let own = super::property::parts(&self.words.get(at)?.key);
            let matches =
                own.len() <= rest.len() && own.iter().zip(rest).all(|(own, wanted)| alike(own, wanted));
            if own.is_empty() || !matches {
                return None;
            }
            rest = &rest[own.len()..];
            at += 1;
        }
        (at > start).then_some(at)
    }

    /// Returns the words from `start` on that name one thing, and whatever precedes the name is skipped.
    pub(super) fn name_from(&self, start: usize, articles: Articles) -> Option<Range<usize>> {
        let mut begin = start;
        while articles == Articles::Dropped && self.words.get(begin).is_some_and(Word::is_article) {
            begin += 1;
        }
        if self.words.get(begin).is_some_and(|word| word.is_pronoun() && !word.is_article()) {
            return None;
        }
        let mut end = begin;
        while end < self.words.len() && end - begin < NAME_WORDS_MAX {
            let word = &self.words[end];
            // What has a colon or an equals sign behind it is the name of the next value.
            let is_name = end > begin && matches!(word.mark, Mark::Colon | Mark::Equals);
            if is_name || !self.is_free(end) || (word.is_one_of(ENDS) && !(end == begin && word.is_article()))
            {
                break;
            }
            end += 1;
            if word.mark != Mark::None || word.form == Form::Quoted {
                break;
            }
        }
        let named =
            self.words[begin.min(end)..end].iter().any(|word| !word.is_article() && !word.is_pronoun());
        named.then_some(begin..end)
    }

    /// Returns the free words from `start` to the end of the clause, or until one of `ends`.
    pub(super) fn rest_from(&self, start: usize, ends: &[&str]) -> Option<Range<usize>> {
        let is_in = |at: &usize| self.is_free(*at) && !self.words[*at].is_one_of(ends);
        let end = (start..self.words.len()).take_while(is_in).last()? + 1;
        Some(start..end)
    }

    /// Returns where what the verb is done to begins; questions do nothing to anything.
    pub(super) fn object_start(&self) -> Option<usize> {
        if self.words.first()?.is_one_of(QUESTIONS) {
            return None;
        }
        let particles = self.words[1..].iter().take_while(|word| word.is_one_of(PARTICLES)).count();
        Some(1 + particles)
    }

    /// Returns the words as they were written.
    pub(super) fn text(&self, words: Range<usize>) -> String {
        let without_possessive = |word: &'a Word| match word.form {
            Form::Possessive => word.text.trim_end_matches('s').trim_end_matches(['\'', '\u{2019}']),
            Form::Plain | Form::Quoted => &word.text,
        };
        let mut text = String::new();
        for (place, next) in self.words[words.clone()].iter().enumerate() {
            if place > 0 {
                text.push_str(if self.words[words.start + place - 1].mark == Mark::Comma {
                    ", "
                } else {
                    " "
                });
            }
            // Only the last word of a value loses its possessive.
            let is_last = place + 1 == words.len();
            text.push_str(if is_last { without_possessive(next) } else { &next.text });
        }
        text
    }
}

/// Returns whether two words are the same but for a plural.
fn alike(one: &str, other: &str) -> bool {
    one == other || one.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(one)
}
