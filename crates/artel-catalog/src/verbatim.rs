//! The frontmatter of a `SKILL.md` as it was written, for whoever passes it on without acting on it.

use serde_json::{Map, Value};

use crate::document::{Budget, parse_yaml};
use crate::read::split;

/// Returns every field of the frontmatter of a `SKILL.md`; nothing when there is none, or it is no YAML that is safe to
/// read.
pub fn frontmatter(text: &str) -> Option<Map<String, Value>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (node, _) = parse_yaml(split(text).ok()?.yaml, Budget::FRONTMATTER).ok()?;
    match node.to_value() {
        Value::Object(fields) => Some(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_is_there_as_it_was_written() {
        let text = "---\nname: demo\ndescription: A demo.\nmetadata:\n  version: \"1.0\"\nunknown: [1, true]\n---\nDo it.\n";
        let expected = json!({
            "name": "demo", "description": "A demo.", "metadata": {"version": "1.0"}, "unknown": [1, true],
        });
        assert_eq!(frontmatter(text).map(Value::Object), Some(expected));
    }

    #[test]
    fn what_has_none_has_nothing() {
        for text in ["", "Do it.", "---\nname: demo\n", "---\n- 1\n---\n", "---\na: [\n---\n"] {
            assert_eq!(frontmatter(text), None, "{text}");
        }
    }
}
