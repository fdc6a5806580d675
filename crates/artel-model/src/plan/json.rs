//! JSON as text: by the letter, bounded in bytes and depth, and without keys that stand twice. Knows nothing of what a plan says.

use std::io;

use serde::Serialize;
use serde_json::Value;

use super::problem::{PlanProblem, PlanProblemCode, Problems};
use crate::json::read_value;
use crate::limit::{MERGE_DEPTH_MAX, PLAN_BYTES_MAX};
use crate::merge::is_deeper_than;

/// Reads a text. Of a key that stands twice the last counts, and it is a problem.
pub(super) fn parse_json(text: &str, problems: &mut Problems) -> Option<Value> {
    if text.len() > PLAN_BYTES_MAX {
        let message = format!("the document has {} bytes, at most {PLAN_BYTES_MAX} are allowed", text.len());
        problems.push(PlanProblem::new("", PlanProblemCode::PlanTooLarge, message));
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}'));
    let mut on_twice = |pointer: &str, key: &str| {
        let message = format!("`{key}` stands here twice");
        problems.push(PlanProblem::new(pointer, PlanProblemCode::DuplicateKey, message));
        Ok(())
    };
    let value = read_value(&mut deserializer, &mut on_twice).and_then(|value| {
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

/// Reads the text of a plan as JSON, for whoever lets somebody else make the plan of it: the value, and the keys that stand
/// in it twice; or why it is no JSON.
pub fn read_plan_text(text: &str) -> Result<(Value, Vec<PlanProblem>), Vec<PlanProblem>> {
    let mut problems = Problems::default();
    let value = parse_json(text, &mut problems);
    match (value, problems.or(())) {
        (Some(value), twice) => Ok((value, twice.err().unwrap_or_default())),
        (None, problems) => Err(problems.err().unwrap_or_default()),
    }
}

/// Says whether values are nested too deeply for the rest to follow them.
pub(super) fn is_too_deep(value: &Value) -> bool {
    is_deeper_than(value, MERGE_DEPTH_MAX)
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
    fn a_text_is_read_for_whoever_makes_the_plan_elsewhere() {
        let (value, twice) = read_plan_text(r#"{"a": 1, "a": 2}"#).unwrap();
        assert_eq!(value, serde_json::json!({"a": 2}));
        assert_eq!(
            twice.iter().map(|problem| problem.code).collect::<Vec<_>>(),
            [PlanProblemCode::DuplicateKey]
        );
        assert_eq!(read_plan_text("{}").unwrap().1, []);
        assert_eq!(read_plan_text("{").unwrap_err()[0].code, PlanProblemCode::InvalidJson);
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
