//! JSON by the letter: no comments, no trailing commas, bounded depth.

use artel_model::diagnostic::Position;
use artel_model::limit::DOCUMENT_DEPTH_MAX;
use serde_json::Value;

/// Why a text could not be read as JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonError {
    pub(crate) position: Position,
    pub(crate) message: String,
}

/// Reads a JSON document.
pub(crate) fn parse_json(text: &str) -> Result<Value, JsonError> {
    let value: Value = serde_json::from_str(text).map_err(|error| JsonError {
        position: Position { line: small(error.line()), column: small(error.column()) },
        message: plain_message(&error),
    })?;
    if depth_exceeds(&value, DOCUMENT_DEPTH_MAX) {
        let message = format!("values are nested deeper than {DOCUMENT_DEPTH_MAX} levels");
        return Err(JsonError { position: Position::START, message });
    }
    Ok(value)
}

fn small(number: usize) -> u32 {
    u32::try_from(number.max(1)).unwrap_or(u32::MAX)
}

/// The parser's message without the place, which is told apart.
fn plain_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(at) => message[..at].to_owned(),
        None => message,
    }
}

fn depth_exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| depth_exceeds(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|item| depth_exceeds(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
