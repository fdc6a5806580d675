//! References in inputs: `${request.location}`, `${detect.output.objects}`.
//!
//! A string that is one reference keeps the value's type; references inside a longer string are interpolated.

use std::fmt;

use serde_json::Value;

use crate::name::LocalName;
use crate::schema::push_pointer;

/// Where a value in an input comes from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reference {
    /// A field of the request that started the run.
    Request {
        /// The path into the request.
        path: Vec<String>,
    },
    /// The output of another step.
    Step {
        /// The step.
        step: LocalName,
        /// The path into its output.
        path: Vec<String>,
    },
}

/// A `${…}` that cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{text}` is not a reference: write `${{request.FIELD}}` or `${{STEP.output.FIELD}}`")]
pub struct ReferenceError {
    /// JSON Pointer to the string that holds it.
    pub pointer: String,
    /// The text from `${` on, cut short.
    pub text: String,
}

impl Reference {
    /// Reads what stands between `${` and `}`.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(str::to_owned);
        let head = parts.next()?;
        let mut path: Vec<String> = parts.collect();
        if path.iter().any(String::is_empty) {
            return None;
        }
        if head == "request" {
            return (!path.is_empty()).then_some(Self::Request { path });
        }
        if path.first().map(String::as_str) != Some("output") {
            return None;
        }
        path.remove(0);
        Some(Self::Step { step: head.parse().ok()?, path })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match self {
            Self::Request { path } => {
                f.write_str("${request")?;
                path
            }
            Self::Step { step, path } => {
                write!(f, "${{{step}.output")?;
                path
            }
        };
        path.iter().try_for_each(|part| write!(f, ".{part}"))?;
        f.write_str("}")
    }
}

/// Returns every reference inside `value` with the JSON Pointer of its string, and every text that looks like one.
pub fn references_in(value: &Value) -> (Vec<(String, Reference)>, Vec<ReferenceError>) {
    let mut found = (Vec::new(), Vec::new());
    collect(value, &mut String::new(), &mut found);
    found
}

fn collect(value: &Value, pointer: &mut String, found: &mut (Vec<(String, Reference)>, Vec<ReferenceError>)) {
    let length = pointer.len();
    match value {
        Value::String(text) => collect_text(text, pointer, found),
        Value::Array(array) => {
            for (index, inner) in array.iter().enumerate() {
                push_pointer(pointer, &index.to_string());
                collect(inner, pointer, found);
                pointer.truncate(length);
            }
        }
        Value::Object(object) => {
            for (key, inner) in object {
                push_pointer(pointer, key);
                collect(inner, pointer, found);
                pointer.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn collect_text(text: &str, pointer: &str, found: &mut (Vec<(String, Reference)>, Vec<ReferenceError>)) {
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let from = &rest[start..];
        let end = from.find('}');
        match end.and_then(|end| Reference::parse(&from[2..end])) {
            Some(reference) => found.0.push((pointer.to_owned(), reference)),
            None => {
                let text: String = from.chars().take(60).collect();
                found.1.push(ReferenceError { pointer: pointer.to_owned(), text });
            }
        }
        // Where one is not closed, those behind it are not either.
        let Some(end) = end else { return };
        rest = &from[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_found_wherever_they_stand() {
        let (references, errors) = references_in(&json!({
            "a": "${request.location}",
            "b": ["from ${detect.output.objects.0} to ${request.x.y}", 1],
            "c": "${detect.output}",
        }));
        let texts: Vec<_> = references.iter().map(|(at, reference)| format!("{at} {reference}")).collect();
        assert_eq!(
            texts,
            [
                "/a ${request.location}",
                "/b/0 ${detect.output.objects.0}",
                "/b/0 ${request.x.y}",
                "/c ${detect.output}"
            ]
        );
        assert_eq!(errors, []);
    }

    #[test]
    fn what_only_looks_like_a_reference_is_an_error() {
        for bad in
            ["${", "${}", "${x}", "${request}", "${a.b}", "${a..output}", "${a b.output}", "${request.x"]
        {
            let (references, errors) = references_in(&json!([bad]));
            assert_eq!((references.len(), errors.len()), (0, 1), "{bad}");
            assert_eq!(errors[0].pointer, "/0");
        }
        assert_eq!(references_in(&json!("$5 {x}")), (vec![], vec![]));
    }

    #[test]
    fn what_is_never_closed_is_told_once() {
        let (references, errors) = references_in(&json!(format!("${{request.x}} {}", "${".repeat(500_000))));
        assert_eq!((references.len(), errors.len()), (1, 1));
    }
}
