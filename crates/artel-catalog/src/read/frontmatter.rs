//! `SKILL.md`: where its frontmatter ends, and what the fields in it mean.

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::limit;
use artel_model::tool::ToolPattern;
use artel_model::version::{Version, WrittenVersion};
use serde_json::Value;

use super::draft::{At, Draft};
use super::reader::{Field, Fields, Reader, Spelling, is_restriction};
use crate::document::{Part, Repetition};

/// The two parts of a `SKILL.md`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Frontmatter<'a> {
    /// The YAML, which starts on the second line.
    pub(crate) yaml: &'a str,
    /// The instructions.
    pub(crate) body: &'a str,
}

/// Why a `SKILL.md` has no frontmatter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SplitError {
    Missing,
    Unclosed,
}

/// Splits a `SKILL.md` at its `---` lines. Spaces after the hyphens do no harm.
pub(crate) fn split(text: &str) -> Result<Frontmatter<'_>, SplitError> {
    let first_end = text.find('\n').map_or(text.len(), |at| at + 1);
    if text[..first_end].trim_end() != "---" {
        return Err(SplitError::Missing);
    }
    let mut at = first_end;
    for line in text[first_end..].split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok(Frontmatter { yaml: &text[first_end..at], body: &text[at + line.len()..] });
        }
        at += line.len();
    }
    Err(SplitError::Unclosed)
}

/// Fields that clients act on where they stand: moving one would, say, let a model start a skill by itself that only a
/// person should.
pub(crate) const CLIENT_FIELDS: [&str; 18] = [
    "agent",
    "argument-hint",
    "arguments",
    "command-arg-mode",
    "command-dispatch",
    "command-tool",
    "context",
    "disable-model-invocation",
    "disallowed-tools",
    "effort",
    "hooks",
    "mode",
    "model",
    "paths",
    "shell",
    "user-invocable",
    "when-to-use",
    "when_to_use",
];

/// For fields that mean something to some clients where they stand.
const CLIENT_FIELD_HINT: &str = "a field of some clients, not of the open format: keep it if you use them";
/// For every other field.
const METADATA_HINT: &str = "move it under `metadata:`";

/// Says whether repeating a key may drop a restriction: one of the fields, or one that is kept in the metadata.
fn may_restrict(repetition: &Repetition<'_>) -> bool {
    let name = if repetition.field == "metadata" { &repetition.key.text } else { repetition.field };
    is_restriction(name)
}

/// Reads the fields of a frontmatter. Fields outside the open format are reported, understood where we know them, and
/// kept in the metadata.
pub(crate) fn read_frontmatter(mut reader: Reader<'_>) -> (Draft, Vec<Finding>) {
    reader.report_repetitions(&reader.document.repetitions(), may_restrict);
    let mut draft = Draft::default();
    let Value::Object(object) = &reader.document.value else {
        // An empty frontmatter is a mapping without fields.
        reader.report_missing("name", "");
        reader.report_missing("description", "");
        return (draft, reader.findings);
    };
    let mut fields = reader.fields(object, "", Spelling::Exact);
    draft.name = read_name(&mut reader, fields.take("name"), "");
    draft.description = read_description(&mut reader, fields.take("description"), "");
    draft.license = reader.located_text(fields.take("license"), limit::DESCRIPTION_CHARS_MAX);
    draft.compatibility = reader.located_text(fields.take("compatibility"), limit::COMPATIBILITY_CHARS_MAX);
    draft.allowed_tools = read_allowed_tools(&mut reader, fields.take("allowed-tools"));
    if let Some(metadata) = fields.take("metadata") {
        draft.metadata = reader.object(&metadata).cloned().unwrap_or_default();
    }
    read_extras(&mut reader, &mut fields, &mut draft);
    if draft.version.is_none() {
        draft.version = metadata_version(&mut reader);
    }
    (draft, reader.findings)
}

/// Reads the fields that are not part of the open format: what we understand, and the rest into the metadata.
fn read_extras<'a>(reader: &mut Reader<'a>, fields: &mut Fields<'a>, draft: &mut Draft) {
    for field in fields.rest() {
        draft.metadata.entry(field.key.to_owned()).or_insert_with(|| field.value.clone());
        let message = format!("`{}` is not a field of the open format", field.key);
        let is_client_field = CLIENT_FIELDS.contains(&field.key);
        let hint = if is_client_field { CLIENT_FIELD_HINT } else { METADATA_HINT };
        reader.report(Code::FieldUnknown, &field.pointer, Part::Key, message, Some(hint));
    }
    let extra = |name: &str| draft.metadata.get(name);
    let place = |name: &str| {
        let top_level = format!("/{name}");
        let at_top = reader.document.value.pointer(&top_level).is_some();
        let pointer = if at_top { top_level } else { format!("/metadata/{name}") };
        reader.document.position(&pointer, Part::Value)
    };
    let text = |name: &str| {
        let value = extra(name).and_then(Value::as_str)?.to_owned();
        Some(At { value, position: place(name) })
    };
    draft.author = text("author");
    draft.homepage = text("homepage");
    draft.display_name = text("display_name").or_else(|| text("title"));
    draft.tags = extra("tags").map(|tags| At { value: words(tags), position: place("tags") });
    draft.disable_model_invocation = read_switch(reader, "disable-model-invocation", true);
    draft.user_invocable = read_switch(reader, "user-invocable", false);
    if fields.take("version").is_some() {
        draft.version = written_version(reader, "/version");
    }
}

/// Reads a switch that restricts when it is `strict`, as a field or in the metadata; where both have it, the stricter
/// one counts. What cannot be read is strict.
fn read_switch(reader: &mut Reader<'_>, name: &str, strict: bool) -> Option<At<bool>> {
    let mut switch: Option<At<bool>> = None;
    for pointer in [format!("/{name}"), format!("/metadata/{name}")] {
        let Some(value) = reader.document.value.pointer(&pointer) else { continue };
        let read = match value {
            Value::Bool(value) => Some(*value),
            Value::String(text) => text.trim().to_ascii_lowercase().parse().ok(),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if read.is_none() {
            let message = format!("`{name}` must be true or false; it counts as {strict}");
            reader.report(Code::FieldType, &pointer, Part::Value, message, None);
        }
        let value = read.unwrap_or(strict);
        if switch.is_none() || value == strict {
            switch = Some(At { value, position: reader.document.position(&pointer, Part::Value) });
        }
    }
    switch
}

/// A list of texts, or a text with commas or spaces between words.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) => {
            text.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

fn metadata_version(reader: &mut Reader<'_>) -> Option<At<Version>> {
    reader.document.value.get("metadata")?.get("version")?;
    written_version(reader, "/metadata/version")
}

/// Reads a version as it was written: `1.10` without quotes is not the number 1.1.
fn written_version(reader: &mut Reader<'_>, pointer: &str) -> Option<At<Version>> {
    let text = reader.document.scalar(pointer)?;
    match WrittenVersion::parse(text) {
        Some(version) => {
            let position = reader.document.position(pointer, Part::Value);
            Some(At { value: version.into_version(), position })
        }
        None => {
            let message = format!("`{text}` is not a version; 0.0.0 is used");
            reader.report(
                Code::VersionIgnored,
                pointer,
                Part::Value,
                message,
                Some("write three numbers: `\"1.2.3\"`"),
            );
            None
        }
    }
}

pub(super) fn read_name<'a>(
    reader: &mut Reader<'a>,
    field: Option<Field<'a>>,
    parent: &str,
) -> Option<At<String>> {
    let Some(field) = field else {
        reader.report_missing("name", parent);
        return None;
    };
    let text = reader.required_text(&field)?;
    Some(At { value: text.to_owned(), position: reader.place(&field) })
}

pub(super) fn read_description<'a>(
    reader: &mut Reader<'a>,
    field: Option<Field<'a>>,
    parent: &str,
) -> Option<At<String>> {
    let Some(field) = field else {
        reader.report_missing("description", parent);
        return None;
    };
    let text = reader.required_text(&field)?;
    reader.check_length(&field, text, limit::DESCRIPTION_CHARS_MAX);
    if has_markup(text) {
        let message = "the description holds XML-like tags".to_owned();
        let hint = Some("Claude refuses such skills in an upload: say it without angle brackets");
        reader.report(Code::DescriptionMarkup, &field.pointer, Part::Value, message, hint);
    }
    Some(At { value: text.trim().to_owned(), position: reader.place(&field) })
}

/// Says whether a text holds something like `<tag>`.
pub(crate) fn has_markup(text: &str) -> bool {
    let Some(last_end) = text.rfind('>') else { return false };
    text[..last_end].match_indices('<').any(|(at, _)| {
        let rest = &text[at + 1..last_end];
        rest.strip_prefix('/').unwrap_or(rest).starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

fn read_allowed_tools<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<At<Vec<ToolPattern>>> {
    let field = field?;
    let entries: Vec<String> = match field.value {
        Value::String(text) => split_tools(text),
        Value::Null => return None,
        Value::Array(items) => {
            let tools: Vec<String> = items.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            let message =
                "`allowed-tools` must be a text with spaces between the tools, not a list".to_owned();
            let hint = format!("write `allowed-tools: {}`", tools.join(" "));
            reader.report(Code::FieldType, &field.pointer, Part::Value, message, Some(&hint));
            tools
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            reader.wrong_type(&field, "a text with spaces between the tools");
            Vec::new()
        }
    };
    let mut patterns = Vec::new();
    for entry in entries {
        match entry.parse() {
            Ok(pattern) => patterns.push(pattern),
            Err(error) => reader.bad_pattern(&field.pointer, &entry, &error),
        }
    }
    Some(At { value: patterns, position: reader.place(&field) })
}

/// Splits `Bash(git log:*) Read, Write` at spaces and commas outside parentheses.
fn split_tools(text: &str) -> Vec<String> {
    let mut tools = vec![String::new()];
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (character.is_whitespace() || character == ',') {
            tools.push(String::new());
        } else if let Some(last) = tools.last_mut() {
            last.push(character);
        }
    }
    tools.retain(|tool| !tool.is_empty());
    tools
}

impl<'a> Reader<'a> {
    /// Reports that a required field is not there, at the object that should have it.
    pub(super) fn report_missing(&mut self, name: &str, parent: &str) {
        let message = format!("`{name}` is missing");
        let hint = match name {
            "description" => Some("say in one or two sentences what the skill does and when to use it"),
            "name" => Some("give the folder's name: lower-case letters, digits and hyphens"),
            _ => None,
        };
        if parent.is_empty() {
            self.report_at(Code::FieldMissing, Position::START, message, hint);
        } else {
            self.report(Code::FieldMissing, parent, Part::Value, message, hint);
        }
    }

    /// Returns a text that may not be blank.
    pub(super) fn required_text(&mut self, field: &Field<'a>) -> Option<&'a str> {
        let is_written = || self.document.scalar(&field.pointer).is_some_and(|text| !text.is_empty());
        match field.value {
            Value::String(text) if !text.trim().is_empty() => Some(text),
            Value::Null if is_written() => {
                self.wrong_type(field, "a text");
                None
            }
            Value::String(_) | Value::Null => {
                let message = format!("`{}` is empty", field.key);
                self.report(Code::FieldEmpty, &field.pointer, Part::Value, message, None);
                None
            }
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                self.wrong_type(field, "a text");
                None
            }
        }
    }

    /// Reports an entry of a tool list that cannot be read.
    pub(super) fn bad_pattern(&mut self, pointer: &str, entry: &str, error: &dyn std::error::Error) {
        let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
        let shown: String = entry.chars().take(60).collect();
        let message = format!("`{shown}` is not a tool pattern: {error}{cause}");
        let hint = Some("write a tool's name, `prefix*`, or `Tool(argument:*)`");
        self.report(Code::ToolPatternInvalid, pointer, Part::Value, message, hint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(&str, &str), SplitError>) {
        assert_eq!(split(text).map(|found| (found.yaml, found.body)), expected);
    }

    #[test]
    fn the_frontmatter_is_between_two_lines() {
        check("---\na: 1\n---\nbody\n", Ok(("a: 1\n", "body\n")));
        check("---\r\na: 1\r\n---\r\nbody", Ok(("a: 1\r\n", "body")));
        check("---  \na: 1\n--- \n", Ok(("a: 1\n", "")));
        check("---\n---", Ok(("", "")));
        check("---\na: --- b\n ---\n---\n", Ok(("a: --- b\n ---\n", "")));
        check("# no", Err(SplitError::Missing));
        check("\n---\n---\n", Err(SplitError::Missing));
        check("", Err(SplitError::Missing));
        check("----\n---\n", Err(SplitError::Missing));
        check("---\na: 1\n", Err(SplitError::Unclosed));
    }

    #[test]
    fn tools_may_hold_spaces_in_parentheses() {
        assert_eq!(split_tools("Bash(git log:*) Read,Write"), ["Bash(git log:*)", "Read", "Write"]);
        assert_eq!(split_tools("  "), [""; 0]);
    }

    #[test]
    fn markup_is_told_from_comparison() {
        assert!(has_markup("use <b>this</b>"));
        assert!(has_markup("</skill>"));
        assert!(!has_markup("when a < b and c > d"));
        assert!(!has_markup("less <3"));
        assert!(!has_markup("a > b <c"));
        assert!(!has_markup(&"<a".repeat(500_000)));
    }
}
