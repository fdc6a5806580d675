//! Mends YAML that people write by mistake: an unquoted colon or a leading special character in a top-level value.

use artel_model::diagnostic::Position;

/// A mended frontmatter and where values were quoted, as places in the frontmatter.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Repaired {
    pub(crate) yaml: String,
    pub(crate) places: Vec<Position>,
}

/// Characters that mean something else than text at the start of a plain value.
const SPECIAL_STARTS: &[char] = &['@', '`', '*', '&', '!', '%', '[', '{', ']', '}', ',', '#'];

/// Fields that are text for people. Elsewhere a bracket begins a list or an object that is broken, which is told and not
/// guessed: a list of forbidden tools must not become one odd name.
const TEXTS: &[&str] = &["description", "license", "compatibility"];
/// What begins a list or an object.
const BRACKETS: &[char] = &['[', '{'];

/// Quotes every top-level value that cannot be plain text; nothing when there is none.
pub(crate) fn repair(yaml: &str) -> Option<Repaired> {
    let mut repaired = Repaired { yaml: String::with_capacity(yaml.len() + 16), places: Vec::new() };
    for (index, line) in yaml.split_inclusive('\n').enumerate() {
        match suspicious_value(line) {
            Some((start, value)) => {
                let column = line[..start].chars().count() + 1;
                let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
                repaired.places.push(Position { line: small(index + 1), column: small(column) });
                repaired.yaml.push_str(&line[..start]);
                repaired.yaml.push_str(&quoted(value));
                repaired.yaml.push_str(&line[start + value.len()..]);
            }
            None => repaired.yaml.push_str(line),
        }
    }
    (!repaired.places.is_empty()).then_some(repaired)
}

/// Returns the value of a top-level `key: value` line, and where it starts, when it should have been quoted.
fn suspicious_value(line: &str) -> Option<(usize, &str)> {
    let key_end = line.find(':')?;
    let key = &line[..key_end];
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let rest = &line[key_end + 1..];
    if !is_key || !rest.starts_with([' ', '\t']) {
        return None;
    }
    // Spaces of other scripts are part of the text.
    let blanks = [' ', '\t', '\r', '\n'];
    let value = rest.trim_matches(blanks);
    let start = key_end + 1 + (rest.len() - rest.trim_start_matches(blanks).len());
    // No name is mended: what cannot be plain text cannot be a name.
    if key == "name" || value.starts_with(BRACKETS) && !TEXTS.contains(&key) {
        return None;
    }
    let is_suspicious = value.contains(": ") || value.ends_with(':') || value.starts_with(SPECIAL_STARTS);
    let is_quoted_or_block = value.starts_with(['"', '\'', '|', '>']);
    (is_suspicious && !is_quoted_or_block).then_some((start, value))
}

/// Returns the text in double quotes, which JSON and YAML write alike.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, expected: Option<&str>) {
        assert_eq!(repair(yaml).map(|repaired| repaired.yaml).as_deref(), expected);
    }

    #[test]
    fn values_that_cannot_be_plain_are_quoted() {
        check("name: a\ndescription: Use when: x\n", Some("name: a\ndescription: \"Use when: x\"\n"));
        check("description: @here\n", Some("description: \"@here\"\n"));
        check("description: say \"a: b\"\r\n", Some("description: \"say \\\"a: b\\\"\"\r\n"));
        check("description: \u{85}a: b\n", Some("description: \"\u{85}a: b\"\n"));
        check("description: fine\nmetadata:\n  a: b: c\n", None);
        check("description: \"a: b\"\n", None);
        check("description: [draft] Counts\n", Some("description: \"[draft] Counts\"\n"));
        for broken in ["name: [broken\n", "name: {a\n", "name: a: b\n", "forbidden-tools: [Bash\n"] {
            check(broken, None);
        }
        check("description: >\n  a: b\n", None);
    }

    #[test]
    fn places_are_where_the_value_starts() {
        let places = repair("name: a\ndescription:  x: y\n").unwrap().places;
        assert_eq!(places, [Position { line: 2, column: 15 }]);
    }
}
