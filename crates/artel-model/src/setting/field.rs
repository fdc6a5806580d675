//! One setting: its type, and how a text becomes a value of it.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::personal::PersonalMark;
use super::sensitive::{is_sensitive, resolve};
use super::variable::is_placeholder;

/// One setting, for forms and tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: FieldKind,
    /// What it means.
    pub description: Option<String>,
    /// The value it has when nobody sets it. Never shown as it is when the setting is sensitive.
    pub default: Option<Value>,
    /// Whether it must be set.
    pub required: bool,
    /// Whether its value must never be shown.
    pub sensitive: bool,
    /// The environment variable that sets it when `config.json` does not.
    pub env_var: Option<String>,
    /// Where a form puts it.
    pub category: Option<String>,
    /// What the schema says about personal values.
    pub personal: PersonalMark,
}

/// The type of a setting; of several types, the first that is not `null`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FieldKind {
    /// A text, also when the schema says no type.
    Text,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A list of values of one type.
    List(Box<FieldKind>),
    /// Named values.
    Object,
}

/// References that are followed from one schema, and lists inside lists.
const HOPS_MAX: usize = 16;

impl FieldKind {
    fn read(root: &Value, schema: &Value, hops_left: usize) -> Self {
        let Some(hops_left) = hops_left.checked_sub(1) else { return Self::Text };
        let several = schema["type"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let kind = schema["type"].as_str().or_else(|| several.into_iter().find(|kind| *kind != "null"));
        match kind {
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some("array") => Self::List(Box::new(Self::read(root, &schema["items"], hops_left))),
            Some("object") => Self::Object,
            Some(_) => Self::Text,
            None => {
                let target = schema["$ref"].as_str().and_then(|reference| resolve(root, reference));
                target.map_or(Self::Text, |target| Self::read(root, target, hops_left))
            }
        }
    }

    /// Returns the type as JSON Schema calls it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::List(_) => "array",
            Self::Object => "object",
        }
    }

    /// Turns a text into a value of the type; what does not fit stays a text, for the schema to refuse.
    pub(super) fn typed(&self, text: &str) -> Value {
        let parsed = match self {
            Self::Integer => text.trim().parse::<i64>().ok().map(Value::from),
            Self::Number => {
                text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
            }
            Self::Boolean => text.trim().parse::<bool>().ok().map(Value::from),
            // A list may be written as JSON, or with commas between its entries.
            Self::List(_) if text.trim_start().starts_with('[') => {
                serde_json::from_str(text).ok().filter(Value::is_array)
            }
            Self::List(_) if text.trim().is_empty() => Some(Value::Array(Vec::new())),
            Self::List(items) => Some(text.split(',').map(|item| items.typed(item.trim())).collect()),
            Self::Text | Self::Object => None,
        };
        parsed.unwrap_or_else(|| Value::from(text))
    }
}

impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FieldKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Field {
    /// Turns what a person typed into a value of the setting's type; a placeholder stays a text.
    pub fn value_of(&self, text: &str) -> Value {
        if text.contains("${") { Value::from(text) } else { self.kind.typed(text) }
    }

    /// Says whether saving the value would store a secret: a whole `${NAME}` only names one.
    pub fn is_secret(&self, value: &Value) -> bool {
        self.sensitive && !is_placeholder(value)
    }

    /// Reads the setting of that name out of the whole schema.
    pub(super) fn read(root: &Value, name: &str, schema: &Value, required: &BTreeSet<&str>) -> Self {
        let text = |key: &str| schema[key].as_str().map(str::to_owned);
        Self {
            name: name.to_owned(),
            kind: FieldKind::read(root, schema, HOPS_MAX),
            description: text("description"),
            default: schema.get("default").cloned(),
            required: required.contains(name),
            sensitive: is_sensitive(root, name),
            env_var: text("x-env-var"),
            category: text("x-category"),
            personal: PersonalMark::read(schema),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, text: &str, expected: Value) {
        let root = json!({"properties": {"x": schema}, "$defs": {"port": {"type": "integer"}}});
        let field = Field::read(&root, "x", &root["properties"]["x"], &BTreeSet::new());
        assert_eq!(field.value_of(text), expected, "{schema}");
    }

    #[test]
    fn a_text_becomes_a_value_of_the_type() {
        check(json!({}), "1", json!("1"));
        check(json!({"type": "integer"}), " 1 ", json!(1));
        check(json!({"type": "integer"}), "one", json!("one"));
        check(json!({"type": "number"}), "1.5", json!(1.5));
        check(json!({"type": "boolean"}), "true", json!(true));
        check(json!({"type": ["integer", "null"]}), "1", json!(1));
        check(json!({"type": ["null", "boolean"]}), "true", json!(true));
        check(json!({"$ref": "#/$defs/port"}), "80", json!(80));
    }

    #[test]
    fn a_list_has_items_of_its_type() {
        check(json!({"type": "array"}), "a, b", json!(["a", "b"]));
        check(json!({"type": "array", "items": {"type": "integer"}}), "1, 2", json!([1, 2]));
        check(json!({"type": "array", "items": {"type": ["null", "number"]}}), "1.5", json!([1.5]));
        check(json!({"type": "array"}), "", json!([]));
        check(json!({"type": "array"}), " ", json!([]));
        check(json!({"type": "array"}), "[\"a, b\", 2]", json!(["a, b", 2]));
    }

    #[test]
    fn a_type_that_refers_to_itself_ends() {
        let root = json!({"properties": {"x": {"$ref": "#/properties/x"}}});
        assert_eq!(FieldKind::read(&root, &root["properties"]["x"], HOPS_MAX), FieldKind::Text);
    }
}
