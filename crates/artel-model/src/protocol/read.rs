//! Reads one line as an event. Every field is checked by name, so that a mistake is told in the protocol's own words.
//!
//! A field of the wrong type is refused also where it is optional, as the event's schema says; null is as good as
//! nothing there. Unknown fields are ignored.

use serde_json::{Map, Value};

use super::event::{LogLevel, ProtocolVersion, ToolEvent};
use super::media_type::is_media_type;
use super::violation::{ViolationKind, quote};
use crate::json::read_value;

/// Reads a line that is not blank.
pub(super) fn read_event(line: &[u8]) -> Result<ToolEvent, ViolationKind> {
    let mut fields = Fields { event: "an event".to_owned(), object: object(line)? };
    fields.check_version()?;
    match fields.text("type")?.as_str() {
        "log" => fields.called("a `log` event").log(),
        "state_patch" => fields.called("a `state_patch` event").state_patch(),
        "asset" => fields.called("an `asset` event").asset(),
        "ui_event" => fields.called("a `ui_event` event").ui_event(),
        "error" => fields.called("an `error` event").error(),
        "done" => fields.called("a `done` event").done(),
        unknown => Err(ViolationKind::UnknownType { found: text_in_quotes(unknown) }),
    }
}

/// Returns whether a line has nothing on it; such lines are no events, and no mistakes.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

fn object(line: &[u8]) -> Result<Map<String, Value>, ViolationKind> {
    let text = std::str::from_utf8(line)
        .map_err(|error| ViolationKind::NotUtf8 { column: error.valid_up_to() + 1 })?;
    if text.starts_with('\u{feff}') {
        return Err(ViolationKind::ByteOrderMark);
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut refuse = |_: &str, key: &str| Err(format!("the key {key:?} stands twice in one object"));
    let read = read_value(&mut deserializer, &mut refuse).and_then(|value| {
        deserializer.end()?;
        Ok(value)
    });
    match read {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(ViolationKind::NotAnObject { found: noun(&other) }),
        Err(error) => Err(not_json(&error)),
    }
}

fn not_json(error: &serde_json::Error) -> ViolationKind {
    let column = error.column();
    let message = error.to_string();
    let place = format!(" at line {} column {column}", error.line());
    let problem = message.strip_suffix(&place).unwrap_or(&message);
    ViolationKind::NotJson { problem: quote(problem.as_bytes()), column }
}

/// The fields of one event that have not been taken.
struct Fields {
    /// The event, as in "a `log` event".
    event: String,
    object: Map<String, Value>,
}

impl Fields {
    fn called(self, event: &str) -> Self {
        Self { event: event.to_owned(), ..self }
    }

    fn check_version(&mut self) -> Result<(), ViolationKind> {
        self.required("version", "\"0\"", |value| (value == "0").then_some(()).ok_or(value))
    }

    fn log(mut self) -> Result<ToolEvent, ViolationKind> {
        Ok(ToolEvent::Log {
            version: ProtocolVersion::Zero,
            request_id: self.optional_text("requestId")?,
            timestamp: self.optional_text("timestamp")?,
            level: self.level()?,
            message: self.text("message")?,
            fields: self.optional_object("fields")?,
        })
    }

    fn state_patch(mut self) -> Result<ToolEvent, ViolationKind> {
        Ok(ToolEvent::StatePatch {
            version: ProtocolVersion::Zero,
            request_id: self.optional_text("requestId")?,
            timestamp: self.optional_text("timestamp")?,
            patch: self.required("patch", "an object", as_object)?,
        })
    }

    fn asset(mut self) -> Result<ToolEvent, ViolationKind> {
        Ok(ToolEvent::Asset {
            version: ProtocolVersion::Zero,
            request_id: self.optional_text("requestId")?,
            timestamp: self.optional_text("timestamp")?,
            asset_id: self.name("assetId")?,
            kind: self.text("kind")?,
            media_type: self.media_type()?,
            path: self.name("path")?,
            metadata: self.optional_object("metadata")?,
        })
    }

    fn ui_event(mut self) -> Result<ToolEvent, ViolationKind> {
        Ok(ToolEvent::UiEvent {
            version: ProtocolVersion::Zero,
            request_id: self.optional_text("requestId")?,
            timestamp: self.optional_text("timestamp")?,
            event: self.text("event")?,
            payload: self.optional("payload"),
        })
    }

    fn error(mut self) -> Result<ToolEvent, ViolationKind> {
        Ok(ToolEvent::Error {
            version: ProtocolVersion::Zero,
            request_id: self.optional_text("requestId")?,
            timestamp: self.optional_text("timestamp")?,
            error_code: self.text("errorCode")?,
            error_message: self.text("errorMessage")?,
            details: self.optional("details"),
        })
    }

    fn done(mut self) -> Result<ToolEvent, ViolationKind> {
        Ok(ToolEvent::Done {
            version: ProtocolVersion::Zero,
            request_id: self.optional_text("requestId")?,
            timestamp: self.optional_text("timestamp")?,
            ok: self.required("ok", "true or false", |value| value.as_bool().ok_or(value))?,
            summary: self.optional_text("summary")?,
            output: self.optional_object("output")?,
        })
    }

    fn level(&mut self) -> Result<LogLevel, ViolationKind> {
        self.required("level", "debug, info, warn or error", |value| match value.as_str() {
            Some("debug") => Ok(LogLevel::Debug),
            Some("info") => Ok(LogLevel::Info),
            Some("warn") => Ok(LogLevel::Warn),
            Some("error") => Ok(LogLevel::Error),
            Some(_) | None => Err(value),
        })
    }

    fn media_type(&mut self) -> Result<String, ViolationKind> {
        self.required("mediaType", "a MIME type such as image/png", |value| {
            if value.as_str().is_some_and(is_media_type) { as_text(value) } else { Err(value) }
        })
    }

    /// A text that is not empty.
    fn name(&mut self, field: &'static str) -> Result<String, ViolationKind> {
        let is_name = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        self.required(field, "a text that is not empty", |value| {
            if is_name(&value) { as_text(value) } else { Err(value) }
        })
    }

    fn text(&mut self, field: &'static str) -> Result<String, ViolationKind> {
        self.required(field, "a text", as_text)
    }

    fn optional_text(&mut self, field: &'static str) -> Result<Option<String>, ViolationKind> {
        let taken = self.optional(field).map(as_text).transpose();
        taken.map_err(|found| self.wrong(field, "a text", &found))
    }

    fn optional_object(&mut self, field: &'static str) -> Result<Option<Map<String, Value>>, ViolationKind> {
        let taken = self.optional(field).map(as_object).transpose();
        taken.map_err(|found| self.wrong(field, "an object", &found))
    }

    /// Takes a field that must be there; `read` gives the value back when it is not what is expected.
    fn required<T>(
        &mut self,
        field: &'static str,
        expected: &'static str,
        read: impl FnOnce(Value) -> Result<T, Value>,
    ) -> Result<T, ViolationKind> {
        let Some(value) = self.object.remove(field) else {
            return Err(ViolationKind::MissingField { event: self.event.clone(), field });
        };
        read(value).map_err(|found| self.wrong(field, expected, &found))
    }

    fn optional(&mut self, field: &'static str) -> Option<Value> {
        self.object.remove(field).filter(|value| !value.is_null())
    }

    fn wrong(&self, field: &'static str, expected: &'static str, found: &Value) -> ViolationKind {
        ViolationKind::WrongField { event: self.event.clone(), field, expected, found: describe(found) }
    }
}

fn as_text(value: Value) -> Result<String, Value> {
    if let Value::String(text) = value { Ok(text) } else { Err(value) }
}

fn as_object(value: Value) -> Result<Map<String, Value>, Value> {
    if let Value::Object(object) = value { Ok(object) } else { Err(value) }
}

/// Returns a value in words; a short one as it is.
fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => text_in_quotes(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => noun(value).to_owned(),
    }
}

/// Returns a text in quotes, or what it is when it is long.
fn text_in_quotes(text: &str) -> String {
    const CHARS_MAX: usize = 40;
    if text.chars().count() > CHARS_MAX {
        "a longer text".to_owned()
    } else {
        format!("\"{}\"", quote(text.as_bytes()))
    }
}

fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
