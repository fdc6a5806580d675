//! Fields that the open format does not have, moved under `metadata` line by line.

use serde_json::{Map, Value};

use super::change::Obstacle;
use super::lines::{FieldLines, field_lines, parse};
use crate::document::{Node, NodeKind};
use crate::read::CLIENT_FIELDS;

/// The fields of the open format.
const FORMAT_FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// More unknown fields than this are not a slip.
const FIELDS_MAX: usize = 64;

/// A frontmatter with its fields moved, and what was left.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Moved {
    pub(super) yaml: String,
    pub(super) fields: Vec<String>,
    /// Fields that stay where they are, with their line from 1, and why.
    pub(super) left: Vec<(u32, Obstacle)>,
}

/// Moves every unknown field that can be moved without changing what it says.
pub(super) fn move_fields(yaml: &str) -> Moved {
    let mut moved = Moved { yaml: yaml.to_owned(), ..Moved::default() };
    let unknown = unknown_fields(yaml);
    if let Some((_, line)) = unknown.first().filter(|_| unknown.len() > FIELDS_MAX) {
        moved.left.push((*line, Obstacle::TooMuch));
        return moved;
    }
    for (field, line) in unknown {
        match move_field(&moved.yaml, &field) {
            Ok(yaml) => {
                moved.yaml = yaml;
                moved.fields.push(field);
            }
            Err(obstacle) => moved.left.push((line, obstacle)),
        }
    }
    moved
}

/// Returns the fields that are reported as unknown, each once, with its line.
fn unknown_fields(yaml: &str) -> Vec<(String, u32)> {
    let Some(Node { kind: NodeKind::Mapping(entries), .. }) = parse(yaml) else { return Vec::new() };
    let mut unknown: Vec<(String, u32)> = Vec::new();
    for (key, _) in entries {
        let is_known = FORMAT_FIELDS.contains(&key.text.as_str()) || key.text.starts_with('$');
        if !is_known && !unknown.iter().any(|(field, _)| *field == key.text) {
            unknown.push((key.text, key.position.line));
        }
    }
    unknown
}

fn move_field(yaml: &str, field: &str) -> Result<String, Obstacle> {
    if CLIENT_FIELDS.contains(&field) {
        return Err(Obstacle::FieldHasEffect(field.to_owned()));
    }
    let plain = |text: &str| text.replace(['-', '_', ' '], "").to_lowercase();
    if let Some(known) = FORMAT_FIELDS.into_iter().find(|known| plain(known) == plain(field)) {
        return Err(Obstacle::FieldMisspelt { field: field.to_owned(), known });
    }
    let tangled = || Obstacle::FieldTangled(field.to_owned());
    let node = parse(yaml).ok_or_else(tangled)?;
    let Value::Object(before) = node.to_value() else { return Err(tangled()) };
    // A client that cuts the file at the first `---` would find other fields before and after it.
    let fields = field_lines(yaml, &node).filter(|_| !yaml.contains("---")).ok_or_else(tangled)?;
    let is_twice = |key: &str| fields.iter().filter(|other| other.key == key).count() > 1;
    let in_metadata = before.get("metadata").and_then(Value::as_object);
    if is_twice(field) || in_metadata.is_some_and(|metadata| metadata.contains_key(field)) {
        return Err(Obstacle::FieldTwice(field.to_owned()));
    }
    let place = match entry(&node, "metadata") {
        None => None,
        Some(metadata) => {
            let indent = child_indent(metadata).filter(|_| !is_twice("metadata"));
            let indent = indent.ok_or_else(|| Obstacle::MetadataNotPlain(field.to_owned()))?;
            Some((fields.iter().find(|other| other.key == "metadata").ok_or_else(tangled)?, indent))
        }
    };
    let lines = fields.iter().find(|other| other.key == field).ok_or_else(tangled)?;
    let moved = rearranged(yaml, lines, place);
    let after = parse(&moved).map(|node| node.to_value());
    if after == expected(before, field) { Ok(moved) } else { Err(tangled()) }
}

fn entry<'a>(node: &'a Node, field: &str) -> Option<&'a Node> {
    let NodeKind::Mapping(entries) = &node.kind else { return None };
    entries.iter().find(|(key, _)| key.text == field).map(|(_, value)| value)
}

/// Returns how far the entries of a block mapping are indented; nothing for anything else.
fn child_indent(node: &Node) -> Option<usize> {
    let NodeKind::Mapping(entries) = &node.kind else { return None };
    let first = entries.first()?.0.position;
    // A mapping in brackets starts at its bracket, and an alias stands elsewhere than what it means.
    let is_block = first == node.position && first.column > 1;
    is_block.then_some(first.column as usize - 1)
}

/// Takes the lines of a field out and puts them at the end of `metadata`, or under one that is made in their place.
fn rearranged(yaml: &str, field: &FieldLines, metadata: Option<(&FieldLines, usize)>) -> String {
    let lines: Vec<&str> = yaml.split_inclusive('\n').collect();
    let indent = metadata.map_or(2, |(_, indent)| indent);
    let mut block: String = lines[field.start..field.end].iter().map(|line| indented(line, indent)).collect();
    let target = metadata.map_or(field.start, |(lines, _)| lines.end);
    if metadata.is_none() {
        let line_end = if lines[field.start].ends_with("\r\n") { "\r\n" } else { "\n" };
        block.insert_str(0, &format!("metadata:{line_end}"));
    }
    let mut moved = String::with_capacity(yaml.len() + block.len());
    for (index, line) in lines.iter().enumerate() {
        if index == target {
            moved.push_str(&block);
        }
        if !(field.start..field.end).contains(&index) {
            moved.push_str(line);
        }
    }
    if target == lines.len() {
        moved.push_str(&block);
    }
    moved
}

/// Indents a line, unless it is empty: of spaces in a block of text every one counts.
fn indented(line: &str, indent: usize) -> String {
    let is_empty = line.trim_end_matches(['\r', '\n']).is_empty();
    if is_empty { line.to_owned() } else { format!("{:indent$}{line}", "") }
}

/// Returns what the frontmatter must say after a field was moved.
fn expected(mut before: Map<String, Value>, field: &str) -> Option<Value> {
    let value = before.remove(field)?;
    let metadata = before.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    metadata.as_object_mut()?.insert(field.to_owned(), value);
    Some(Value::Object(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, expected: &str) {
        let moved = move_fields(yaml);
        assert_eq!((moved.yaml.as_str(), moved.left.as_slice()), (expected, [].as_slice()));
        let again = move_fields(&moved.yaml);
        assert_eq!((again.yaml, again.fields), (moved.yaml, Vec::new()));
    }

    #[track_caller]
    fn check_left(yaml: &str, line: u32, obstacle: Obstacle) {
        let expected = Moved { yaml: yaml.to_owned(), fields: Vec::new(), left: vec![(line, obstacle)] };
        assert_eq!(move_fields(yaml), expected);
    }

    #[test]
    fn fields_go_under_metadata_in_their_place() {
        check("name: a\ncolor: blue\nlicense: MIT\n", "name: a\nmetadata:\n  color: blue\nlicense: MIT\n");
        check("color: blue\nname: a\nsize: 2 # cm\n", "metadata:\n  color: blue\n  size: 2 # cm\nname: a\n");
        check("a: 1\r\nname: b\r\n", "metadata:\r\n  a: 1\r\nname: b\r\n");
        check("name: b\nversion: 1.10\n...\n", "name: b\nmetadata:\n  version: 1.10\n...\n");
    }

    #[test]
    fn fields_extend_metadata_at_its_end() {
        check("metadata:\n  x: 1\n\nname: a\ncolor: blue\n", "metadata:\n  x: 1\n  color: blue\n\nname: a\n");
        check("color: blue\nmetadata:\n    x: 1\n", "metadata:\n    x: 1\n    color: blue\n");
        check(
            "tags:\n- a\n- b\nmetadata:\n  x:\n    y: 1\n  # last\n",
            "metadata:\n  x:\n    y: 1\n  # last\n  tags:\n  - a\n  - b\n",
        );
    }

    #[test]
    fn values_keep_their_lines() {
        check(
            "name: a\n# of the text\nx-text: |\n  one\n\n    two\n     \n  # three\n# of b\nb: {c: [1]}\n",
            "name: a\nmetadata:\n  # of the text\n  x-text: |\n    one\n\n      two\n       \n    # three\n  # of b\n  b: {c: [1]}\n",
        );
        check("note: one\n  two\n\n  three\n", "metadata:\n  note: one\n    two\n\n    three\n");
        check("note: |2\n    two\n", "metadata:\n  note: |2\n      two\n");
        check("'a b': \"x\n  y\"\n", "metadata:\n  'a b': \"x\n    y\"\n");
        check("emoji: \u{1f9ea}\nempty:\n", "metadata:\n  emoji: \u{1f9ea}\n  empty:\n");
    }

    #[test]
    fn what_would_change_meaning_is_left() {
        let field = |text: &str| text.to_owned();
        let flow = "a: 1\nmetadata: {b: 2}\n";
        check_left(flow, 1, Obstacle::MetadataNotPlain(field("a")));
        check_left("a: 1\nmetadata: none\n", 1, Obstacle::MetadataNotPlain(field("a")));
        check_left("a: 1\nmetadata:\n  {\n  b: 2\n  }\n", 1, Obstacle::MetadataNotPlain(field("a")));
        check_left("a: 1\nmetadata:\n", 1, Obstacle::MetadataNotPlain(field("a")));
        check_left("a: 1\nmetadata:\n  a: 2\n", 1, Obstacle::FieldTwice(field("a")));
        check_left("a: 1\nname: x\na: 2\n", 1, Obstacle::FieldTwice(field("a")));
        check_left("name: x\nuser-invocable: no\n", 2, Obstacle::FieldHasEffect(field("user-invocable")));
        let misspelt = Obstacle::FieldMisspelt { field: field("allowed_tools"), known: "allowed-tools" };
        check_left("allowed_tools: Read\n", 1, misspelt);
        check_left("{name: x, a: 1}\n", 1, Obstacle::FieldTangled(field("a")));
        check_left("a: &x 1\nname: *x\nmetadata:\n  b: 1\n", 1, Obstacle::FieldTangled(field("a")));
        check_left("a: x --- y\nname: b\n", 1, Obstacle::FieldTangled(field("a")));
        check_left("a: |+\n  x\n\nmetadata:\n  b: 1\n", 1, Obstacle::FieldTangled(field("a")));
    }

    #[test]
    fn a_flood_of_fields_is_left() {
        let yaml: String = (0..=FIELDS_MAX).map(|index| format!("x{index}: 1\n")).collect();
        check_left(&yaml, 1, Obstacle::TooMuch);
        assert_eq!(move_fields("$schema: x\n").fields, [""; 0]);
    }
}
