//! JSON-RPC 2.0 as text: what a line asks for, and how answers look. Nothing here knows a method.

use serde_json::{Map, Value, json};

use crate::error::{CadError, Code};
use crate::limit::{BATCH_MAX, LINE_BYTES_MAX};

/// What one line asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// One request, or what is wrong with it.
    Single(Result<Request, Refusal>),
    /// Several, answered together.
    Batch(Vec<Result<Request, Refusal>>),
}

/// A well-formed request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// The id to answer with; a notification has none and is not answered.
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// A request that is not one, and the id to answer with as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) id: Value,
    pub(crate) error: CadError,
}

/// Takes a line apart.
pub(crate) fn parse_line(line: &[u8]) -> Line {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("the line is not JSON: {error}");
            let error = CadError::new(Code::ParseError, message).hint("send one JSON object on each line");
            return Line::Single(Err(Refusal { id: Value::Null, error }));
        }
    };
    let Value::Array(items) = value else { return Line::Single(request(value)) };
    match items.len() {
        0 => Line::Single(Err(refuse(Value::Null, "the batch is empty"))),
        1..=BATCH_MAX => Line::Batch(items.into_iter().map(request).collect()),
        count => {
            let message = format!("the batch has {count} requests, {BATCH_MAX} is the limit");
            Line::Single(Err(refuse(Value::Null, message)))
        }
    }
}

/// Says that a line was too long to be read.
pub(crate) fn too_long() -> Refusal {
    refuse(Value::Null, format!("the line has more than {LINE_BYTES_MAX} bytes"))
}

fn refuse(id: Value, message: impl Into<String>) -> Refusal {
    Refusal { id, error: CadError::new(Code::InvalidRequest, message) }
}

fn request(value: Value) -> Result<Request, Refusal> {
    let Value::Object(mut object) = value else {
        return Err(refuse(Value::Null, "a request is a JSON object"));
    };
    let id = object.remove("id");
    if !matches!(id, None | Some(Value::Null | Value::String(_) | Value::Number(_))) {
        return Err(refuse(Value::Null, "`id` must be a string, a number or null"));
    }
    let answer_to = id.clone().unwrap_or(Value::Null);
    if object.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(refuse(answer_to, "`jsonrpc` must be \"2.0\""));
    }
    let Some(Value::String(method)) = object.remove("method") else {
        return Err(refuse(answer_to, "`method` must be a string"));
    };
    let params = match object.remove("params") {
        None => Value::Object(Map::new()),
        Some(params @ (Value::Object(_) | Value::Array(_))) => params,
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            return Err(refuse(answer_to, "`params` must be an object"));
        }
    };
    Ok(Request { id, method, params })
}

/// Returns the answer to a request that worked.
pub(crate) fn success(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Returns the answer to a request that did not.
pub(crate) fn failure(id: &Value, error: &CadError) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": error.to_json()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(line: &str, code: Code, id: Value) {
        let Line::Single(Err(refusal)) = parse_line(line.as_bytes()) else {
            panic!("{line} was not refused")
        };
        assert_eq!((refusal.error.code, refusal.id), (code, id), "{line}");
    }

    #[test]
    fn every_malformed_kind_has_its_answer() {
        refused("{\"jsonrpc\": \"2.0\", \"method\"", Code::ParseError, Value::Null);
        refused("[1, 2", Code::ParseError, Value::Null);
        refused(&"[".repeat(1_000), Code::ParseError, Value::Null);
        refused("\"\u{0}\"", Code::ParseError, Value::Null);
        refused("[]", Code::InvalidRequest, Value::Null);
        refused("1", Code::InvalidRequest, Value::Null);
        refused("null", Code::InvalidRequest, Value::Null);
        refused(r#"{"method": "a", "id": 1}"#, Code::InvalidRequest, json!(1));
        refused(r#"{"jsonrpc": "1.0", "method": "a", "id": "x"}"#, Code::InvalidRequest, json!("x"));
        refused(r#"{"jsonrpc": "2.0", "id": 1}"#, Code::InvalidRequest, json!(1));
        refused(r#"{"jsonrpc": "2.0", "method": 1, "id": 1}"#, Code::InvalidRequest, json!(1));
        refused(r#"{"jsonrpc": "2.0", "method": "a", "params": 3, "id": 1}"#, Code::InvalidRequest, json!(1));
        refused(r#"{"jsonrpc": "2.0", "method": "a", "id": {}}"#, Code::InvalidRequest, Value::Null);
        refused(&format!("[{}]", vec!["1"; 101].join(",")), Code::InvalidRequest, Value::Null);
        let Line::Single(Err(refusal)) = parse_line(b"\xff\xfe") else { panic!("not UTF-8") };
        assert_eq!(refusal.error.code, Code::ParseError);
    }

    #[test]
    fn requests_and_notifications_are_told_apart() {
        let id = |line: &str| {
            let Line::Single(Ok(request)) = parse_line(line.as_bytes()) else { panic!("{line}") };
            request.id
        };
        assert_eq!(id(r#"{"jsonrpc": "2.0", "method": "a"}"#), None);
        assert_eq!(id(r#"{"jsonrpc": "2.0", "method": "a", "id": null}"#), Some(Value::Null));
        assert_eq!(id(r#"{"jsonrpc": "2.0", "method": "a", "id": 1.5, "params": []}"#), Some(json!(1.5)));
    }

    #[test]
    fn a_batch_keeps_its_good_requests() {
        let Line::Batch(items) = parse_line(br#"[1, {"jsonrpc": "2.0", "method": "a", "id": 7}]"#) else {
            panic!("not a batch")
        };
        assert!(items[0].is_err() && items[1].as_ref().is_ok_and(|request| request.id == Some(json!(7))));
    }
}
