//! The further fields of a saved skill: which there may be, and how they stand in the frontmatter.

use artel_model::limit::{
    COMPATIBILITY_CHARS_MAX, CUSTOM_METADATA_BYTES_MAX, DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX, TAG_CHARS_MAX,
    TAGS_MAX,
};
use artel_model::tool::ToolPattern;
use artel_model::version::WrittenVersion;
use serde_json::{Map, Value};

use super::draft::{Problems, member};

const PARENT: &str = "/metadata";

/// Keys that would look like something that people cannot set, or that have a field of their own.
const RESERVED: [&str; 16] = [
    "id",
    "name",
    "title",
    "display_name",
    "description",
    "content",
    "source",
    "source_id",
    "visibility",
    "team_ids",
    "owner_user_id",
    "scan",
    "scan_status",
    "content_hash",
    "created_at",
    "updated_at",
];

/// Fields of the open format that stand beside the name, with the most characters each may have.
const OWN_FIELDS: [(&str, usize); 2] =
    [("license", DESCRIPTION_CHARS_MAX), ("compatibility", COMPATIBILITY_CHARS_MAX)];

/// Fields that must be true or false and stand beside the name, because clients look for them there.
const SWITCHES: [&str; 2] = ["disable-model-invocation", "user-invocable"];

const ALLOWED_TOOLS: [&str; 2] = ["allowed-tools", "allowed_tools"];

/// What a field says in the frontmatter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Written {
    Text(String),
    Flag(bool),
}

/// Reports what is wrong with the fields.
pub(super) fn check_metadata(metadata: &Map<String, Value>, problems: &mut Problems) {
    if serde_json::to_vec(metadata).map_or(usize::MAX, |json| json.len()) > CUSTOM_METADATA_BYTES_MAX {
        let message = format!("the metadata has more than {CUSTOM_METADATA_BYTES_MAX} bytes");
        return problems.report(PARENT, message);
    }
    if ALLOWED_TOOLS.iter().all(|key| metadata.contains_key(*key)) {
        problems.report(PARENT, "`allowed-tools` and `allowed_tools` are the same field");
    }
    let mut members: Vec<(&String, &Value)> = metadata.iter().collect();
    members.sort_by_key(|(key, _)| *key);
    for (key, value) in members {
        if let Err(message) = check_key(key).and_then(|()| check_value(key, value)) {
            problems.report(member(PARENT, key), message);
        }
    }
}

fn check_key(key: &str) -> Result<(), String> {
    if key.is_empty() || key.chars().count() > NAME_CHARS_MAX {
        Err(format!("a key has 1 to {NAME_CHARS_MAX} characters"))
    } else if key.chars().any(char::is_control) || key.trim() != key {
        Err("a key holds no control characters, and no spaces at its ends".to_owned())
    } else if RESERVED.contains(&key) {
        Err("this is not part of the metadata".to_owned())
    } else {
        Ok(())
    }
}

fn check_value(key: &str, value: &Value) -> Result<(), String> {
    let text = written(key, value).ok_or("only texts, numbers, true and false can stand here")?;
    let longest = OWN_FIELDS.iter().find(|(name, _)| *name == key).map(|(_, longest)| *longest);
    match (key, text) {
        (_, Written::Text(text)) if text.contains('\0') => Err("a text holds no NUL".to_owned()),
        (_, Written::Text(text)) if longest.is_some_and(|longest| text.chars().count() > longest) => {
            Err(format!("it has more than {} characters", longest.unwrap_or_default()))
        }
        ("version", Written::Text(text)) if WrittenVersion::parse(&text).is_none() => {
            Err("this is no version: write three numbers, like 1.2.3".to_owned())
        }
        ("tags", Written::Text(_)) => check_tags(value),
        (key, Written::Text(_)) if ALLOWED_TOOLS.contains(&key) => check_tools(value),
        (key, Written::Text(_)) if SWITCHES.contains(&key) => Err("this must be true or false".to_owned()),
        (_, Written::Text(_) | Written::Flag(_)) => Ok(()),
    }
}

fn check_tags(value: &Value) -> Result<(), String> {
    let tags = texts(value).unwrap_or_default();
    if tags.len() > TAGS_MAX {
        return Err(format!("a skill has at most {TAGS_MAX} tags"));
    }
    let is_wrong = |tag: &&&str| {
        tag.is_empty()
            || tag.chars().count() > TAG_CHARS_MAX
            || tag.contains([' ', ',']) && value.is_array()
            || tag.chars().any(char::is_control)
    };
    match tags.iter().find(is_wrong) {
        Some(_) => Err(format!("a tag has 1 to {TAG_CHARS_MAX} characters and neither spaces nor commas")),
        None => Ok(()),
    }
}

fn check_tools(value: &Value) -> Result<(), String> {
    let tools: Vec<&str> = match value {
        Value::Array(_) => texts(value).unwrap_or_default(),
        // A text is taken apart when the file is read.
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Ok(());
        }
    };
    match tools.iter().find_map(|tool| tool.parse::<ToolPattern>().err()) {
        Some(why) => Err(why.to_string()),
        None => Ok(()),
    }
}

/// Returns a list of texts, or a text with commas or spaces between words.
fn texts(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        Value::String(text) => Some(text.split([',', ' ']).filter(|word| !word.is_empty()).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Returns what a value is in the frontmatter, where everything is a text but switches.
fn written(key: &str, value: &Value) -> Option<Written> {
    let is_list = key == "tags" || ALLOWED_TOOLS.contains(&key);
    match value {
        Value::String(text) => Some(Written::Text(text.clone())),
        Value::Number(number) => Some(Written::Text(number.to_string())),
        Value::Bool(flag) if SWITCHES.contains(&key) => Some(Written::Flag(*flag)),
        Value::Bool(flag) => Some(Written::Text(flag.to_string())),
        Value::Array(_) if is_list => {
            let between = if key == "tags" { "," } else { " " };
            texts(value).map(|texts| Written::Text(texts.join(between)))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the lines of the frontmatter that the fields become: those of the open format first, then the others by key.
pub(super) fn frontmatter(metadata: &Map<String, Value>) -> Vec<(String, Written)> {
    let mut own = Vec::new();
    let mut others = Vec::new();
    for (key, value) in metadata {
        let Some(value) = written(key, value) else { continue };
        if ALLOWED_TOOLS.contains(&key.as_str()) {
            own.push(("allowed-tools".to_owned(), value));
        } else if OWN_FIELDS.iter().any(|(name, _)| name == key) || SWITCHES.contains(&key.as_str()) {
            own.push((key.clone(), value));
        } else {
            others.push((format!("metadata.{key}"), value));
        }
    }
    own.sort_by(|(a, _), (b, _)| a.cmp(b));
    others.sort_by(|(a, _), (b, _)| a.cmp(b));
    own.into_iter().chain(others).collect()
}
