//! How well something fits a clause: which of its words are about the skill, and which became values. Pure.

use std::collections::BTreeMap;

use artel_catalog::search::{Field, Hit, MatchKind, TermMatch};

use super::phrase::Span;
use super::property::parts;
use super::words::{Form, Word};

/// The least share of a clause that must be understood.
pub(super) const COVERAGE_MIN: f32 = 0.4;
/// The least that a word must say about a skill, so that values alone never choose one.
pub(super) const EVIDENCE_MIN: f32 = 0.5;
/// From here on a word names the skill.
const NAMING: f32 = 0.8;
/// What a word that became a value counts, compared to one that did not.
const VALUE_SHARE: f32 = 0.5;

/// What the words of a clause say about one target, from 0 to 1.
pub(super) struct Vocabulary(BTreeMap<String, f32>);

/// How well a target fits a clause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weight {
    /// The share of the clause that is understood.
    pub(super) coverage: f32,
    /// The most that one word says about the skill.
    pub(super) evidence: f32,
}

impl Vocabulary {
    pub(super) fn new(hit: &Hit) -> Self {
        let mut strengths = BTreeMap::new();
        for found in &hit.explanation {
            for word in found.word.split(' ') {
                let known = strengths.entry(word.to_owned()).or_insert(0.0_f32);
                *known = known.max(strength(found));
            }
        }
        Self(strengths)
    }

    /// Returns how much a word says about the skill.
    pub(super) fn of(&self, word: &Word) -> f32 {
        if word.is_stop_word() || word.form == Form::Quoted {
            return 0.0;
        }
        let whole = self.0.get(&word.key).copied();
        let pieces = parts(&word.key).into_iter().filter_map(|part| self.0.get(&part).copied());
        whole.into_iter().chain(pieces).fold(0.0, f32::max)
    }

    /// Returns whether a word names the skill.
    pub(super) fn names(&self, word: &Word) -> bool {
        self.of(word) >= NAMING
    }

    /// Weighs a clause whose words were taken as told.
    pub(super) fn weigh(&self, words: &[Word], taken: &[Span]) -> Weight {
        let (mut understood, mut all, mut evidence) = (0.0, 0.0, 0.0_f32);
        for (at, word) in words.iter().enumerate() {
            let value = taken.iter().find(|span| span.words.contains(&at)).map(|span| span.strength);
            if word.is_stop_word() {
                continue;
            }
            let about = self.of(word);
            match value {
                Some(value) => {
                    understood += VALUE_SHARE * value.max(about);
                    all += VALUE_SHARE;
                }
                None => {
                    understood += about;
                    all += 1.0;
                    evidence = evidence.max(about);
                }
            }
        }
        Weight { coverage: if all > 0.0 { understood / all } else { 0.0 }, evidence }
    }
}

fn strength(found: &TermMatch) -> f32 {
    let has = |field| found.fields.contains(field);
    let field = if has(Field::Name) {
        1.0
    } else if has(Field::Title) || has(Field::Tags) {
        0.8
    } else if has(Field::Description) {
        0.6
    } else {
        0.5
    };
    match found.kind {
        MatchKind::Exact | MatchKind::Inflected | MatchKind::Joined | MatchKind::WholeName => field,
        // A word that is only begun, or written wrongly, counts where it can only mean the skill.
        MatchKind::Typo { .. } => 0.8 * field,
        MatchKind::Prefix => 0.6 * field,
    }
}
