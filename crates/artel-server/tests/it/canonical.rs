//! Answers in a form in which two servers that did the same for a caller say the same to the byte: ids, hashes and large
//! numbers are numbered in the order in which they first appear, moments and durations are left out.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::client::Answered;

/// Members whose values are measured, or drawn at random.
const MEASURED: [&str; 14] = [
    "request_id",
    "duration_ms",
    "executionTimeMs",
    "totalExecutionTimeMs",
    "execution_time_ms",
    "average_duration_ms",
    "average_operation_time",
    "pid",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "uptime_seconds",
    "key",
    "key_id",
];
/// Headers that differ from answer to answer.
const HEADERS_LEFT_OUT: [&str; 2] = ["date", "x-request-id"];
/// Numbers from here on are moments in milliseconds.
const MOMENTS_FROM: u64 = 1_000_000_000_000;
const UUID_CHARS: usize = 36;
const HASH_CHARS_MIN: usize = 32;

/// The names that one caller has come across, in order.
#[derive(Default)]
pub(crate) struct Canonical {
    names: BTreeMap<String, usize>,
}

impl Canonical {
    /// Writes an answer: its status, its headers and its body.
    pub(crate) fn answer(&mut self, answer: &Answered) -> String {
        let mut headers: Vec<(String, String)> = Vec::new();
        for (name, value) in &answer.headers {
            if !HEADERS_LEFT_OUT.contains(&name.as_str()) && name != "content-length" {
                let value = self.text(value.to_str().unwrap_or("not a text"));
                headers.push((name.to_string(), value));
            }
        }
        headers.sort();
        let body = if answer.body.is_null() {
            self.text(&answer.text)
        } else {
            self.value("", &answer.body).to_string()
        };
        format!("{} {headers:?} {body}", answer.status)
    }

    /// Writes a value that a member of this name holds.
    pub(crate) fn value(&mut self, member: &str, value: &Value) -> Value {
        if MEASURED.contains(&member) && !value.is_null() {
            return "measured".into();
        }
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Number(number) if number.as_u64().is_some_and(|number| number >= MOMENTS_FROM) => {
                self.name(&number.to_string()).into()
            }
            Value::Array(items) => items.iter().map(|item| self.value("", item)).collect(),
            Value::Object(members) => {
                let written = members.iter().map(|(name, value)| {
                    let value = self.value(name, value);
                    (self.text(name), value)
                });
                Value::Object(written.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn name(&mut self, text: &str) -> String {
        let next = self.names.len();
        format!("#{}", self.names.entry(text.to_owned()).or_insert(next))
    }

    /// Writes a text with its ids, hashes and moments replaced.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = [uuid(rest), hash(rest)].into_iter().flatten().next();
            if let Some(length) = length {
                written.push_str(&self.name(&rest[..length]));
                rest = &rest[length..];
            } else if let Some(length) = moment(rest) {
                written.push_str("moment");
                rest = &rest[length..];
            } else {
                written.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        written
    }
}

/// Returns the length of the id that a text begins with.
fn uuid(text: &str) -> Option<usize> {
    let id = text.get(..UUID_CHARS)?;
    id.parse::<uuid::Uuid>().is_ok().then_some(UUID_CHARS)
}

/// Returns the length of the hash that a text begins with.
fn hash(text: &str) -> Option<usize> {
    let length = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    (length >= HASH_CHARS_MIN).then_some(length)
}

/// Returns the length of the moment that a text begins with.
fn moment(text: &str) -> Option<usize> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"-:.TZ".contains(byte);
    let length = text.bytes().take_while(is_part).count();
    let is_moment = text.as_bytes().get(10) == Some(&b'T');
    (is_moment && text[..length].parse::<artel_model::time::Timestamp>().is_ok()).then_some(length)
}

#[test]
fn what_is_the_same_stays_the_same_and_what_differs_differs() {
    let (one, other) = ("5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11", "00000000-6c4b-4a57-9a53-3a8a0b3b6b11");
    let mut canonical = Canonical::default();
    let written = canonical.text(&format!("agents.{one}.x {other} {one} 2026-01-02T03:04:05.678Z 1.2"));
    assert_eq!(written, "agents.#0.x #1 #0 moment 1.2");
    let value = serde_json::json!({"id": other, "duration_ms": 7, "n": 7, "at": 1_790_000_000_000_u64});
    let expected = serde_json::json!({"id": "#1", "duration_ms": "measured", "n": 7, "at": "#2"});
    assert_eq!(canonical.value("", &value), expected);
}
