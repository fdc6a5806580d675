//! Values that are known by how they look: addresses, dates, paths, and codes like `2d6+3`. Knows nothing of sentences.

use serde_json::Value;

use super::property::Property;

/// Returns whether a text is letters and digits mixed, as codes are.
pub(super) fn is_code(text: &str) -> bool {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '*' | '/' | '.' | ':' | '_' | '#');
    let has = |what: fn(&char) -> bool| text.chars().any(|c| what(&c));
    has(char::is_ascii_digit) && has(char::is_ascii_alphabetic) && text.chars().all(is_plain)
}

/// Returns whether a text looks like what a parameter wants.
pub(super) fn has_shape(property: &Property<'_>, text: &str) -> bool {
    let format = property.schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let is_called = |names: &[&str]| property.words.iter().any(|word| names.contains(&word.as_str()));
    let is_address = || text.starts_with("https://") || text.starts_with("http://");
    match format {
        "email" => return text.contains('@') && text.len() > 2,
        "uri" | "url" => return is_address(),
        "date" => return is_date(text),
        _ => {}
    }
    if is_called(&["url", "uri", "link"]) {
        return is_address();
    }
    if is_called(&["path", "file", "filename", "folder", "directory"]) {
        return text.contains('/') || has_extension(text);
    }
    is_code(text) && property.examples.iter().any(|example| is_code(example))
}

/// Returns the example with another count: `2d6+3` for three is `3d6`.
pub(super) fn adapted(property: &Property<'_>, count: f64) -> Option<String> {
    let example = property.examples.iter().find(|example| is_code(example))?;
    let digits = example.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
    let rest = &example[digits..];
    let end = rest.find(['+', '-', '*', '/']).unwrap_or(rest.len());
    let is_count =
        rest.starts_with(|c: char| c.is_ascii_alphabetic()) && count.fract() == 0.0 && count >= 1.0;
    is_count.then(|| format!("{count}{}", &rest[..end]))
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [4, 2, 2] && parts.concat().bytes().all(|byte| byte.is_ascii_digit())
}

fn has_extension(text: &str) -> bool {
    let extension = text.rsplit_once('.').map_or("", |(_, extension)| extension);
    (1..=5).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, name: &str, text: &str, expected: bool) {
        assert_eq!(has_shape(&Property::new(name, schema), text), expected, "{name}: {text}");
    }

    #[test]
    fn shapes_are_seen() {
        let dice = json!({"type": "string", "description": "What to roll, for example 2d6+3."});
        check(&dice, "expression", "d20", true);
        check(&dice, "expression", "dice", false);
        check(&dice, "expression", "20", false);
        check(&json!({"format": "email"}), "to", "a@b.example", true);
        check(&json!({"format": "uri"}), "page", "https://a.example", true);
        check(&json!({"format": "date"}), "day", "2026-01-31", true);
        check(&json!({"format": "date"}), "day", "31.1.26", false);
        check(&json!({}), "file_path", "notes.txt", true);
        check(&json!({}), "file_path", "notes", false);
        let property = Property::new("expression", &dice);
        assert_eq!(adapted(&property, 3.0).as_deref(), Some("3d6"));
        assert_eq!(adapted(&property, 0.5), None);
        let version = json!({"description": "For example v1.2: a version. e.g. v1.2"});
        assert_eq!(adapted(&Property::new("version", &version), 2.0), None);
    }
}
