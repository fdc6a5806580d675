//! JSON as text: by the letter, bounded in bytes and depth, and without keys that stand twice. Knows nothing of what a plan says.

use std::fmt;
use std::io;

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::problem::{PlanProblem, PlanProblemCode, Problems};
use crate::limit::{MERGE_DEPTH_MAX, PLAN_BYTES_MAX};
use crate::schema::push_pointer;

/// Reads a text. Of a key that stands twice the last counts, and it is a problem.
pub(super) fn parse_json(text: &str, problems: &mut Problems) -> Option<Value> {
    if text.len() > PLAN_BYTES_MAX {
        let message = format!("the document has {} bytes, at most {PLAN_BYTES_MAX} are allowed", text.len());
        problems.push(PlanProblem::new("", PlanProblemCode::PlanTooLarge, message));
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}'));
    let mut reading = Reading { pointer: String::new(), problems };
    let value = Part(&mut reading).deserialize(&mut deserializer).and_then(|value| {
        deserializer.end()?;
        Ok(value)
    });
    match value {
        Ok(value) => Some(value),
        Err(error) => {
            let message = error.to_string();
            problems.push(if message.starts_with("recursion limit") {
                let place = format!("line {} column {}", error.line(), error.column());
                let message = format!("values are nested too deeply at {place}");
                PlanProblem::new("", PlanProblemCode::TooDeep, message)
            } else {
                PlanProblem::new("", PlanProblemCode::InvalidJson, message)
            });
            None
        }
    }
}

/// Says whether values are nested too deeply for the rest to follow them.
pub(super) fn is_too_deep(value: &Value) -> bool {
    depth_exceeds(value, MERGE_DEPTH_MAX)
}

fn depth_exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| depth_exceeds(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|item| depth_exceeds(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

struct Reading<'a> {
    pointer: String,
    problems: &'a mut Problems,
}

/// One value of the document.
struct Part<'a, 'b>(&'a mut Reading<'b>);

impl<'de> DeserializeSeed<'de> for Part<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let length = self.0.pointer.len();
        let mut items = Vec::new();
        push_pointer(&mut self.0.pointer, "0");
        while let Some(item) = access.next_element_seed(Part(self.0))? {
            items.push(item);
            self.0.pointer.truncate(length);
            push_pointer(&mut self.0.pointer, &items.len().to_string());
        }
        self.0.pointer.truncate(length);
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let length = self.0.pointer.len();
        let mut object = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            push_pointer(&mut self.0.pointer, &key);
            if object.contains_key(&key) {
                let message = format!("`{key}` stands here twice");
                self.0.problems.push(PlanProblem::new(
                    self.0.pointer.clone(),
                    PlanProblemCode::DuplicateKey,
                    message,
                ));
            }
            object.insert(key, access.next_value_seed(Part(self.0))?);
            self.0.pointer.truncate(length);
        }
        Ok(Value::Object(object))
    }
}

/// Returns how many bytes a value has when it is written as JSON, unless they are more than `bytes_max`.
pub(super) fn json_bytes(value: &impl Serialize, bytes_max: usize) -> Option<usize> {
    let mut budget = Budget(bytes_max);
    serde_json::to_writer(&mut budget, value).ok()?;
    Some(bytes_max - budget.0)
}

struct Budget(usize);

impl io::Write for Budget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[(&str, PlanProblemCode)]) {
        let mut problems = Problems::default();
        parse_json(text, &mut problems);
        let told = problems.or(()).err().unwrap_or_default();
        let found: Vec<_> = told.iter().map(|problem| (problem.path.as_str(), problem.code)).collect();
        assert_eq!(found, expected, "{told:?}");
    }

    #[test]
    fn texts_are_read_by_the_letter() {
        check("{}", &[]);
        check(" [1, -2.5e3, \"x\", null, true, {\"a\": []}] ", &[]);
        for text in ["", "{", "{} {}", "{'a': 1}", "[1,]", "NaN", "// x\n{}", "\"\\ud800\""] {
            check(text, &[("", PlanProblemCode::InvalidJson)]);
        }
    }

    #[test]
    fn a_key_that_stands_twice_has_a_place() {
        let text = r#"{"a": 1, "tools": [{}, {"x/y": 1, "x/y": 2}], "a": 2}"#;
        check(
            text,
            &[("/tools/1/x~1y", PlanProblemCode::DuplicateKey), ("/a", PlanProblemCode::DuplicateKey)],
        );
    }

    #[test]
    fn what_is_too_deep_or_too_large_is_refused() {
        check(&"[".repeat(1_000_000), &[("", PlanProblemCode::TooDeep)]);
        check(&format!("{}{}", "[".repeat(127), "]".repeat(127)), &[]);
        check(&" ".repeat(PLAN_BYTES_MAX + 1), &[("", PlanProblemCode::PlanTooLarge)]);
        let deep = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert!(!is_too_deep(&deep(MERGE_DEPTH_MAX)));
        assert!(is_too_deep(&deep(MERGE_DEPTH_MAX + 1)));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(value in any_json()) {
            let mut problems = Problems::default();
            prop_assert_eq!(parse_json(&value.to_string(), &mut problems), Some(value));
            prop_assert!(problems.or(()).is_ok());
        }
    }
}
