//! Searches plain text for the patterns of rules. A pattern is compiled when one of its words first occurs, so that
//! ordinary text costs one pass.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use super::mention::is_mentioned;
use super::normal::Plain;
use crate::scan::rule::Rule;
use crate::scan::rules::TEXT_RULES;
use artel_model::catalog::Severity;

/// A rule about what a text says.
#[derive(Debug)]
pub(in crate::scan) struct TextRule {
    pub(in crate::scan) rule: Rule,
    /// In what kind of text it is looked for.
    pub(in crate::scan) ground: Ground,
    pub(in crate::scan) patterns: &'static [Pattern],
}

/// In what kind of text a rule is looked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::scan) enum Ground {
    /// Only in what an agent reads as instructions.
    Prose,
    /// In code and data too.
    Everything,
}

/// A pattern over plain text.
#[derive(Debug)]
pub(in crate::scan) struct Pattern {
    /// One of these words must occur.
    pub(in crate::scan) words: &'static [&'static str],
    /// The pattern, in ASCII and lower case.
    pub(in crate::scan) regex: &'static str,
    /// How bad it is, when not as its rule says.
    pub(in crate::scan) severity: Option<Severity>,
}

/// Something that a text says.
pub(in crate::scan) struct Said {
    pub(in crate::scan) rule: &'static Rule,
    pub(in crate::scan) severity: Severity,
    /// The row of the original text, from 0.
    pub(in crate::scan) row: usize,
    /// The words, made plain.
    pub(in crate::scan) words: String,
}

/// Matches of one pattern that are looked at.
const MATCHES_MAX: usize = 20;

/// Returns what a text says that rules speak of.
pub(in crate::scan) fn search(plain: &Plain, ground: Ground) -> Vec<Said> {
    let mut found = Vec::new();
    let bytes = plain.text.as_bytes();
    for index in INDEX.occurring(bytes) {
        let entry = &INDEX.entries[index];
        if ground == Ground::Everything && entry.rule.ground == Ground::Prose {
            continue;
        }
        for matched in entry.regex().find_iter(bytes).take(MATCHES_MAX) {
            let usual = entry.pattern.severity.unwrap_or(entry.rule.rule.severity);
            let mentioned = is_mentioned(&plain.text, matched.start(), matched.end());
            found.push(Said {
                rule: &entry.rule.rule,
                severity: if mentioned { usual.min(Severity::Low) } else { usual },
                row: plain.row(matched.start()),
                words: String::from_utf8_lossy(matched.as_bytes()).into_owned(),
            });
        }
    }
    found
}

/// Every pattern, found by its words.
struct Index {
    words: AhoCorasick,
    /// Which pattern a word belongs to.
    owners: Vec<usize>,
    entries: Vec<Entry>,
}

struct Entry {
    rule: &'static TextRule,
    pattern: &'static Pattern,
    regex: OnceLock<Regex>,
}

static INDEX: LazyLock<Index> = LazyLock::new(Index::new);

impl Index {
    fn new() -> Self {
        let each = TEXT_RULES.iter().copied().flatten();
        let entries: Vec<Entry> = each
            .flat_map(|rule| {
                let entry = move |pattern| Entry { rule, pattern, regex: OnceLock::new() };
                rule.patterns.iter().map(entry)
            })
            .collect();
        let mut words: Vec<&str> = Vec::new();
        let mut owners = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            words.extend(entry.pattern.words);
            owners.resize(words.len(), index);
        }
        let words = AhoCorasick::new(words).expect("the words of rules are few and short");
        Self { words, owners, entries }
    }

    /// Returns the patterns of which a word occurs, in the order of the rules.
    fn occurring(&self, bytes: &[u8]) -> Vec<usize> {
        let mut occurs = vec![false; self.entries.len()];
        for found in self.words.find_overlapping_iter(bytes) {
            occurs[self.owners[found.pattern().as_usize()]] = true;
        }
        (0..occurs.len()).filter(|index| occurs[*index]).collect()
    }
}

impl Entry {
    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            // A dot ends a sentence only when a space follows: names of files and hosts hold dots, too.
            let regex = self.pattern.regex.replace(r"[^.\n]", r"(?:[^.\n]|\.[^ \n])");
            let mut builder = RegexBuilder::new(&regex);
            builder.unicode(false).build().expect("a test compiles every pattern")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_words() {
        for entry in &INDEX.entries {
            assert!(!entry.pattern.words.is_empty(), "{}", entry.rule.rule.id);
            entry.regex();
        }
    }
}
