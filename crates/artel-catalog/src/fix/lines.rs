//! The fields of a frontmatter as runs of its lines.

use crate::document::{Budget, Node, NodeKind, parse_yaml};

/// Where a field stands, in lines from 0.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct FieldLines {
    pub(super) key: String,
    /// The first comment right above the field, or the field itself.
    pub(super) start: usize,
    /// After the last line of its value.
    pub(super) end: usize,
}

/// Returns the lines of every field, or nothing unless the text is one `key: value` after the other.
pub(super) fn field_lines(yaml: &str, node: &Node) -> Option<Vec<FieldLines>> {
    let NodeKind::Mapping(entries) = &node.kind else { return None };
    // A lone carriage return is a line's end to YAML, but not to people.
    if yaml.replace("\r\n", "\n").contains('\r') || entries.first()?.0.position != node.position {
        return None;
    }
    let lines: Vec<&str> = yaml.split_inclusive('\n').collect();
    let mut fields: Vec<FieldLines> = Vec::with_capacity(entries.len());
    let mut previous = None;
    for (key, _) in entries {
        let line = key.position.line as usize - 1;
        let source = lines.get(line)?;
        let is_plain = source.strip_prefix(['"', '\'']).unwrap_or(source).starts_with(key.text.as_str());
        if key.position.column != 1 || previous >= Some(line) || !is_plain {
            return None;
        }
        previous = Some(line);
        let comments = lines[..line].iter().rev().take_while(|line| line.starts_with('#')).count();
        fields.push(FieldLines { key: key.text.clone(), start: line - comments, end: line + 1 });
    }
    let ends: Vec<usize> = fields.iter().skip(1).map(|next| next.start).chain([lines.len()]).collect();
    for (field, end) in fields.iter_mut().zip(ends) {
        let after = lines[field.end..end].iter().rev().take_while(|line| is_between(line)).count();
        field.end = end - after;
    }
    Some(fields)
}

/// Says whether a line belongs to no field.
fn is_between(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#') || line.trim_end() == "..."
}

/// Reads a frontmatter; nothing when it is not readable.
pub(super) fn parse(yaml: &str) -> Option<Node> {
    parse_yaml(yaml, Budget::FRONTMATTER).ok().map(|(node, _)| node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, expected: Option<&[(&str, usize, usize)]>) {
        let fields = field_lines(yaml, &parse(yaml).unwrap());
        let fields = fields.as_ref().map(|fields| {
            fields.iter().map(|field| (field.key.as_str(), field.start, field.end)).collect::<Vec<_>>()
        });
        assert_eq!(fields.as_deref(), expected);
    }

    #[test]
    fn fields_are_runs_of_lines_with_their_comments() {
        check("a: 1\nb:\n  c: 2\n", Some(&[("a", 0, 1), ("b", 1, 3)]));
        check("# head\n\n# of a\na: 1\n\n# of b\n# too\n\"b\" : |\n  # text\n\n  x\n\n# end\n", {
            Some(&[("a", 2, 4), ("b", 5, 11)])
        });
        check("a:\n- x\n- y\nb: 1\n...\n", Some(&[("a", 0, 3), ("b", 3, 4)]));
        check("a: 1\r\nb: 2\r\n", Some(&[("a", 0, 1), ("b", 1, 2)]));
    }

    #[test]
    fn other_layouts_are_not_taken_apart() {
        check("{\na: 1,\nb: 2}\n", None);
        check("  a: 1\n  b: 2\n", None);
        check("? a\n: 1\n", None);
        check("a: 1\rb: 2\n", None);
        check("text\n", None);
        check("", None);
    }
}
