//! References in inputs: `${request.location}`, `${detect.output.objects.0}`.
//!
//! A string that is one reference keeps the value's type; references inside a longer string are interpolated. `$${` is
//! a plain `${`. Knows how references are written, not what they stand for.

use std::fmt;

use serde_json::Value;

use crate::id::StepId;
use crate::limit::STEP_ID_CHARS_MAX;
use crate::schema::push_pointer;

/// Characters of a text that are quoted when it is no reference.
const QUOTED_CHARS_MAX: usize = 60;
/// What stands between the name of a step and the path into its output.
const OUTPUT: &str = ".output";

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
        step: StepId,
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

/// A part of a text that may hold references.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Piece<'a> {
    /// Text that stands for itself.
    Text(&'a str),
    /// What stands between `${` and `}`.
    Reference(&'a str),
    /// A `${` that is never closed, and all behind it.
    Unclosed(&'a str),
}

impl Reference {
    /// Reads what stands between `${` and `}`. Names of steps may hold dots, so the longest of those that
    /// `is_step` knows counts.
    pub fn parse(text: &str, is_step: &dyn Fn(&str) -> bool) -> Option<Self> {
        let ends_there = |&(at, _): &(usize, &str)| {
            let rest = &text[at + OUTPUT.len()..];
            at <= 4 * STEP_ID_CHARS_MAX && (rest.is_empty() || rest.starts_with('.'))
        };
        let mut shortest = None;
        for (at, _) in text.rmatch_indices(OUTPUT).filter(ends_there) {
            shortest = Some(at);
            if is_step(&text[..at]) {
                return Self::step(text, at);
            }
        }
        match text.strip_prefix("request.") {
            Some(path) => parts(path).map(|path| Self::Request { path }),
            None => Self::step(text, shortest?),
        }
    }

    fn step(text: &str, at: usize) -> Option<Self> {
        let path = match text[at + OUTPUT.len()..].strip_prefix('.') {
            Some(path) => parts(path)?,
            None => Vec::new(),
        };
        Some(Self::Step { step: text[..at].parse().ok()?, path })
    }
}

fn parts(path: &str) -> Option<Vec<String>> {
    path.split('.').map(|part| (!part.is_empty()).then(|| part.to_owned())).collect()
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

/// Takes a text apart.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut plain_from = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find("${") {
        let start = at + found;
        let is_escaped = text[plain_from..start].ends_with('$');
        let plain_to = if is_escaped { start - 1 } else { start };
        if plain_from < plain_to {
            pieces.push(Piece::Text(&text[plain_from..plain_to]));
        }
        if is_escaped {
            (plain_from, at) = (start, start + 2);
            continue;
        }
        let Some(length) = text[start..].find('}') else {
            // Where one is not closed, those behind it are not either.
            pieces.push(Piece::Unclosed(&text[start..]));
            return pieces;
        };
        pieces.push(Piece::Reference(&text[start + 2..start + length]));
        (plain_from, at) = (start + length + 1, start + length + 1);
    }
    if plain_from < text.len() {
        pieces.push(Piece::Text(&text[plain_from..]));
    }
    pieces
}

/// Says whether a text holds anything but itself.
pub fn is_plain(text: &str) -> bool {
    !text.contains("${")
}

/// Makes every text inside `value` stand for itself, whatever it holds.
pub fn escape(value: &mut Value) {
    match value {
        Value::String(text) if !is_plain(text) => *text = text.replace("${", "$${"),
        Value::Array(array) => array.iter_mut().for_each(escape),
        Value::Object(object) => object.values_mut().for_each(escape),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl ReferenceError {
    /// Makes the error for a text that starts with `${`.
    pub fn new(pointer: &str, text: &str) -> Self {
        Self { pointer: pointer.to_owned(), text: text.chars().take(QUOTED_CHARS_MAX).collect() }
    }
}

/// References with the JSON Pointers of their strings, and texts that only look like one.
pub type References = (Vec<(String, Reference)>, Vec<ReferenceError>);

/// Returns every reference inside `value`, and every text that looks like one.
pub fn references_in(value: &Value, is_step: &dyn Fn(&str) -> bool) -> References {
    let mut found = (Vec::new(), Vec::new());
    collect(value, &mut String::new(), is_step, &mut found);
    found
}

fn collect(value: &Value, pointer: &mut String, is_step: &dyn Fn(&str) -> bool, found: &mut References) {
    let length = pointer.len();
    match value {
        Value::String(text) => collect_text(text, pointer, is_step, found),
        Value::Array(array) => {
            for (index, inner) in array.iter().enumerate() {
                push_pointer(pointer, &index.to_string());
                collect(inner, pointer, is_step, found);
                pointer.truncate(length);
            }
        }
        Value::Object(object) => {
            for (key, inner) in object {
                push_pointer(pointer, key);
                collect(inner, pointer, is_step, found);
                pointer.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn collect_text(text: &str, pointer: &str, is_step: &dyn Fn(&str) -> bool, found: &mut References) {
    if is_plain(text) {
        return;
    }
    for piece in pieces(text) {
        match piece {
            Piece::Text(_) => {}
            Piece::Unclosed(text) => found.1.push(ReferenceError::new(pointer, text)),
            Piece::Reference(inside) => match Reference::parse(inside, is_step) {
                Some(reference) => found.0.push((pointer.to_owned(), reference)),
                None => found.1.push(ReferenceError::new(pointer, &format!("${{{inside}}}"))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn any(_: &str) -> bool {
        false
    }

    #[test]
    fn references_are_found_wherever_they_stand() {
        let value = json!({
            "a": "${request.location}",
            "b": ["from ${detect.output.objects.0} to ${request.x.y}", 1],
            "c": "${detect.output}",
        });
        let (references, errors) = references_in(&value, &any);
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
        for bad in [
            "${",
            "${}",
            "${x}",
            "${request}",
            "${request.}",
            "${a.b}",
            "${a.output..x}",
            "${a\u{7}.output}",
            "${.output}",
            "${a.outputs}",
            "${request.x",
            "${a ${b.output}",
        ] {
            let (references, errors) = references_in(&json!([bad]), &any);
            assert_eq!((references.len(), errors.len()), (0, 1), "{bad}");
            assert_eq!(errors[0].pointer, "/0");
        }
        assert_eq!(references_in(&json!("$5 {x}"), &any), (vec![], vec![]));
    }

    #[test]
    fn what_is_never_closed_is_told_once() {
        let text = json!(format!("${{request.x}} {}", "${".repeat(500_000)));
        let (references, errors) = references_in(&text, &any);
        assert_eq!((references.len(), errors.len()), (1, 1));
    }

    #[test]
    fn the_longest_known_name_counts() {
        let check = |text: &str, known: &[&str], expected: (&str, &[&str])| {
            let Some(Reference::Step { step, path }) = Reference::parse(text, &|name| known.contains(&name))
            else {
                panic!("{text}")
            };
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            assert_eq!((step.as_str(), path.as_slice()), expected, "{text}");
        };
        check("a.output.b", &["a"], ("a", &["b"]));
        check("a.output.output.x", &["a"], ("a", &["output", "x"]));
        check("a.output.output.x", &["a", "a.output"], ("a.output", &["x"]));
        check("v1.2/go now.output", &["v1.2/go now"], ("v1.2/go now", &[]));
        check("x.output.y.output", &[], ("x", &["y", "output"]));
        check("request.output.y", &["request"], ("request", &["y"]));
        let request = Reference::parse("request.output.y", &any);
        assert_eq!(request, Some(Reference::Request { path: vec!["output".to_owned(), "y".to_owned()] }));
    }

    #[test]
    fn two_dollars_stand_for_one() {
        use Piece::{Reference as R, Text as T, Unclosed as U};
        let check = |text: &str, expected: &[Piece<'_>]| assert_eq!(pieces(text), expected, "{text}");
        check("", &[]);
        check("a${b}c", &[T("a"), R("b"), T("c")]);
        check("$${b}", &[T("${b}")]);
        check("a$${b}${c}", &[T("a"), T("${b}"), R("c")]);
        check("$$${b}", &[T("$"), T("${b}")]);
        check("${a}$${b", &[R("a"), T("${b")]);
        check("${a}${b", &[R("a"), U("${b")]);
        check("$$ {$}", &[T("$$ {$}")]);
    }

    proptest! {
        #[test]
        fn what_is_escaped_stands_for_itself(text in "[${}a.]{0,20}") {
            let mut value = json!([text.clone()]);
            escape(&mut value);
            let escaped = value[0].as_str().unwrap();
            let plain: String = pieces(escaped).iter().map(|piece| match piece {
                Piece::Text(text) => *text,
                Piece::Reference(_) | Piece::Unclosed(_) => panic!("{escaped}"),
            }).collect();
            prop_assert_eq!(plain, text);
        }
    }
}
