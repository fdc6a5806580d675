//! An input against a schema before everything in it is known: what a reference stands for may be anything.

use serde_json::{Map, Value};

use crate::reference::{Piece, Reference, escape, is_plain, pieces};
use crate::schema::{Quote, Schema, Violation, ViolationKind, push_pointer};

/// Characters of one message of the schema that are kept; it may quote whole values.
const MESSAGE_CHARS_MAX: usize = 300;
/// Bytes of a text of the request that is looked at in the inputs of steps.
const KNOWN_TEXT_BYTES_MAX: usize = 1024;
/// Words of JSON Schema by which one part of a document decides about another.
const CONDITIONS: &[&str] = &[
    "if",
    "anyOf",
    "oneOf",
    "not",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
];

/// What is known of the request that a step's references reach into.
#[derive(Clone, Copy)]
pub(super) enum Known<'a> {
    Value(&'a Value),
    /// Only the run will tell.
    Later,
    Missing,
}

/// Fills in the defaults that the schema gives. They stand for themselves, whatever they look like.
pub(super) fn fill_defaults(schema: &Schema, input: &mut Map<String, Value>) {
    if schema.document().get("properties").is_none() {
        return;
    }
    let before = input.clone();
    schema.fill_defaults(input);
    escape_added(&before, input);
}

fn escape_added(before: &Map<String, Value>, after: &mut Map<String, Value>) {
    for (key, value) in after {
        match (before.get(key), value) {
            (None, value) => escape(value),
            (Some(Value::Object(before)), Value::Object(after)) => escape_added(before, after),
            (Some(_), _) => {}
        }
    }
}

/// Returns what certainly breaks the schema, with its JSON Pointer, whatever the references stand for.
pub(super) fn check_input(
    schema: &Schema,
    input: &Value,
    request: Option<&Map<String, Value>>,
) -> Vec<(String, String)> {
    let mut outline = Outline { request, holes: Vec::new(), pointer: String::new() };
    let violations = if holds_references(input) {
        schema.violations(&outline.value(input), Quote::Values)
    } else {
        schema.violations(input, Quote::Values)
    };
    if violations.is_empty() {
        return Vec::new();
    }
    if !outline.holes.is_empty() && has_conditions(schema.document()) {
        return missing_for_certain(schema, input);
    }
    let certain = violations.into_iter().filter(|violation| is_certain(violation, &outline.holes));
    certain.map(|violation| (violation.path, cut(&violation.message))).collect()
}

/// Returns what is known of the request at a path.
pub(super) fn known_at<'a>(request: &'a Map<String, Value>, path: &[String]) -> Known<'a> {
    let Some((first, rest)) = path.split_first() else { return Known::Later };
    let Some(mut value) = request.get(first) else { return Known::Missing };
    for part in rest {
        value = match child(value, part) {
            Some(inner) => inner,
            None if matches!(value, Value::String(text) if !is_plain(text)) => return Known::Later,
            None => return Known::Missing,
        };
    }
    match value.as_str() {
        Some(text) if !is_plain(text) => Known::Later,
        Some(_) | None => Known::Value(value),
    }
}

/// Returns a field of an object, or an item of a list by its number.
pub(super) fn child<'a>(value: &'a Value, part: &str) -> Option<&'a Value> {
    match value {
        Value::Object(object) => object.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// A part of the input that only the run will tell.
struct Hole {
    pointer: String,
    is_text: bool,
}

struct Outline<'a> {
    request: Option<&'a Map<String, Value>>,
    holes: Vec<Hole>,
    pointer: String,
}

impl Outline<'_> {
    fn object(&mut self, object: &Map<String, Value>) -> Value {
        let length = self.pointer.len();
        let entries = object.iter().map(|(key, value)| {
            push_pointer(&mut self.pointer, key);
            let value = self.value(value);
            self.pointer.truncate(length);
            (key.clone(), value)
        });
        Value::Object(entries.collect())
    }

    fn value(&mut self, value: &Value) -> Value {
        let length = self.pointer.len();
        match value {
            Value::Object(object) => self.object(object),
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(index, item)| {
                    push_pointer(&mut self.pointer, &index.to_string());
                    let item = self.value(item);
                    self.pointer.truncate(length);
                    item
                });
                Value::Array(items.collect())
            }
            Value::String(text) if !is_plain(text) => self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    fn text(&mut self, text: &str) -> Value {
        let pieces = pieces(text);
        if let [Piece::Reference(inside)] = pieces.as_slice() {
            return self.known(inside).unwrap_or_else(|| {
                self.holes.push(Hole { pointer: self.pointer.clone(), is_text: false });
                Value::Null
            });
        }
        let is_text = |piece: &Piece<'_>| matches!(piece, Piece::Text(_));
        if !pieces.iter().all(is_text) {
            self.holes.push(Hole { pointer: self.pointer.clone(), is_text: true });
        }
        let plain = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => *text,
            Piece::Reference(_) | Piece::Unclosed(_) => "",
        });
        Value::String(plain.collect())
    }

    /// A field of the request that is known already, if it is small.
    fn known(&self, inside: &str) -> Option<Value> {
        let request = self.request?;
        // A step may be called `request` too; then this is the step, which only the run knows.
        let Reference::Request { path } = Reference::parse(inside, &|name| name == "request")? else {
            return None;
        };
        match known_at(request, &path) {
            Known::Value(Value::String(text)) if text.len() > KNOWN_TEXT_BYTES_MAX => None,
            Known::Value(Value::Array(_) | Value::Object(_)) | Known::Later | Known::Missing => None,
            Known::Value(scalar) => Some(scalar.clone()),
        }
    }
}

fn holds_references(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.values().any(holds_references),
        Value::Array(items) => items.iter().any(holds_references),
        Value::String(text) => !is_plain(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Says whether a violation stands whatever the holes hold.
fn is_certain(violation: &Violation, holes: &[Hole]) -> bool {
    let by_shape = match violation.kind {
        ViolationKind::Required | ViolationKind::Unknown | ViolationKind::Type | ViolationKind::Length => {
            true
        }
        ViolationKind::Enum
        | ViolationKind::Range
        | ViolationKind::Pattern
        | ViolationKind::Format
        | ViolationKind::Other => false,
    };
    holes.iter().all(|hole| {
        if is_within(&violation.path, &hole.pointer) {
            hole.is_text && violation.path == hole.pointer && violation.kind == ViolationKind::Type
        } else {
            by_shape || !is_within(&hole.pointer, &violation.path)
        }
    })
}

/// Says whether a JSON Pointer leads to `outer` or into it.
fn is_within(pointer: &str, outer: &str) -> bool {
    pointer.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn has_conditions(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => {
            object.keys().any(|key| CONDITIONS.contains(&key.as_str())) || object.values().any(has_conditions)
        }
        Value::Array(items) => items.iter().any(has_conditions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn missing_for_certain(schema: &Schema, input: &Value) -> Vec<(String, String)> {
    let required = schema.document().get("required").and_then(Value::as_array).into_iter().flatten();
    let missing = required.filter_map(Value::as_str).filter(|name| input.get(*name).is_none());
    missing.map(|name| (String::new(), format!("\"{name}\" is a required property"))).collect()
}

fn cut(message: &str) -> String {
    if message.chars().count() <= MESSAGE_CHARS_MAX {
        return message.to_owned();
    }
    let shown: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
    format!("{shown} ...")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("{value} is no object") };
        object
    }

    #[track_caller]
    fn check(schema: &Value, input: Value, expected: &[&str]) {
        check_with(schema, input, None, expected);
    }

    #[track_caller]
    fn check_with(schema: &Value, input: Value, request: Option<Value>, expected: &[&str]) {
        let schema = Schema::parse(schema.clone()).unwrap();
        let told = check_input(&schema, &input, request.map(object).as_ref());
        let paths: Vec<&str> = told.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, expected, "{told:?}");
    }

    #[test]
    fn a_reference_may_be_anything_and_a_text_with_one_is_a_text() {
        let schema = json!({"type": "object", "required": ["speed"], "additionalProperties": false, "properties": {
            "speed": {"type": "number", "maximum": 5},
            "name": {"type": "string", "maxLength": 3},
            "list": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": true},
        }});
        check(&schema, json!({"speed": 1}), &[]);
        check(&schema, json!({"speed": "${a.output.x}"}), &[]);
        check(&schema, json!({"speed": "at ${a.output.x}"}), &["/speed"]);
        check(&schema, json!({"speed": "$${a}"}), &["/speed"]);
        check(&schema, json!({"speed": 6, "name": "${a.output}"}), &["/speed"]);
        check(&schema, json!({"name": "${a.output}"}), &[""]);
        check(&schema, json!({"speed": 1, "name": "long, and then ${a.output}"}), &[]);
        check(&schema, json!({"speed": 1, "name": "$${"}), &[]);
        check(&schema, json!({"speed": 1, "name": "$${ab}"}), &["/name"]);
        check(&schema, json!({"speed": 1, "list": ["${a.output}"]}), &["/list"]);
        check(&schema, json!({"speed": 1, "list": ["${a.output}", "x"]}), &["/list/1"]);
        check(&schema, json!({"speed": 1, "list": ["${a.output}", "${a.output}"]}), &[]);
        check(&schema, json!({"speed": 1, "other": "${a.output}"}), &[""]);
    }

    #[test]
    fn what_depends_on_a_reference_waits_for_the_run() {
        let schema = json!({"required": ["kind"], "properties": {"kind": {"enum": ["a", "b"]}},
            "if": {"properties": {"kind": {"const": "a"}}}, "then": {"required": ["x"]}, "else": {"required": ["y"]}});
        check(&schema, json!({"kind": "a"}), &[""]);
        check(&schema, json!({"kind": "${a.output}"}), &[]);
        check(&schema, json!({"x": "${a.output}"}), &[""]);
    }

    #[test]
    fn what_the_request_says_is_known() {
        let schema = json!({"properties": {"speed": {"type": "number"}}});
        let request = json!({"fast": 3, "far": "x", "later": "${a.output}", "deep": {"list": [1, "y"]}});
        let check = |reference: &str, expected: &[&str]| {
            check_with(&schema, json!({"speed": reference}), Some(request.clone()), expected);
        };
        check("${request.fast}", &[]);
        check("${request.far}", &["/speed"]);
        check("${request.later}", &[]);
        check("${request.later.x}", &[]);
        check("${request.deep}", &[]);
        check("${request.deep.list.0}", &[]);
        check("${request.deep.list.1}", &["/speed"]);
    }

    #[test]
    fn defaults_stand_for_themselves() {
        let schema = Schema::parse(json!({"properties": {
            "shell": {"default": "${HOME}"}, "in": {"properties": {"x": {"default": ["${"]}}},
        }}))
        .unwrap();
        let mut input = object(json!({"in": {"y": "${a.output}"}}));
        fill_defaults(&schema, &mut input);
        assert_eq!(
            Value::Object(input),
            json!({"shell": "$${HOME}", "in": {"x": ["$${"], "y": "${a.output}"}})
        );
    }
}
