//! `${NAME}` in the values of settings: which variables may be named, and how they are filled in.

use serde_json::Value;

use super::config_schema::ConfigProblemKind;
use crate::limit::CONFIG_VALUE_BYTES_MAX;
use crate::schema::push_pointer;
use crate::tool::Glob;

/// Which environment variables may be filled in.
#[derive(Clone, Debug)]
pub struct EnvAllowList(Vec<Glob>);

impl EnvAllowList {
    /// Makes a list of names; `*` stands for any run of characters.
    pub fn new(patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self(patterns.into_iter().map(|pattern| Glob::new(pattern.as_ref())).collect())
    }

    pub(super) fn allows(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(name))
    }
}

/// A piece of a text with placeholders.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Piece<'a> {
    /// As it is.
    Text(&'a str),
    /// The name between `${` and `}`.
    Variable(&'a str),
}

/// `${` without a name and a closing brace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Malformed;

/// Takes a text apart at its placeholders.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Malformed> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let from = &rest[start + 2..];
        let end = from.find('}').ok_or(Malformed)?;
        let name = &from[..end];
        let characters_fit = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !characters_fit {
            return Err(Malformed);
        }
        if start > 0 {
            pieces.push(Piece::Text(&rest[..start]));
        }
        pieces.push(Piece::Variable(name));
        rest = &from[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// Says whether a value is one whole `${NAME}`, which names a secret but is none.
pub(super) fn is_placeholder(value: &Value) -> bool {
    let pieces = value.as_str().map(pieces);
    matches!(pieces, Some(Ok(pieces)) if matches!(pieces.as_slice(), [Piece::Variable(_)]))
}

/// Returns every text inside `value` with its JSON Pointer.
pub(super) fn texts(value: &Value) -> Vec<(&str, String)> {
    match value {
        Value::String(text) => vec![(text, String::new())],
        Value::Array(items) => {
            let nested = |(index, item)| texts_under(item, usize::to_string(&index).as_str());
            items.iter().enumerate().flat_map(nested).collect()
        }
        Value::Object(object) => object.iter().flat_map(|(key, item)| texts_under(item, key)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn texts_under<'a>(value: &'a Value, key: &str) -> Vec<(&'a str, String)> {
    let mut prefix = String::new();
    push_pointer(&mut prefix, key);
    texts(value).into_iter().map(|(text, pointer)| (text, format!("{prefix}{pointer}"))).collect()
}

/// Fills the variables into every text of `value`; what cannot be filled in is reported and stays as it is.
pub(super) fn fill(
    value: &Value,
    allowed: &EnvAllowList,
    variable: &impl Fn(&str) -> Option<String>,
    report: &mut impl FnMut(ConfigProblemKind, String),
) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(text, allowed, variable, report)),
        Value::Array(items) => items.iter().map(|item| fill(item, allowed, variable, report)).collect(),
        Value::Object(object) => {
            let filled =
                object.iter().map(|(key, item)| (key.clone(), fill(item, allowed, variable, report)));
            Value::Object(filled.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Builds the text in one pass: what a variable holds is text, even if it looks like a placeholder.
fn fill_text(
    text: &str,
    allowed: &EnvAllowList,
    variable: &impl Fn(&str) -> Option<String>,
    report: &mut impl FnMut(ConfigProblemKind, String),
) -> String {
    let Ok(pieces) = pieces(text) else {
        report(ConfigProblemKind::Placeholder, "a placeholder is malformed: write `${NAME}`".to_owned());
        return text.to_owned();
    };
    let mut filled = String::with_capacity(text.len());
    for piece in pieces {
        let name = match piece {
            Piece::Text(text) => {
                filled.push_str(text);
                continue;
            }
            Piece::Variable(name) => name,
        };
        if !allowed.allows(name) {
            let message = format!("`{name}` is not on the list of variables that skills may see");
            report(ConfigProblemKind::VariableNotAllowed, message);
            return text.to_owned();
        }
        let Some(value) = variable(name) else {
            report(ConfigProblemKind::VariableNotSet, format!("`{name}` is not set in the environment"));
            return text.to_owned();
        };
        filled.push_str(&value);
        if filled.len() > CONFIG_VALUE_BYTES_MAX {
            let message = format!("the value is larger than {CONFIG_VALUE_BYTES_MAX} bytes");
            report(ConfigProblemKind::TooLarge, message);
            return text.to_owned();
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let variable = |name: &str| match name {
            "A" => Some("${B}".to_owned()),
            "B" => Some("secret".to_owned()),
            _ => None,
        };
        let filled = fill(&json!(text), &EnvAllowList::new(["*"]), &variable, &mut |_, _| {});
        assert_eq!(filled, expected);
    }

    #[test]
    fn what_a_variable_holds_is_not_filled_in_again() {
        check("${A} ${B}", "${B} secret");
        check("${A}${A}", "${B}${B}");
        check("a ${B}, ${B}!", "a secret, secret!");
        check("plain", "plain");
        check("", "");
    }

    #[test]
    fn only_a_whole_placeholder_is_one() {
        for (value, expected) in [
            (json!("${A}"), true),
            (json!("${A}${B}"), false),
            (json!("Bearer abc ${A}"), false),
            (json!("x${"), false),
            (json!(""), false),
            (json!(["${A}"]), false),
            (json!(1), false),
        ] {
            assert_eq!(is_placeholder(&value), expected, "{value}");
        }
    }
}
