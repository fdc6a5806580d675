//! Where the parts of a JSON text stand. The text is known to be valid, so nothing is checked again.

use artel_model::diagnostic::Position;

use super::tree::{Key, Node, NodeKind};

/// Returns the tree of a valid JSON text.
pub(super) fn json_tree(text: &str) -> Node {
    let mut cursor = Cursor { rest: text, position: Position::START };
    cursor.value()
}

struct Cursor<'a> {
    rest: &'a str,
    position: Position,
}

impl<'a> Cursor<'a> {
    fn value(&mut self) -> Node {
        self.skip_spaces();
        let position = self.position;
        let kind = match self.rest.as_bytes().first() {
            Some(b'{') => NodeKind::Mapping(self.entries()),
            Some(b'[') => NodeKind::List(self.items()),
            Some(b'"') => NodeKind::Text(self.text()),
            Some(_) | None => {
                let end = |c: char| matches!(c, ',' | ']' | '}' | ' ' | '\t' | '\n' | '\r');
                let length = self.rest.find(end).unwrap_or(self.rest.len());
                NodeKind::Plain(self.advance(length).to_owned())
            }
        };
        Node { position, kind }
    }

    fn entries(&mut self) -> Vec<(Key, Node)> {
        let mut entries = Vec::new();
        self.advance(1);
        while !self.closes() {
            let position = self.position;
            let text = self.text();
            self.skip_spaces();
            self.advance(1);
            entries.push((Key { text, position }, self.value()));
        }
        entries
    }

    fn items(&mut self) -> Vec<Node> {
        let mut items = Vec::new();
        self.advance(1);
        while !self.closes() {
            items.push(self.value());
        }
        items
    }

    /// Goes to the next entry, or behind the bracket that ends them.
    fn closes(&mut self) -> bool {
        self.skip_spaces();
        if self.rest.starts_with(',') {
            self.advance(1);
            self.skip_spaces();
        }
        let is_end = self.rest.is_empty() || self.rest.starts_with(['}', ']']);
        if is_end {
            self.advance(self.rest.len().min(1));
        }
        is_end
    }

    fn text(&mut self) -> String {
        let mut is_escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, character)| {
            let is_end = *character == '"' && !is_escaped;
            is_escaped = *character == '\\' && !is_escaped;
            is_end
        });
        let length = end.map_or(self.rest.len(), |(at, _)| at + 1);
        serde_json::from_str(self.advance(length)).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        let spaces = self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.advance(spaces);
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        match passed.rfind('\n') {
            Some(at) => {
                let lines = passed.matches('\n').count();
                self.position.line = self.position.line.saturating_add(small(lines));
                self.position.column = small(passed[at + 1..].chars().count()).saturating_add(1);
            }
            None => self.position.column = self.position.column.saturating_add(small(passed.chars().count())),
        }
        passed
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_only_json_allows_has_a_place() {
        let long = "k".repeat(2000);
        for start in [
            format!("\"{long}\": 1"),
            "\"x\": \"\\ud83d\\ude00\"".to_owned(),
            "\"x\": \"\u{7f}\u{85}\u{2028}\"".to_owned(),
            "\"x\"\t:\t\"\\\\\"".to_owned(),
            "\"x\" : [[], {}, [1, {\"y\": \"}\"}]]".to_owned(),
        ] {
            let text = format!("{{{start},\n  \"last\"\n:\n 12}}");
            let NodeKind::Mapping(entries) = json_tree(&text).kind else { panic!("{text}") };
            let (key, node) = entries.last().unwrap();
            assert_eq!((key.text.as_str(), key.position), ("last", Position { line: 2, column: 3 }));
            assert_eq!(node.position, Position { line: 4, column: 2 });
            assert_eq!(node.kind, NodeKind::Plain("12".to_owned()));
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_tree_says_what_the_text_says(value in any_json(), pretty in any::<bool>()) {
            let write = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
            prop_assert_eq!(json_tree(&write(&value).unwrap()).to_value(), value);
        }
    }
}
