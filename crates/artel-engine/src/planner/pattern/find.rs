//! The ways to find one parameter's value in a clause. Each is a question; what is taken is decided by who asks.

use std::ops::Range;

use serde_json::Value;

use super::fill::{FoundValue, Said, Source};
use super::number::{json, number};
use super::phrase::{Articles, Reading};
use super::property::{Property, Role, parts};
use super::shape::{adapted, has_shape, is_code};
use super::words::{Form, Mark, Word};

/// What may stand between the name of a parameter and its value.
const BETWEEN: &[&str] = &["is", "of", "to", "the", "be"];
/// What says that a parameter is named, and not spoken of.
const INTRODUCTIONS: &[&str] = &["with", "using", "and", "whose"];
const NEGATIONS: &[&str] = &["no", "not", "without", "don't", "never"];
/// What says where a value is when nothing else does.
const LAST_CUES: &[&str] = &["of", "for", "about", "on"];

/// Looks for the value of one parameter.
pub(super) struct Finder<'a> {
    pub(super) reading: &'a Reading<'a>,
    pub(super) source: &'a Source<'a>,
    pub(super) others: &'a [&'a Property<'a>],
    pub(super) is_required: bool,
}

pub(super) type Way = fn(&Finder<'_>, &Property<'_>) -> Option<FoundValue>;

/// Every way to find a value, the most certain first.
pub(super) const WAYS: &[Way] = &[
    |finder, property| finder.named(property),
    |finder, property| finder.known_behind_cue(property),
    |finder, property| finder.known(property),
    |finder, property| finder.shaped(property),
    |finder, property| finder.quoted_behind_cue(property),
    |finder, property| finder.counted_behind_cue(property),
    |finder, property| finder.flagged(property),
    |finder, property| finder.being(property),
    |finder, property| finder.possessor(property),
    |finder, property| finder.behind_cue(property),
    |finder, property| finder.quoted(property),
    |finder, property| finder.counted(property),
    |finder, property| finder.object(property),
    |finder, property| finder.listed(property),
    |finder, property| finder.example(property),
    |finder, property| finder.said_before(property),
];

impl Finder<'_> {
    fn words(&self) -> &[Word] {
        self.reading.words
    }

    fn text(&self, words: Range<usize>, strength: f32) -> Option<FoundValue> {
        let value = Value::String(self.reading.text(words.clone()));
        self.reading.are_free(words.clone()).then_some(FoundValue { value, words, strength })
    }

    /// `seed=7`, `seed: 7`, `with seed 7`.
    fn named(&self, property: &Property<'_>) -> Option<FoundValue> {
        let name = self.reading.find(&property.words, 0)?;
        let mark = self.words()[name.end - 1].mark;
        let is_assigned = matches!(mark, Mark::Equals | Mark::Colon);
        let is_introduced = name.start > 0 && self.words()[name.start - 1].is_one_of(INTRODUCTIONS);
        let skipped = self.words()[name.end..].iter().take_while(|word| word.is_one_of(BETWEEN)).count();
        let start = if is_assigned { name.end } else { name.end + skipped };
        let value = self.value_at(property, start, is_assigned || is_introduced)?;
        Some(FoundValue { words: name.start..value.words.end, strength: 0.9, ..value })
    }

    /// Returns the value that begins at a word; any words will do when the parameter was named as such.
    fn value_at(&self, property: &Property<'_>, at: usize, is_named: bool) -> Option<FoundValue> {
        let word = self.words().get(at)?;
        if let Some(found) = self.known_at(property, at) {
            return Some(found);
        }
        if property.takes.number && number(&word.key).is_some() {
            return self.number_at(property, at);
        }
        if property.takes.boolean
            && let Some(value) = truth(&word.key)
        {
            return Some(FoundValue { value: Value::Bool(value), words: at..at + 1, strength: 0.9 });
        }
        let takes_words = is_open(property) && (is_named || word.form == Form::Quoted);
        if !takes_words {
            return None;
        }
        let words = self.reading.name_from(at, articles(property)).filter(|words| words.start == at);
        self.text(words.unwrap_or(at..at + 1), 0.9)
    }

    fn known_behind_cue(&self, property: &Property<'_>) -> Option<FoundValue> {
        let is_behind_cue = |found: &FoundValue| {
            let before = self.words()[..found.words.start].iter().rposition(|word| !word.is_article());
            before.is_some_and(|at| self.words()[at].is_one_of(property.role.cues()))
        };
        (0..self.words().len()).filter_map(|at| self.known_at(property, at)).find(is_behind_cue)
    }

    /// The first word is what is to be done, so that a value there must be one of an `enum`.
    fn known(&self, property: &Property<'_>) -> Option<FoundValue> {
        let is_enum = property.schema.get("enum").is_some();
        let first = usize::from(!is_enum && self.words().len() > 1);
        (first..self.words().len()).find_map(|at| self.known_at(property, at))
    }

    /// Returns the known value that begins at a word: the longest, where several do.
    fn known_at(&self, property: &Property<'_>, at: usize) -> Option<FoundValue> {
        let fits = |value: &Value| {
            let name = match value {
                Value::String(text) => parts(text),
                Value::Number(number) => vec![number.to_string()],
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
            };
            let words = self.reading.find(&name, at).filter(|words| words.start == at)?;
            let is_free = self.reading.are_free(words.clone());
            is_free.then(|| FoundValue { value: value.clone(), words, strength: 0.8 })
        };
        property.known.iter().filter_map(fits).max_by_key(|found| found.words.len())
    }

    /// Something that looks like the example, or has the format that the schema asks for.
    fn shaped(&self, property: &Property<'_>) -> Option<FoundValue> {
        if !property.takes.text || property.schema.get("enum").is_some() {
            return None;
        }
        let at = (0..self.words().len()).find(|at| {
            let word = &self.words()[*at];
            self.reading.is_free(*at) && has_shape(property, &word.text)
        })?;
        let end = self.expression_end(at);
        let value = Value::String(self.reading.text(at..end).replace(' ', ""));
        Some(FoundValue { value, words: at..end, strength: 0.8 })
    }

    /// `2d6 + 3` is one expression.
    fn expression_end(&self, start: usize) -> usize {
        let mut end = start + 1;
        let is_operator = |at: usize| matches!(self.words()[at].key.as_str(), "+" | "-" | "*" | "/");
        while end + 1 < self.words().len() && is_operator(end) && self.reading.are_free(end..end + 2) {
            let next = &self.words()[end + 1].key;
            if number(next).is_none() && !is_code(next) {
                break;
            }
            end += 2;
        }
        end
    }

    fn quoted_behind_cue(&self, property: &Property<'_>) -> Option<FoundValue> {
        let is_behind_cue = |at: &usize| *at > 0 && self.words()[at - 1].is_one_of(property.role.cues());
        let quoted = self.free_quotes(property).find(is_behind_cue)?;
        self.text(quoted..quoted + 1, 0.5)
    }

    fn quoted(&self, property: &Property<'_>) -> Option<FoundValue> {
        let quoted = self.free_quotes(property).next().filter(|_| self.is_required)?;
        self.text(quoted..quoted + 1, 0.5)
    }

    fn free_quotes(&self, property: &Property<'_>) -> impl Iterator<Item = usize> {
        let takes = property.takes.text && property.schema.get("enum").is_none();
        let is_quote = |at: &usize| self.words()[*at].form == Form::Quoted && self.reading.is_free(*at);
        (0..self.words().len()).filter(is_quote).take_while(move |_| takes)
    }

    fn counted_behind_cue(&self, property: &Property<'_>) -> Option<FoundValue> {
        let is_behind_cue = |at: &usize| *at > 0 && self.words()[at - 1].is_one_of(property.role.cues());
        (0..self.words().len()).filter(is_behind_cue).find_map(|at| self.number_at(property, at))
    }

    fn counted(&self, property: &Property<'_>) -> Option<FoundValue> {
        let is_wanted = self.is_required && property.known.is_empty();
        (0..self.words().len()).filter(|_| is_wanted).find_map(|at| self.number_at(property, at))
    }

    fn number_at(&self, property: &Property<'_>, at: usize) -> Option<FoundValue> {
        let is_negation = |at: usize| self.words()[at].is_one_of(&["minus", "negative"]);
        if at > 0 && is_negation(at - 1) {
            return None;
        }
        let (number, end) = match self.words().get(at + 1) {
            Some(next) if is_negation(at) => (-number(&next.key)?, at + 2),
            Some(_) | None => (number(&self.words()[at].key)?, at + 1),
        };
        let bound = |key: &str| property.schema.get(key).and_then(Value::as_f64);
        let is_whole = property.schema.get("type").and_then(Value::as_str) == Some("integer");
        let fits = property.takes.number
            && bound("minimum").is_none_or(|least| number >= least)
            && bound("maximum").is_none_or(|most| number <= most)
            && (!is_whole || number.fract() == 0.0)
            && self.reading.are_free(at..end);
        let value = json(number).filter(|_| fits)?;
        Some(FoundValue { value, words: at..end, strength: 0.5 })
    }

    /// A switch that is mentioned is on, unless it is denied.
    fn flagged(&self, property: &Property<'_>) -> Option<FoundValue> {
        let words = self.reading.find(&property.words, 0).filter(|_| property.takes.boolean)?;
        let is_denied = words.start > 0 && self.words()[words.start - 1].is_one_of(NEGATIONS);
        Some(FoundValue { value: Value::Bool(!is_denied), words, strength: 0.8 })
    }

    /// `the tea is jasmine`: what is before it is the key, what is behind it the value.
    fn being(&self, property: &Property<'_>) -> Option<FoundValue> {
        let has = |role: Role| self.others.iter().any(|other| other.role == role);
        if !self.is_required || !is_open(property) || !has(Role::Key) || !has(Role::Value) {
            return None;
        }
        let being = self.words().iter().position(|word| word.is_one_of(&["is", "are", "be"]))?;
        match property.role {
            Role::Key => {
                let start = self.reading.object_start().filter(|start| *start < being)?;
                let articles = self.words()[start..being].iter().take_while(|word| word.is_article()).count();
                self.text(start + articles..being, 0.5)
            }
            Role::Value => self.text(self.reading.rest_from(being + 1, &[])?, 0.5),
            Role::Place
            | Role::Source
            | Role::Destination
            | Role::Thing
            | Role::Person
            | Role::Topic
            | Role::Reason
            | Role::Amount
            | Role::Other => None,
        }
    }

    fn behind_cue(&self, property: &Property<'_>) -> Option<FoundValue> {
        if !is_open(property) || !(self.is_required || property.role.has_telling_cues()) {
            return None;
        }
        property.role.cues().iter().find_map(|cue| self.behind(property, cue))
    }

    fn behind(&self, property: &Property<'_>, cue: &str) -> Option<FoundValue> {
        let is_cue = |at: &usize| self.words()[*at].is_one_of(&[cue]) && self.reading.is_free(*at);
        (0..self.words().len()).filter(is_cue).find_map(|at| {
            let words = if property.role.is_long() {
                self.reading.rest_from(at + 1, Role::Key.cues())
            } else {
                self.reading.name_from(at + 1, articles(property))
            };
            self.text(words?, 0.3)
        })
    }

    /// `alice's score`.
    fn possessor(&self, property: &Property<'_>) -> Option<FoundValue> {
        let is_wanted = self.is_required && property.role == Role::Person && is_open(property);
        let is_possessor = |at: &usize| self.words()[*at].form == Form::Possessive;
        let at = (0..self.words().len()).filter(|_| is_wanted).find(is_possessor)?;
        self.text(at..at + 1, 0.5)
    }

    /// What the verb is done to, unless that only names the skill again.
    fn object(&self, property: &Property<'_>) -> Option<FoundValue> {
        if !self.is_required || !is_open(property) {
            return None;
        }
        let start = self.reading.object_start();
        let words = start.and_then(|start| {
            if property.role.is_long() {
                self.reading.rest_from(start, Role::Key.cues())
            } else {
                self.reading.name_from(start, articles(property))
            }
        });
        let tells = |words: &Range<usize>| {
            self.words()[words.clone()]
                .iter()
                .any(|word| !word.is_stop_word() && !(self.source.is_about)(word))
        };
        match words.filter(tells) {
            Some(words) => self.text(words, 0.3),
            None => LAST_CUES.iter().find_map(|cue| self.behind(property, cue)),
        }
    }

    /// `a, b and c`, where a list is wanted.
    fn listed(&self, property: &Property<'_>) -> Option<FoundValue> {
        if !property.takes.list || !self.is_required {
            return None;
        }
        let words = self.reading.rest_from(self.reading.object_start()?, LAST_CUES)?;
        let mut items = vec![Vec::new()];
        for at in words.clone() {
            let word = &self.words()[at];
            let is_between = word.is_one_of(&["and", "or"]);
            if !is_between && !word.is_article() {
                items.last_mut()?.push(word.text.clone());
            }
            if is_between || word.mark == Mark::Comma || word.form == Form::Quoted {
                items.push(Vec::new());
            }
        }
        let takes_numbers = property.schema.pointer("/items/type").and_then(Value::as_str) != Some("string");
        let item = |words: &Vec<String>| {
            let text = words.join(" ");
            let number = number(&text.to_lowercase()).filter(|_| takes_numbers).and_then(json);
            number.unwrap_or(Value::String(text))
        };
        let items: Vec<Value> = items.iter().filter(|words| !words.is_empty()).map(item).collect();
        (!items.is_empty()).then_some(FoundValue { value: Value::Array(items), words, strength: 0.3 })
    }

    /// `two dice`, where the example is `2d6+3`: a count and the example's shape.
    fn example(&self, property: &Property<'_>) -> Option<FoundValue> {
        if !self.is_required || !property.takes.text {
            return None;
        }
        let count = |word: &Word| match word.key.as_str() {
            "a" | "an" => Some(1.0),
            key => number(key),
        };
        (0..self.words().len()).filter(|at| self.reading.is_free(*at)).find_map(|at| {
            let value = adapted(property, count(&self.words()[at])?)?;
            Some(FoundValue { value: Value::String(value), words: at..at + 1, strength: 0.5 })
        })
    }

    /// `it` is what such a parameter was in the clauses before.
    fn said_before(&self, property: &Property<'_>) -> Option<FoundValue> {
        let at = self.words().iter().position(Word::is_pronoun).filter(|_| self.is_required)?;
        let is_meant = |said: &&Said| match property.role {
            Role::Place | Role::Thing | Role::Person => {
                said.role == property.role || said.name == property.name
            }
            Role::Source
            | Role::Destination
            | Role::Topic
            | Role::Reason
            | Role::Amount
            | Role::Key
            | Role::Value
            | Role::Other => said.name == property.name,
        };
        let value = self.source.before.iter().rev().find(is_meant)?.value.clone();
        Some(FoundValue { value, words: at..at + 1, strength: 0.3 })
    }
}

/// Returns whether any words may be the value: there is no list of values, and no shape.
fn is_open(property: &Property<'_>) -> bool {
    let is_shaped = property.examples.iter().any(|example| is_code(example));
    property.takes.text && !is_shaped && property.schema.get("enum").is_none()
}

/// A value keeps its article when the example has one.
fn articles(property: &Property<'_>) -> Articles {
    let has_article = |example: &String| {
        matches!(example.split_whitespace().next(), Some("a" | "an" | "the")) && example.contains(' ')
    };
    if property.examples.iter().any(has_article) { Articles::Kept } else { Articles::Dropped }
}

fn truth(key: &str) -> Option<bool> {
    match key {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}
