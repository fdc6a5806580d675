//! A request into clauses, each of which asks for one thing. Knows skills only by the words they begin with.

use std::collections::BTreeSet;

use super::number::number;
use super::words::{Form, Mark, Word};

/// Clauses that are read; the rest is left out.
const CLAUSES_MAX: usize = 50;
/// What joins one thing to do to the next.
const CONNECTORS: &[&str] = &["then", "afterwards", "afterward", "finally", "lastly", "subsequently"];
/// What people say before they say what they want.
const FILLERS: &[&str] = &[
    "also", "can", "could", "first", "firstly", "hello", "hey", "hi", "i", "just", "kindly", "let", "let's",
    "lets", "like", "need", "next", "now", "ok", "okay", "please", "should", "so", "to", "want", "we",
    "would", "you",
];
const BULLETS: &[&str] = &["-", "*", "\u{2022}", "\u{2013}"];

/// A part of a request that asks for one thing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Clause {
    pub(super) words: Vec<Word>,
    pub(super) joined: Joined,
}

/// How a clause goes on from the one before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Joined {
    /// As another sentence, which stands for itself.
    Apart,
    /// As what comes next.
    Next,
}

/// Splits a request. `verbs` are the words that begin what skills do.
pub(super) fn clauses(words: &[Word], verbs: &BTreeSet<String>) -> Vec<Clause> {
    let mut split = Split { clauses: Vec::new(), words: Vec::new(), joined: Joined::Apart };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let next = words.get(at + 1);
        if word.is_one_of(CONNECTORS) || is_after_that(word, next) {
            split.end(Joined::Next);
            at += if word.is_one_of(CONNECTORS) { 1 } else { 2 };
        } else if split.words.is_empty() && is_list_mark(word) {
            // Items of a list come one after the other.
            split.joined = if split.clauses.is_empty() { Joined::Apart } else { Joined::Next };
            at += 1;
        } else if word.is_one_of(&["and"]) && next.is_some_and(|next| verbs.contains(&next.key)) {
            split.end(Joined::Next);
            at += 1;
        } else {
            split.words.push(word.clone());
            match word.mark {
                Mark::Stop if !is_abbreviation(word) => split.end(Joined::Apart),
                Mark::Break => split.end(Joined::Next),
                Mark::Comma if next.is_some_and(|next| verbs.contains(&next.key)) => {
                    split.end(Joined::Next);
                }
                Mark::Stop | Mark::Comma | Mark::Colon | Mark::Equals | Mark::None => {}
            }
            at += 1;
        }
    }
    split.end(Joined::Apart);
    split.clauses.truncate(CLAUSES_MAX);
    split.clauses
}

struct Split {
    clauses: Vec<Clause>,
    words: Vec<Word>,
    joined: Joined,
}

impl Split {
    /// Ends a clause; the next one is joined to it as said. Without any words, only how the next is joined changes.
    fn end(&mut self, next: Joined) {
        let trailing = self.words.iter().rev().take_while(|word| word.is_one_of(&["and", "but"])).count();
        self.words.truncate(self.words.len() - trailing);
        let fillers = self.words.iter().take_while(|word| word.is_one_of(FILLERS)).count();
        if self.words.len() > fillers {
            let words = self.words.split_off(fillers);
            self.clauses.push(Clause { words, joined: self.joined });
        }
        self.words.clear();
        self.joined = if self.clauses.is_empty() { Joined::Apart } else { next };
    }
}

fn is_after_that(word: &Word, next: Option<&Word>) -> bool {
    word.is_one_of(&["after"]) && next.is_some_and(|next| next.is_one_of(&["that", "this"]))
}

fn is_list_mark(word: &Word) -> bool {
    let is_number = word.mark == Mark::Stop && number(&word.key).is_some();
    let is_braced = word.text.len() <= 4 && word.text.ends_with(')') && word.form == Form::Plain;
    is_number || is_braced || word.is_one_of(BULLETS)
}

fn is_abbreviation(word: &Word) -> bool {
    matches!(word.key.as_str(), "e.g" | "i.e" | "etc" | "mr" | "mrs" | "dr" | "vs")
        || number(&word.key).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let verbs = ["roll", "detect", "grasp"].map(str::to_owned).into();
        let shown = clauses(&words(text), &verbs).into_iter().map(|clause| {
            let words: Vec<String> = clause.words.into_iter().map(|word| word.text).collect();
            match clause.joined {
                Joined::Apart => words.join(" "),
                Joined::Next => format!("> {}", words.join(" ")),
            }
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" | "), expected, "{text:?}");
    }

    #[test]
    fn a_request_is_split_where_the_next_thing_begins() {
        check("go to the kitchen, then detect what is there", "go to the kitchen | > detect what is there");
        check("Please go home and then roll 2d6.", "go home | > roll 2d6");
        check("go; look", "go | > look");
        check("1. go there\n2. look around\n3) grasp it", "go there | > look around | > grasp it");
        check("- go there\n- look", "go there | > look");
        check("I am here. Roll 2d6!", "am here | Roll 2d6");
        check("look, detect the cup and grasp it", "look | > detect the cup | > grasp it");
        check("buy salt and pepper, milk", "buy salt and pepper milk");
        check("go. After that, look", "go | > look");
        check("say \"go; then look\"", "say go; then look");
        check("please", "");
        check("then then ; .", "");
        check("wait 2.5 hours", "wait 2.5 hours");
    }
}
