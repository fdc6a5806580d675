//! What both protocols have in common when a reply is read, and when a tool is described. Pure.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::conversation::{Arguments, ToolCallRequest, ToolSpec};
use crate::quote::quote;

/// Characters of a tool's description that providers take.
const DESCRIPTION_CHARS_MAX: usize = 1024;
/// Characters of unreadable arguments that are kept.
const UNREADABLE_CHARS_MAX: usize = 2000;
/// Characters of a provider's word for why a model stopped.
const WORD_CHARS_MAX: usize = 200;
/// Keys that providers do not take at the top of a schema. What they say is checked when the call is made.
const NOT_AT_THE_TOP: &[&str] = &["allOf", "anyOf", "enum", "not", "oneOf"];

/// Returns the parameters of a tool as providers take them: a schema of objects that names its properties.
pub(super) fn parameters(tool: &ToolSpec) -> Value {
    let mut schema = tool.parameters.as_object().cloned().unwrap_or_default();
    schema.retain(|key, _| !NOT_AT_THE_TOP.contains(&key.as_str()));
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Value::Object(schema)
}

/// Returns the description of a tool, as long as providers take it.
pub(super) fn description(tool: &ToolSpec) -> String {
    tool.description.chars().take(DESCRIPTION_CHARS_MAX).collect()
}

/// Reads arguments that are written as JSON; none at all are an empty object.
pub(super) fn arguments(text: &str) -> Arguments {
    if text.trim().is_empty() {
        return Arguments::Object(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(value) => arguments_of(value),
        Err(error) => unreadable(text, format!("they are no JSON: {error}")),
    }
}

/// Reads arguments that are a value.
pub(super) fn arguments_of(value: Value) -> Arguments {
    match value {
        Value::Object(object) => Arguments::Object(object),
        Value::Null => Arguments::Object(Map::new()),
        // Some models write the object as a text, and no object as an empty one.
        Value::String(text) if text.trim().is_empty() || text.trim_start().starts_with('{') => {
            arguments(&text)
        }
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            unreadable(&other.to_string(), "they are no JSON object".to_owned())
        }
    }
}

fn unreadable(text: &str, why: String) -> Arguments {
    Arguments::Unreadable { text: text.chars().take(UNREADABLE_CHARS_MAX).collect(), why }
}

/// Gives every call an id that no other has: some endpoints give none, or the same.
pub(super) fn with_own_ids(mut calls: Vec<ToolCallRequest>) -> Vec<ToolCallRequest> {
    let mut taken = BTreeSet::new();
    for call in &mut calls {
        let base = if call.id.is_empty() { "call".to_owned() } else { call.id.clone() };
        let mut number = 1;
        call.id.clone_from(&base);
        while !taken.insert(call.id.clone()) {
            number += 1;
            call.id = format!("{base}_{number}");
        }
    }
    calls
}

/// Returns a text of a reply's part; an empty one when it is none.
pub(super) fn text_of(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns a word of a provider, cut.
pub(super) fn word(text: &str) -> String {
    quote(text, WORD_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = match arguments(text) {
            Arguments::Object(object) => Value::Object(object).to_string(),
            Arguments::Unreadable { why, .. } => why,
        };
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn arguments_are_objects() {
        check(r#"{"a": 1}"#, r#"{"a":1}"#);
        check("", "{}");
        check("null", "{}");
        check("\"\"", "{}");
        check(r#""{\"a\": 1}""#, r#"{"a":1}"#);
        check("[1]", "they are no JSON object");
        check("\"walk\"", "they are no JSON object");
        check("{\"a\":", "they are no JSON: EOF while parsing a value at line 1 column 5");
    }

    #[test]
    fn ids_are_given_once() {
        let call = |id: &str| ToolCallRequest {
            id: id.to_owned(),
            name: "t".to_owned(),
            arguments: Arguments::Object(Map::new()),
        };
        let given = with_own_ids(["", "a", "", "a", "a_2", "a"].map(call).into());
        let ids: Vec<&str> = given.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call", "a", "call_2", "a_2", "a_2_2", "a_3"]);
    }

    #[test]
    fn schemas_are_such_as_providers_take() {
        let check = |schema: Value, expected: Value| {
            let name = "t".to_owned();
            let tool = ToolSpec { name, description: String::new(), parameters: schema };
            assert_eq!(parameters(&tool), expected);
        };
        check(json!(true), json!({"type": "object", "properties": {}}));
        check(
            json!({"properties": {"a": {"enum": [1]}}, "required": ["a"], "oneOf": [{}]}),
            json!({"properties": {"a": {"enum": [1]}}, "required": ["a"], "type": "object"}),
        );
    }
}
