//! Finds the values of a skill's parameters in a clause, by what their schemas say. Knows nothing of which skill it is.
//!
//! The most certain ways come first: a parameter that is named, a value that is known, a shape, quotation marks, numbers,
//! then the words around it. Words that were taken once are not taken again.

use std::ops::Range;

use artel_model::schema::{Quote, Schema};
use serde_json::{Map, Value};

use super::find::{Finder, WAYS};
use super::phrase::{Reading, Span};
use super::property::{Property, Role, properties};
use super::words::Word;

/// Sets of required parameters that are tried.
const ALTERNATIVES_MAX: usize = 8;

/// What may be used to fill parameters.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) words: &'a [Word],
    /// Values of parameters in the clauses before, in order.
    pub(super) before: &'a [Said],
    /// Says whether a word names the skill rather than a value.
    pub(super) is_about: &'a dyn Fn(&Word) -> bool,
}

/// A parameter that a clause said.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) value: Value,
}

/// An input, and the words that it was made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filled {
    pub(super) input: Map<String, Value>,
    pub(super) taken: Vec<Span>,
}

/// The parameters that a clause does not say.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Missing(pub(super) Vec<String>);

/// Makes an input that fits the schema, or says what is missing.
pub(super) fn fill(schema: &Schema, source: &Source<'_>) -> Result<Filled, Missing> {
    let properties = properties(schema.document());
    let mut missing = None;
    for required in alternatives(schema.document()) {
        let filling = Filling::new(&properties, &required, source.words);
        match filling.run(source).finish(schema) {
            Ok(filled) => return Ok(filled),
            Err(names) => missing = missing.or(Some(names)),
        }
    }
    Err(missing.unwrap_or(Missing(Vec::new())))
}

/// Returns the sets of parameters of which one must be given in full.
fn alternatives(schema: &Value) -> Vec<Vec<&str>> {
    let required = |schema: &'_ Value| -> Vec<String> {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let own = required(schema);
    let either = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)).and_then(Value::as_array);
    let more: Vec<Vec<String>> = either.into_iter().flatten().map(required).collect();
    let sets = if more.is_empty() { vec![Vec::new()] } else { more };
    let properties = schema.get("properties").and_then(Value::as_object);
    // What has a default need not be said.
    let is_needed = |name: &&str| {
        let property = properties.and_then(|properties| properties.get(*name));
        property.is_none_or(|property| property.get("default").is_none())
    };
    let key = |name: &String| -> Option<&str> {
        properties.and_then(|properties| properties.get_key_value(name)).map(|(key, _)| key.as_str())
    };
    let set = |more: &Vec<String>| own.iter().chain(more).filter_map(key).filter(is_needed).collect();
    sets.iter().take(ALTERNATIVES_MAX).map(set).collect()
}

/// A value that was found, the words it was made of, and how telling that is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundValue {
    pub(super) value: Value,
    pub(super) words: Range<usize>,
    pub(super) strength: f32,
}

/// Parameters that are being filled.
struct Filling<'a> {
    properties: Vec<&'a Property<'a>>,
    required: &'a [&'a str],
    reading: Reading<'a>,
    input: Map<String, Value>,
}

impl<'a> Filling<'a> {
    /// What is required comes first, so that nothing optional takes its words.
    fn new(properties: &'a [Property<'a>], required: &'a [&'a str], words: &'a [Word]) -> Self {
        let (mut first, rest): (Vec<_>, Vec<_>) =
            properties.iter().partition(|property| required.contains(&property.name));
        first.extend(rest);
        Self { properties: first, required, reading: Reading::new(words), input: Map::new() }
    }

    fn run(mut self, source: &Source<'_>) -> Self {
        for way in WAYS {
            for at in 0..self.properties.len() {
                let property = self.properties[at];
                if self.input.contains_key(property.name) {
                    continue;
                }
                let finder = Finder {
                    reading: &self.reading,
                    source,
                    others: &self.properties,
                    is_required: self.required.contains(&property.name),
                };
                if let Some(found) = way(&finder, property) {
                    self.put(property.name, found);
                }
            }
        }
        self
    }

    fn put(&mut self, name: &str, found: FoundValue) {
        self.reading.take(found.words, found.strength);
        self.input.insert(name.to_owned(), found.value);
    }

    /// Leaves out what does not fit and need not be there.
    fn finish(mut self, schema: &Schema) -> Result<Filled, Missing> {
        let missing = self.required.iter().filter(|name| !self.input.contains_key(**name));
        let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
        if !missing.is_empty() {
            return Err(Missing(missing));
        }
        loop {
            let mut filled = self.input.clone();
            schema.fill_defaults(&mut filled);
            let violations = schema.violations(&Value::Object(filled), Quote::Nothing);
            let Some(violation) = violations.first() else { break };
            let name =
                violation.path.split('/').nth(1).unwrap_or_default().replace("~1", "/").replace("~0", "~");
            let is_optional = !self.required.contains(&name.as_str());
            if !is_optional || self.input.remove(&name).is_none() {
                return Err(Missing(if name.is_empty() { Vec::new() } else { vec![name] }));
            }
        }
        Ok(Filled { input: self.input, taken: self.reading.taken })
    }
}
