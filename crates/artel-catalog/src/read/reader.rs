//! Typed access to the fields of a document: what does not fit is reported with its place and left out.

use std::borrow::Cow;

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::limit::{DIAGNOSTICS_PER_SKILL_MAX, LIST_ITEMS_MAX};
use artel_model::schema::push_pointer;
use camino::Utf8Path;
use serde_json::{Map, Value};

use super::draft::At;
use crate::document::{Document, Part, Repetition};

/// Reads one document and collects what is wrong with it.
pub(crate) struct Reader<'a> {
    path: &'a Utf8Path,
    pub(crate) document: &'a Document<'a>,
    pub(crate) findings: Vec<Finding>,
    /// What a value that cannot be read is reported as, where leaving it out would allow more.
    failure: Option<Code>,
}

/// The fields of one object, each taken at most once; what nobody takes is unknown.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    entries: Vec<(Cow<'a, str>, Field<'a>)>,
}

/// One value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    /// The key as it was written.
    pub(crate) key: &'a str,
    pub(crate) pointer: String,
    pub(crate) value: &'a Value,
}

/// How keys are written in a document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Spelling {
    /// As they are.
    Exact,
    /// `snake_case` or `camelCase`, meaning the same.
    SnakeOrCamel,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(path: &'a Utf8Path, document: &'a Document<'a>) -> Self {
        Self { path, document, findings: Vec::new(), failure: None }
    }

    /// Reports something at a place of the document.
    pub(crate) fn report(
        &mut self,
        code: Code,
        pointer: &str,
        part: Part,
        message: String,
        hint: Option<&str>,
    ) {
        let code = self.failure.filter(|_| is_left_out(code)).unwrap_or(code);
        self.report_at(code, self.place_of(pointer, part), message, hint);
    }

    /// Reads something that must be read in full or not at all: what would be left out is reported as `code`.
    pub(crate) fn in_full<T>(&mut self, code: Code, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.failure.replace(code);
        let value = read(self);
        self.failure = outer;
        value
    }

    /// Looks a place up. Where there is more to say than anybody is shown, that would only take time, so the rest is
    /// put behind everything that has a place.
    fn place_of(&self, pointer: &str, part: Part) -> Position {
        if self.findings.len() > DIAGNOSTICS_PER_SKILL_MAX {
            return Position { line: u32::MAX, column: u32::MAX };
        }
        self.document.position(pointer, part)
    }

    /// Reports something at a known place.
    pub(crate) fn report_at(&mut self, code: Code, position: Position, message: String, hint: Option<&str>) {
        let hint = hint.map(str::to_owned);
        self.findings.push(Finding {
            code,
            message,
            path: self.path.to_owned(),
            position: Some(position),
            hint,
        });
    }

    /// Reports keys that stand in their object already. Where that may drop a restriction, which one was meant is not
    /// guessed.
    pub(crate) fn report_repetitions(
        &mut self,
        repetitions: &[Repetition<'_>],
        may_restrict: impl Fn(&Repetition<'_>) -> bool,
    ) {
        for repetition in repetitions {
            let key = &repetition.key.text;
            let (code, message) = if may_restrict(repetition) {
                (Code::RestrictionRepeated, format!("`{key}` stands here a second time, and it restricts"))
            } else {
                (Code::DuplicateKey, format!("`{key}` stands here a second time; the last one counts"))
            };
            let position = self.document.place_of(repetition.key);
            self.report_at(code, position, message, Some("keep one of them"));
        }
    }

    /// Takes an object apart. Keys that start with `$` are left to tools like editors.
    pub(crate) fn fields(
        &mut self,
        object: &'a Map<String, Value>,
        pointer: &str,
        spelling: Spelling,
    ) -> Fields<'a> {
        let mut entries: Vec<(Cow<'a, str>, Field<'a>)> = Vec::with_capacity(object.len());
        for (key, value) in object.iter().filter(|(key, _)| !key.starts_with('$')) {
            let mut at = String::with_capacity(pointer.len() + "/".len() + key.len());
            at.push_str(pointer);
            push_pointer(&mut at, key);
            let name = match spelling {
                Spelling::Exact => Cow::Borrowed(key.as_str()),
                Spelling::SnakeOrCamel => Cow::Owned(snake(key)),
            };
            entries.push((name, Field { key, pointer: at, value }));
        }
        match spelling {
            Spelling::Exact => {}
            Spelling::SnakeOrCamel => self.fold_spellings(&mut entries),
        }
        Fields { entries }
    }

    /// Of one field in two spellings the later one in the text is reported, and the plain one is kept.
    fn fold_spellings(&mut self, entries: &mut Vec<(Cow<'a, str>, Field<'a>)>) {
        entries.sort_by(|(a, left), (b, right)| {
            a.cmp(b).then(right.key.contains('_').cmp(&left.key.contains('_')))
        });
        let mut kept: Vec<(Cow<'a, str>, Field<'a>)> = Vec::with_capacity(entries.len());
        for (name, field) in entries.drain(..) {
            match kept.last() {
                Some((previous, first)) if *previous == name => {
                    let place = |field: &Field<'_>| self.place_of(&field.pointer, Part::Key);
                    let later = if place(&field) > place(first) { &field } else { first };
                    let (pointer, key) = (later.pointer.clone(), later.key);
                    let message = format!("`{key}` is another spelling of a field that stands here already");
                    let restricts = self.failure.is_some() || is_restriction(&name);
                    let code = if restricts { Code::RestrictionRepeated } else { Code::DuplicateKey };
                    self.report(code, &pointer, Part::Key, message, Some("keep one of them"));
                }
                Some(_) | None => kept.push((name, field)),
            }
        }
        *entries = kept;
    }

    /// Reports the fields that nobody took.
    pub(crate) fn report_unknown(&mut self, fields: Fields<'a>, hint: &str) {
        for (_, field) in fields.entries {
            let message = format!("`{}` is not a field of this format", field.key);
            self.report(Code::FieldUnknown, &field.pointer, Part::Key, message, Some(hint));
        }
    }

    pub(crate) fn wrong_type(&mut self, field: &Field<'_>, expected: &str) {
        let message = format!("`{}` must be {expected}, not {}", field.key, type_name(field.value));
        self.report(Code::FieldType, &field.pointer, Part::Value, message, None);
    }

    /// Returns a text of at most `chars_max` characters; a longer one is reported and kept.
    pub(crate) fn text(&mut self, field: Option<Field<'a>>, chars_max: usize) -> Option<String> {
        let field = field?;
        let Value::String(text) = field.value else {
            self.wrong_type(&field, "a text");
            return None;
        };
        self.check_length(&field, text, chars_max);
        Some(text.clone())
    }

    /// Returns a text like [`Reader::text`], with its place.
    pub(crate) fn located_text(&mut self, field: Option<Field<'a>>, chars_max: usize) -> Option<At<String>> {
        let position = self.place(field.as_ref()?);
        self.text(field, chars_max).map(|value| At { value, position })
    }

    /// Returns where a field's value stands.
    pub(crate) fn place(&self, field: &Field<'_>) -> Position {
        self.document.position(&field.pointer, Part::Value)
    }

    pub(crate) fn check_length(&mut self, field: &Field<'_>, text: &str, chars_max: usize) {
        let chars = text.chars().count();
        if chars > chars_max {
            let message = format!("`{}` has {chars} characters, at most {chars_max} are allowed", field.key);
            let hint = Some("say it shorter; details belong into the instructions");
            self.report(Code::FieldTooLong, &field.pointer, Part::Value, message, hint);
        }
    }

    pub(crate) fn boolean(&mut self, field: Option<Field<'a>>) -> Option<bool> {
        let field = field?;
        if let Value::Bool(value) = field.value {
            return Some(*value);
        }
        self.wrong_type(&field, "true or false");
        None
    }

    /// Reads a switch that restricts when it is `strict`, which is also what an unreadable one counts as.
    pub(crate) fn restriction(&mut self, field: Option<Field<'a>>, strict: bool) -> Option<At<bool>> {
        let position = self.place(field.as_ref()?);
        let value = self.boolean(field).unwrap_or(strict);
        Some(At { value, position })
    }

    /// Returns a whole number; one outside the range is reported and moved to the nearest end.
    pub(crate) fn integer(&mut self, field: Option<Field<'a>>, min: u64, max: u64) -> Option<u32> {
        let field = field?;
        let Some(number) = field.value.as_i64().or_else(|| field.value.as_u64().map(|_| i64::MAX)) else {
            self.wrong_type(&field, "a whole number");
            return None;
        };
        let unsigned = u64::try_from(number).unwrap_or(0);
        if number < 0 || unsigned < min || unsigned > max {
            let message = format!("`{}` is {number}, allowed are {min} to {max}", field.key);
            self.report(Code::FieldOutOfRange, &field.pointer, Part::Value, message, None);
        }
        u32::try_from(unsigned.clamp(min, max)).ok()
    }

    pub(crate) fn object(&mut self, field: &Field<'a>) -> Option<&'a Map<String, Value>> {
        match field.value {
            Value::Object(object) => Some(object),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.wrong_type(field, "an object");
                None
            }
        }
    }

    /// Returns the entries of a list, each as a field with the list's key.
    pub(crate) fn list(&mut self, field: Option<Field<'a>>) -> Option<Vec<Field<'a>>> {
        let field = field?;
        let Value::Array(items) = field.value else {
            self.wrong_type(&field, "a list");
            return None;
        };
        if items.len() > LIST_ITEMS_MAX {
            let message =
                format!("`{}` has {} entries, at most {LIST_ITEMS_MAX} are allowed", field.key, items.len());
            self.report(Code::FieldOutOfRange, &field.pointer, Part::Value, message, None);
        }
        let entry =
            |(index, value)| Field { key: field.key, pointer: format!("{}/{index}", field.pointer), value };
        Some(items.iter().take(LIST_ITEMS_MAX).enumerate().map(entry).collect())
    }

    /// Returns a list of texts; entries that are none are reported and left out.
    pub(crate) fn texts(&mut self, field: Option<Field<'a>>) -> Option<Vec<String>> {
        let entries = self.list(field)?;
        let mut texts = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.value {
                Value::String(text) => texts.push(text.clone()),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    self.wrong_type(&entry, "a list of texts");
                }
            }
        }
        Some(texts)
    }
}

impl<'a> Fields<'a> {
    /// Takes the field of that name, if it is there.
    pub(crate) fn take(&mut self, name: &str) -> Option<Field<'a>> {
        let at = self.entries.iter().position(|(entry, _)| entry == name)?;
        Some(self.entries.remove(at).1)
    }

    /// Returns what nobody has taken yet.
    pub(crate) fn rest(&self) -> impl Iterator<Item = &Field<'a>> {
        self.entries.iter().map(|(_, field)| field)
    }
}

/// The fields of a manifest that allow less than a skill without them may do.
const RESTRICTIONS: [&str; 9] = [
    "allowed_tools",
    "compatibility_rules",
    "composability_rules",
    "disable_model_invocation",
    "error_policy",
    "forbidden_tools",
    "sandbox",
    "steps",
    "user_invocable",
];

/// Says whether a field, written in either spelling or with hyphens, restricts a skill.
pub(crate) fn is_restriction(name: &str) -> bool {
    // Nothing longer can be one, and a name may be as long as its file.
    name.len() <= 64 && RESTRICTIONS.contains(&snake(name).replace('-', "_").as_str())
}

/// Says whether a finding means that a value, or a part of it, was left out or changed. A field that nobody knows may be
/// a misspelt guard.
fn is_left_out(code: Code) -> bool {
    matches!(
        code,
        Code::FieldType
            | Code::FieldEmpty
            | Code::FieldMissing
            | Code::FieldOutOfRange
            | Code::FieldUnknown
            | Code::FieldValue
            | Code::NameInvalid
            | Code::ToolPatternInvalid
    )
}

pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn snake(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 4);
    for character in key.chars() {
        if character.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}
