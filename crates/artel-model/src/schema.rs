//! JSON Schema, checked and compiled once, where it enters.
//!
//! The only module that knows the `jsonschema` crate. Schemas are untrusted: nothing is fetched, patterns run on a
//! linear engine, sizes are bounded.

use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::limit::{SCHEMA_BYTES_MAX, SCHEMA_ERRORS_MAX, SCHEMA_REGEX_BYTES_MAX};

/// A JSON Schema that is known to be valid and local.
#[derive(Clone)]
pub struct Schema {
    document: Arc<Value>,
    validator: Arc<Validator>,
}

/// Why a document is not a schema we take, and where in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SchemaError {
    /// JSON Pointer into the schema.
    pub pointer: String,
    /// What is wrong there.
    pub kind: SchemaErrorKind,
}

/// What can be wrong with a schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SchemaErrorKind {
    /// Larger than [`SCHEMA_BYTES_MAX`].
    TooLarge,
    /// A reference to another document; schemas are never fetched.
    RemoteReference(String),
    /// Not a valid schema.
    Invalid(String),
}

impl fmt::Display for SchemaErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "the schema is larger than {SCHEMA_BYTES_MAX} bytes"),
            Self::RemoteReference(uri) => {
                write!(f, "`$ref` to `{uri}` is not local: schemas are never fetched")
            }
            Self::Invalid(message) => write!(f, "not a valid JSON Schema: {message}"),
        }
    }
}

/// One way in which a document does not fit a schema.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Violation {
    /// JSON Pointer into the document; empty for the document itself.
    pub path: String,
    /// Which kind of rule was broken.
    pub kind: ViolationKind,
    /// For a person.
    pub message: String,
}

/// The kinds of rules that a document can break.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// A required field is missing.
    Required,
    /// The value has another type.
    Type,
    /// The value is not among the allowed ones.
    Enum,
    /// A number is too small or too large.
    Range,
    /// A text or list is too short or too long.
    Length,
    /// A text does not match its pattern.
    Pattern,
    /// A text does not have its format (email, uri, date, time).
    Format,
    /// A field that the schema does not know.
    Unknown,
    /// Any other rule.
    Other,
}

/// Whether messages may quote the document's values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Quote {
    /// They may.
    Values,
    /// They may not: the values are secret.
    Nothing,
}

impl Schema {
    /// Checks and compiles `document`.
    pub fn parse(document: Value) -> Result<Self, SchemaError> {
        if let Some((pointer, uri)) = remote_reference(&document, &mut String::new(), Keys::Keywords) {
            return Err(SchemaError { pointer, kind: SchemaErrorKind::RemoteReference(uri) });
        }
        if document.to_string().len() > SCHEMA_BYTES_MAX {
            return Err(SchemaError { pointer: String::new(), kind: SchemaErrorKind::TooLarge });
        }
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(
                PatternOptions::regex()
                    .size_limit(SCHEMA_REGEX_BYTES_MAX)
                    .dfa_size_limit(SCHEMA_REGEX_BYTES_MAX),
            )
            .should_validate_formats(true)
            .build(&document)
            .map_err(|error| SchemaError {
                pointer: error.instance_path().as_str().to_owned(),
                kind: SchemaErrorKind::Invalid(error.to_string()),
            })?;
        Ok(Self { document: Arc::new(document), validator: Arc::new(validator) })
    }

    /// Returns the schema that any object fits.
    pub fn any_object() -> Self {
        static ANY_OBJECT: OnceLock<Schema> = OnceLock::new();
        ANY_OBJECT
            .get_or_init(|| {
                Self::parse(serde_json::json!({"type": "object"})).expect("a constant schema is valid")
            })
            .clone()
    }

    /// Returns the schema as it was written.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Returns how `instance` breaks the schema: nothing when it fits, at most [`SCHEMA_ERRORS_MAX`] violations else.
    pub fn violations(&self, instance: &Value, quote: Quote) -> Vec<Violation> {
        self.validator
            .iter_errors(instance)
            .take(SCHEMA_ERRORS_MAX)
            .map(|error| Violation {
                path: error.instance_path().as_str().to_owned(),
                kind: violation_kind(error.kind()),
                message: match quote {
                    Quote::Values => error.to_string(),
                    Quote::Nothing => error.masked().to_string(),
                },
            })
            .collect()
    }

    /// Fills in the defaults of missing properties, at every level that `properties` describes.
    pub fn fill_defaults(&self, instance: &mut Map<String, Value>) {
        fill_defaults(&self.document, instance);
    }
}

fn fill_defaults(schema: &Value, instance: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, property) in properties {
        match instance.get_mut(name) {
            Some(Value::Object(inner)) => fill_defaults(property, inner),
            Some(_) => {}
            None => {
                if let Some(default) = property.get("default") {
                    instance.insert(name.clone(), default.clone());
                }
            }
        }
    }
}

/// What the keys of an object inside a schema are.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Keys {
    /// Keywords of JSON Schema.
    Keywords,
    /// Names that the schema's author chose.
    Names,
}

/// Finds the first reference that does not point into the document itself.
fn remote_reference(value: &Value, pointer: &mut String, keys: Keys) -> Option<(String, String)> {
    let length = pointer.len();
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                push_pointer(pointer, key);
                let keyword = if keys == Keys::Keywords { key.as_str() } else { "" };
                let found = match (keyword, inner) {
                    ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(uri)) if !is_local(uri) => {
                        Some((pointer.clone(), uri.clone()))
                    }
                    // Values under these keys are data, not schemas.
                    ("const" | "enum" | "default" | "examples", _) => None,
                    ("properties" | "patternProperties" | "$defs" | "definitions", inner) => {
                        remote_reference(inner, pointer, Keys::Names)
                    }
                    (_, inner) => remote_reference(inner, pointer, Keys::Keywords),
                };
                pointer.truncate(length);
                if found.is_some() {
                    return found;
                }
            }
            None
        }
        Value::Array(array) => array.iter().enumerate().find_map(|(index, inner)| {
            push_pointer(pointer, &index.to_string());
            let found = remote_reference(inner, pointer, Keys::Keywords);
            pointer.truncate(length);
            found
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn is_local(uri: &str) -> bool {
    uri.starts_with('#')
        || uri.starts_with("https://json-schema.org/draft")
        || uri.starts_with("http://json-schema.org/draft")
}

/// Appends one key to a JSON Pointer.
pub fn push_pointer(pointer: &mut String, key: &str) {
    pointer.push('/');
    for character in key.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the library's enum is open; the rest is `Other` for us")]
fn violation_kind(kind: &ValidationErrorKind) -> ViolationKind {
    match kind {
        ValidationErrorKind::Required { .. } => ViolationKind::Required,
        ValidationErrorKind::Type { .. } => ViolationKind::Type,
        ValidationErrorKind::Enum { .. } | ValidationErrorKind::Constant { .. } => ViolationKind::Enum,
        ValidationErrorKind::Minimum { .. }
        | ValidationErrorKind::Maximum { .. }
        | ValidationErrorKind::ExclusiveMinimum { .. }
        | ValidationErrorKind::ExclusiveMaximum { .. } => ViolationKind::Range,
        ValidationErrorKind::MinLength { .. }
        | ValidationErrorKind::MaxLength { .. }
        | ValidationErrorKind::MinItems { .. }
        | ValidationErrorKind::MaxItems { .. } => ViolationKind::Length,
        ValidationErrorKind::Pattern { .. } => ViolationKind::Pattern,
        ValidationErrorKind::Format { .. } => ViolationKind::Format,
        ValidationErrorKind::AdditionalProperties { .. } => ViolationKind::Unknown,
        _ => ViolationKind::Other,
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({})", self.document)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.document == other.document
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(document: Value) -> Schema {
        Schema::parse(document).unwrap()
    }

    #[track_caller]
    fn check(document: Value, instance: Value, expected: &[(&str, ViolationKind)]) {
        let violations = schema(document).violations(&instance, Quote::Values);
        let found: Vec<_> = violations.iter().map(|found| (found.path.as_str(), found.kind)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn violations_say_where_and_what() {
        let document = json!({
            "type": "object",
            "properties": {
                "size": {"type": "integer", "minimum": 0, "maximum": 9},
                "kind": {"enum": ["a", "b"]},
                "mail": {"type": "string", "format": "email"},
            },
            "required": ["kind"],
            "additionalProperties": false,
        });
        check(document.clone(), json!({"kind": "a", "size": 0}), &[]);
        check(document.clone(), json!({}), &[("", ViolationKind::Required)]);
        check(document.clone(), json!({"kind": "a", "size": -1}), &[("/size", ViolationKind::Range)]);
        check(document.clone(), json!({"kind": "c"}), &[("/kind", ViolationKind::Enum)]);
        check(document.clone(), json!({"kind": "a", "size": "x"}), &[("/size", ViolationKind::Type)]);
        check(document.clone(), json!({"kind": "a", "mail": "x"}), &[("/mail", ViolationKind::Format)]);
        check(document, json!({"kind": "a", "other": 1}), &[("", ViolationKind::Unknown)]);
    }

    #[test]
    fn secrets_are_not_quoted() {
        let violations = schema(json!({"type": "integer"})).violations(&json!("hunter2"), Quote::Nothing);
        assert_eq!(violations.len(), 1);
        assert!(!violations[0].message.contains("hunter2"), "{}", violations[0].message);
    }

    #[test]
    fn the_draft_is_taken_from_the_document() {
        let draft_07 = "http://json-schema.org/draft-07/schema#";
        let tuple = json!({"$schema": draft_07, "items": [{"type": "integer"}]});
        check(tuple, json!(["x"]), &[("/0", ViolationKind::Type)]);
    }

    #[test]
    fn invalid_and_remote_schemas_are_refused_with_their_place() {
        let error = Schema::parse(json!({"properties": {"a": {"type": 12}}})).unwrap_err();
        assert_eq!(error.pointer, "/properties/a/type");
        let remote = json!({"properties": {"a/b": {"$ref": "https://example.com/x.json"}}});
        let error = Schema::parse(remote).unwrap_err();
        assert_eq!(error.pointer, "/properties/a~1b/$ref");
        assert!(matches!(error.kind, SchemaErrorKind::RemoteReference(_)));
        assert!(Schema::parse(json!({"$ref": "file:///etc/passwd"})).is_err());
        assert!(Schema::parse(json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}})).is_ok());
        assert!(Schema::parse(json!({"$ref": "#/$defs/missing"})).is_err());
        assert!(Schema::parse(json!({"enum": [{"$ref": "https://data.example"}]})).is_ok());
        let named_like_a_keyword =
            json!({"properties": {"default": {"$ref": "https://x.example"}, "$ref": {}}});
        assert_eq!(Schema::parse(named_like_a_keyword).unwrap_err().pointer, "/properties/default/$ref");
        assert!(Schema::parse(json!({"pattern": "(a"})).is_err());
        assert!(Schema::parse(json!({"description": "x".repeat(SCHEMA_BYTES_MAX)})).is_err());
    }

    #[test]
    fn defaults_are_filled_in_at_every_level() {
        let schema = schema(json!({"properties": {
            "speed": {"type": "number", "default": 1.0},
            "arm": {"properties": {"grip": {"default": "soft"}}},
        }}));
        let Value::Object(mut instance) = json!({"arm": {}}) else { unreachable!("it is an object") };
        schema.fill_defaults(&mut instance);
        assert_eq!(Value::Object(instance), json!({"speed": 1.0, "arm": {"grip": "soft"}}));
    }
}
