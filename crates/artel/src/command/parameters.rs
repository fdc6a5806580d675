//! Parameters as people type them: `key=value`, read as the schema says. Pure.

use artel_model::schema::Schema;
use serde_json::{Map, Value};

/// Edits that may lie between a name and the one that was meant.
const EDITS_MAX: usize = 2;
/// References inside a schema that are followed to a type; a ring of them ends there.
const REFERENCES_MAX: usize = 16;

/// Why a parameter cannot be used.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct ParameterError {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

fn refuse<T>(message: impl Into<String>, hint: Option<String>) -> Result<T, ParameterError> {
    Err(ParameterError { message: message.into(), hint })
}

/// Reads `key=value` and puts it where it belongs; `a.b=1` is inside `a`.
pub(super) fn put(
    schema: &Schema,
    params: &mut Map<String, Value>,
    text: &str,
) -> Result<(), ParameterError> {
    let Some((key, value)) = text.split_once('=') else {
        return refuse(format!("`{text}` is not KEY=VALUE"), Some(usage(schema)));
    };
    let root = schema.document();
    // A name with a dot in it is a name, if the schema has it.
    let path: Vec<&str> = match root["properties"].get(key) {
        Some(_) => vec![key],
        None => key.split('.').collect(),
    };
    let (mut place, mut described) = (params, resolved(root, root));
    let Some((last, parents)) = path.split_last() else { return refuse("a parameter has no name", None) };
    for (depth, name) in parents.iter().enumerate() {
        described = described.and_then(|schema| property(root, schema, name));
        let inner = place.entry((*name).to_owned()).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(inner) = inner else {
            let outer = path[..=depth].join(".");
            return refuse(format!("`{outer}` is given as a value, so `{key}` has no place in it"), None);
        };
        place = inner;
    }
    if let Some(schema) = described {
        known(schema, key, last)?;
    }
    let types =
        described.and_then(|schema| property(root, schema, last)).map(|schema| types_of(root, schema));
    place.insert((*last).to_owned(), read(key, value, &types.unwrap_or_default())?);
    Ok(())
}

/// A schema that lists all its properties takes no other.
fn known(schema: &Value, key: &str, name: &str) -> Result<(), ParameterError> {
    let properties = schema["properties"].as_object();
    let is_closed =
        schema["additionalProperties"] == Value::Bool(false) && schema.get("patternProperties").is_none();
    let names = || properties.into_iter().flat_map(Map::keys).map(String::as_str);
    if !is_closed || names().any(|known| known == name) {
        return Ok(());
    }
    let hint = match meant(name, names()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if names().next().is_none() => "it takes no parameters".to_owned(),
        None => format!("there is: {}", names().collect::<Vec<_>>().join(", ")),
    };
    refuse(format!("there is no parameter `{key}`"), Some(hint))
}

/// Says which required parameters are missing, with what they are for. `prefix` stands before their names when typed.
pub(super) fn missing(schema: &Schema, params: &Map<String, Value>, prefix: &str) -> Option<ParameterError> {
    let document = schema.document();
    let required = document["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let is_missing =
        |name: &&str| !params.contains_key(*name) && document["properties"][*name].get("default").is_none();
    let missing: Vec<&str> = required.filter(is_missing).collect();
    let described = missing.iter().map(|name| match document["properties"][*name]["description"].as_str() {
        Some(description) => format!("`{name}` ({})", description.trim_end_matches('.')),
        None => format!("`{name}`"),
    });
    let list = described.collect::<Vec<_>>().join(", ");
    let message = match missing.len() {
        0 => return None,
        1 => format!("the parameter {list} is missing"),
        _ => format!("parameters are missing: {list}"),
    };
    let example: Vec<String> = missing.iter().map(|name| format!("{prefix}{name}=VALUE")).collect();
    Some(ParameterError { message, hint: Some(format!("give it as {}", example.join(" "))) })
}

fn usage(schema: &Schema) -> String {
    let names: Vec<String> = schema.document()["properties"]
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .map(|name| format!("{name}=VALUE"))
        .collect();
    match names.is_empty() {
        true => "write for example `name=value`, or `--params '{...}'`".to_owned(),
        false => format!("write {}", names.join(" ")),
    }
}

/// Returns the schema of a property.
fn property<'s>(root: &'s Value, schema: &'s Value, name: &str) -> Option<&'s Value> {
    resolved(root, schema.get("properties")?.get(name)?)
}

/// Follows references within the document.
fn resolved<'s>(root: &'s Value, mut schema: &'s Value) -> Option<&'s Value> {
    for _ in 0..REFERENCES_MAX {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
        schema = root.pointer(reference.strip_prefix('#')?)?;
    }
    None
}

/// Returns the types that a value may have; none when the schema does not say.
fn types_of(root: &Value, schema: &Value) -> Vec<String> {
    let mut types = written_types(schema);
    for value in schema["enum"].as_array().into_iter().flatten().chain(schema.get("const")) {
        types.push(type_of(value).to_owned());
    }
    let choices =
        ["anyOf", "oneOf", "allOf"].iter().flat_map(|key| schema[*key].as_array().into_iter().flatten());
    types.extend(choices.filter_map(|choice| resolved(root, choice)).flat_map(written_types));
    types
}

/// Returns what `type` says: a word, or a list of words.
fn written_types(schema: &Value) -> Vec<String> {
    let written = &schema["type"];
    let words = written.as_array().into_iter().flatten().chain(Some(written));
    words.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Reads a value as one of the types; a text that fits no other is a text, if that is a type.
fn read(key: &str, text: &str, types: &[String]) -> Result<Value, ParameterError> {
    let parsed: Option<Value> = serde_json::from_str(text).ok();
    if types.is_empty() {
        return Ok(parsed.unwrap_or_else(|| Value::String(text.to_owned())));
    }
    let has = |wanted: &str| types.iter().any(|name| name == wanted);
    let fits = |value: &Value| match value {
        Value::Number(number) => has("number") || (has("integer") && (number.is_i64() || number.is_u64())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => has(type_of(value)),
        Value::String(_) => false,
    };
    match parsed.filter(fits) {
        Some(value) => Ok(value),
        None if has("string") => Ok(Value::String(text.to_owned())),
        None => refuse(format!("`{key}` must be {}, not `{text}`", words(types)), example(key, types)),
    }
}

fn words(types: &[String]) -> String {
    let word = |name: &String| match name.as_str() {
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a JSON list",
        "object" => "a JSON object",
        "null" => "null",
        _ => "a text",
    };
    let mut words: Vec<&str> = types.iter().map(word).collect();
    words.dedup();
    words.join(" or ")
}

fn example(key: &str, types: &[String]) -> Option<String> {
    match types.first()?.as_str() {
        "array" => Some(format!("write for example {key}='[\"a\", \"b\"]'")),
        "object" => Some(format!("write for example {key}='{{\"a\": 1}}', or {key}.a=1")),
        _ => None,
    }
}

/// Returns the name that was probably meant.
pub(super) fn meant<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|name| (edits(text, name), name)).filter(|(edits, _)| *edits <= EDITS_MAX);
    near.filter(|(edits, name)| *edits < name.chars().count()).min().map(|(_, name)| name)
}

/// Returns how many letters must be put in, taken out or replaced to get from one word to the other.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, against) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *against);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        Schema::parse(json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Who it is."},
                "speed": {"type": "number"},
                "count": {"type": "integer", "default": 1},
                "loud": {"type": "boolean"},
                "tags": {"type": "array"},
                "size": {"$ref": "#/$defs/size"},
                "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "level": {"enum": ["low", 2]},
                "a.b": {"type": "integer"},
                "free": {},
            },
            "required": ["name", "count", "speed"],
            "additionalProperties": false,
            "$defs": {"size": {"type": "object", "properties": {"width": {"type": "integer"}}}},
        }))
        .unwrap()
    }

    #[track_caller]
    fn check(values: &[&str], expected: Value) {
        let mut params = Map::new();
        for value in values {
            put(&schema(), &mut params, value).unwrap();
        }
        assert_eq!(Value::Object(params), expected);
    }

    #[track_caller]
    fn check_refused(value: &str, message: &str, hint: Option<&str>) {
        let error = put(&schema(), &mut Map::new(), value).unwrap_err();
        assert_eq!((error.message.as_str(), error.hint.as_deref()), (message, hint));
    }

    #[test]
    fn values_are_read_as_the_schema_says() {
        check(
            &["name=7", "speed=1.5", "count=3", "loud=true"],
            json!({"name": "7", "speed": 1.5, "count": 3, "loud": true}),
        );
        check(&["tags=[1, 2]", "size.width=4"], json!({"tags": [1, 2], "size": {"width": 4}}));
        check(&["size={\"width\": 5}", "size.height=x=y"], json!({"size": {"width": 5, "height": "x=y"}}));
        check(
            &["either=4", "level=2", "a.b=1", "free=null"],
            json!({"either": 4, "level": 2, "a.b": 1, "free": null}),
        );
        check(
            &["either=four", "level=low", "free=some text", "name="],
            json!({"either": "four", "level": "low", "free": "some text", "name": ""}),
        );
    }

    #[test]
    fn mistakes_are_told() {
        check_refused("speed=fast", "`speed` must be a number, not `fast`", None);
        check_refused("count=1.5", "`count` must be a whole number, not `1.5`", None);
        check_refused(
            "tags=a,b",
            "`tags` must be a JSON list, not `a,b`",
            Some("write for example tags='[\"a\", \"b\"]'"),
        );
        check_refused("sped=1", "there is no parameter `sped`", Some("did you mean `speed`?"));
        let mut params = Map::new();
        put(&schema(), &mut params, "size={}").unwrap();
        params.insert("size".to_owned(), json!(3));
        assert!(put(&schema(), &mut params, "size.width=4").unwrap_err().message.contains("no place"));
        assert!(put(&schema(), &mut params, "name").unwrap_err().message.contains("is not KEY=VALUE"));
    }

    #[test]
    fn what_is_missing_is_told_with_what_it_is_for() {
        let error = missing(&schema(), &Map::new(), "").unwrap();
        assert_eq!(error.message, "parameters are missing: `name` (Who it is), `speed`");
        assert_eq!(error.hint.unwrap(), "give it as name=VALUE speed=VALUE");
    }
}
