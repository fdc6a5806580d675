//! A document together with the places of its parts.

use std::borrow::Cow;
use std::cell::OnceCell;

use artel_model::diagnostic::Position;
use serde_json::Value;

use super::json_tree::json_tree;
use super::tree::{Key, Node, NodeKind, Repetition};

/// A value, and a tree that tells where its parts stand.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) value: Value,
    source: Source<'a>,
    /// Lines that stand before the document in its file.
    lines_before: u32,
}

/// Where places are looked up.
#[derive(Debug)]
enum Source<'a> {
    Tree(Node),
    /// JSON that is known to be valid. Its places are looked up when somebody asks; most files have nothing to
    /// complain about, and then nobody does.
    Json(&'a str, OnceCell<Node>),
}

/// Which part of an entry is meant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    Key,
    Value,
}

impl<'a> Document<'a> {
    pub(crate) fn from_yaml(node: Node, lines_before: u32) -> Self {
        Self { value: node.to_value(), source: Source::Tree(node), lines_before }
    }

    pub(crate) fn from_json(value: Value, text: &'a str) -> Self {
        Self { value, source: Source::Json(text, OnceCell::new()), lines_before: 0 }
    }

    /// Returns where the part at a JSON Pointer stands: its nearest parent when it does not exist.
    pub(crate) fn position(&self, pointer: &str, part: Part) -> Position {
        let root = self.tree();
        let mut position = root.position;
        let mut node = root;
        for key in segments(pointer) {
            let Some((entry_key, child)) = child(node, &key) else { break };
            position = match (part, entry_key) {
                (Part::Key, Some(entry_key)) => entry_key.position,
                (Part::Value, Some(entry_key)) if is_absent(child) => entry_key.position,
                (Part::Key | Part::Value, _) => child.position,
            };
            node = child;
        }
        Position { line: position.line + self.lines_before, ..position }
    }

    /// Returns the scalar at `pointer` as it was written.
    pub(crate) fn scalar(&self, pointer: &str) -> Option<&str> {
        let mut node = self.tree();
        for key in segments(pointer) {
            node = child(node, &key)?.1;
        }
        node.scalar()
    }

    /// Returns the second and later occurrences of keys, each with its place.
    pub(crate) fn repeated_keys(&self) -> Vec<(String, Position)> {
        let repeated = self.tree().repeated_keys().into_iter();
        repeated.map(|key| (key.text.clone(), self.place_of(key))).collect()
    }

    /// Returns what [`Document::repeated_keys`] does, each with the field it belongs to.
    pub(crate) fn repetitions(&self) -> Vec<Repetition<'_>> {
        self.tree().repetitions()
    }

    /// Returns where a key of this document stands.
    pub(crate) fn place_of(&self, key: &Key) -> Position {
        Position { line: key.position.line + self.lines_before, ..key.position }
    }

    fn tree(&self) -> &Node {
        match &self.source {
            Source::Tree(node) => node,
            Source::Json(text, tree) => tree.get_or_init(|| json_tree(text)),
        }
    }
}

/// A value that was left out (`key:`) has no place of its own.
fn is_absent(node: &Node) -> bool {
    node.kind == NodeKind::Plain(String::new())
}

/// Returns the entry of a mapping (the last of that name) or of a list.
fn child<'a>(node: &'a Node, key: &str) -> Option<(Option<&'a Key>, &'a Node)> {
    match &node.kind {
        NodeKind::Mapping(entries) => {
            entries.iter().rev().find(|(entry, _)| entry.text == key).map(|(entry, node)| (Some(entry), node))
        }
        NodeKind::List(items) => {
            key.parse::<usize>().ok().and_then(|index| items.get(index)).map(|node| (None, node))
        }
        NodeKind::Text(_) | NodeKind::Plain(_) => None,
    }
}

fn segments(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(|segment| match segment.contains('~') {
        true => Cow::Owned(segment.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(segment),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Budget, parse_json, parse_yaml};
    use super::*;

    fn yaml(text: &str) -> Document<'_> {
        Document::from_yaml(parse_yaml(text, Budget::DOCUMENT).unwrap().0, 0)
    }

    fn at(document: &Document<'_>, pointer: &str, part: Part) -> (u32, u32) {
        let position = document.position(pointer, part);
        (position.line, position.column)
    }

    #[test]
    fn parts_of_yaml_know_their_place() {
        let document = yaml("name: demo\ntags:\n  - one\n  - two\nmeta: {a/b: 1}\nempty:\n");
        assert_eq!(at(&document, "/name", Part::Value), (1, 7));
        assert_eq!(at(&document, "/tags/1", Part::Value), (4, 5));
        assert_eq!(at(&document, "/meta/a~1b", Part::Value), (5, 13));
        assert_eq!(at(&document, "/meta", Part::Key), (5, 1));
        assert_eq!(at(&document, "/empty", Part::Value), (6, 1));
        assert_eq!(at(&document, "/name/missing", Part::Value), (1, 7));
        assert_eq!(document.scalar("/meta/a~1b"), Some("1"));
    }

    #[test]
    fn parts_of_json_know_their_place() {
        for text in
            ["{\"a\":{\"b\":[1,\"\\u00e9\\/\"]},\"c\":2}", "{\n\t\"a\": {\"b\": [1,\n 2]},\n\t\"c\" : 2 }"]
        {
            let document = Document::from_json(parse_json(text).unwrap(), text);
            for (pointer, needle) in [("/c", "\"c\""), ("/a", "\"a\"")] {
                let position = document.position(pointer, Part::Key);
                let line = text.lines().nth(position.line as usize - 1).unwrap();
                assert!(line[position.column as usize - 1..].starts_with(needle), "{pointer} in {text}");
            }
        }
        let text = "{\"a\": 1, \"a\": 2}";
        let document = Document::from_json(parse_json(text).unwrap(), text);
        assert_eq!(document.repeated_keys(), [("a".to_owned(), Position { line: 1, column: 10 })]);
    }
}
