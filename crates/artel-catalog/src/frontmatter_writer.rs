//! Writes the frontmatter of a `SKILL.md` that every client can read.

use std::fmt::Write;

use crate::document::{Budget, NodeKind, parse_yaml};

/// What a field says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldValue<'a> {
    Text(&'a str),
    /// True or false, for fields that must not be a text.
    Flag(bool),
}

impl<'a> From<&'a str> for FieldValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

/// Writes `---`, one `key: value` a line, and `---`. Keys that belong under another are given as `metadata.version`.
pub(crate) fn write_frontmatter<'a>(fields: &[(&str, impl Into<FieldValue<'a>> + Copy)]) -> String {
    let mut out = String::from("---\n");
    let mut group: Option<&str> = None;
    for (key, value) in fields {
        let (parent, name) = match key.split_once('.') {
            Some((parent, name)) => (Some(parent), name),
            None => (None, *key),
        };
        if parent != group
            && let Some(parent) = parent
        {
            writeln!(out, "{parent}:").expect("writing to a string does not fail");
        }
        group = parent;
        let indent = if parent.is_some() { "  " } else { "" };
        let value = match (*value).into() {
            FieldValue::Text(text) => scalar(text),
            FieldValue::Flag(flag) => flag.to_string(),
        };
        writeln!(out, "{indent}{}: {value}", scalar(name)).expect("writing to a string does not fail");
    }
    out.push_str("---\n");
    out
}

/// Writes a text plainly where every parser reads it back as the same text, else in double quotes.
fn scalar(text: &str) -> String {
    let is_simple = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_graphic() || c == ' ')
        && !text
            .contains([':', '#', '{', '}', '[', ']', '&', '*', '!', '|', '>', '%', '@', '`', '"', '\'', ','])
        && !text.ends_with(' ')
        && !text.contains("---");
    let reads_as_text = || match parse_yaml(text, Budget::FRONTMATTER) {
        Ok((node, _)) => {
            node.kind == NodeKind::Plain(text.to_owned())
                && node.to_value() == text
                && !is_yaml_1_1_word(text)
        }
        Err(_) => false,
    };
    if is_simple && reads_as_text() { text.to_owned() } else { quoted(text) }
}

/// Words that older parsers take for true and false.
fn is_yaml_1_1_word(text: &str) -> bool {
    ["y", "n", "yes", "no", "on", "off"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Double quotes with escapes that YAML and JSON share; characters that could end a line early are escaped too, and
/// three hyphens are kept apart for clients that cut the file at them.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '-' if out.ends_with("--") => out.push_str("\\x2d"),
            other if other.is_control() || matches!(other, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                write!(out, "\\u{:04x}", u32::from(other)).expect("writing to a string does not fail");
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::read::split;

    fn read_back(fields: &[(&str, &str)]) -> Value {
        let text = write_frontmatter(fields);
        let frontmatter = split(&text).unwrap();
        let (node, features) = parse_yaml(frontmatter.yaml, Budget::FRONTMATTER).unwrap();
        assert_eq!(features, [], "{text}");
        node.to_value()
    }

    #[test]
    fn plain_where_it_can_be_quoted_where_it_must() {
        let text = write_frontmatter(&[
            ("name", "demo"),
            ("description", "Use when: it matters"),
            ("metadata.version", "1.0"),
            ("metadata.on", "yes"),
        ]);
        insta::assert_snapshot!(text, @r#"
        ---
        name: demo
        description: "Use when: it matters"
        metadata:
          version: "1.0"
          "on": "yes"
        ---
        "#);
    }

    #[test]
    fn a_flag_is_no_text() {
        let text = write_frontmatter(&[("disable-model-invocation", FieldValue::Flag(true))]);
        assert_eq!(text, "---\ndisable-model-invocation: true\n---\n");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(text in "\\PC{0,60}|[-a:# \"'\n\t\\\\]{0,20}") {
            let value = read_back(&[("name", "x"), ("description", &text), ("metadata.k", &text)]);
            prop_assert_eq!(&value["description"], &Value::from(text.as_str()));
            prop_assert_eq!(&value["metadata"]["k"], &Value::from(text.as_str()));
            prop_assert!(!write_frontmatter(&[("description", text.as_str())])[3..].trim_end().trim_end_matches("---").contains("---"));
        }
    }
}
