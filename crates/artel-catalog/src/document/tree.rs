//! A parsed document as a tree with a place for every key and value.

use artel_model::diagnostic::Position;
use serde_json::{Map, Number, Value};

/// A value and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) position: Position,
    pub(crate) kind: NodeKind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeKind {
    /// A text that is certainly one: quoted, block, or tagged.
    Text(String),
    /// A scalar without quotes, whose type follows from how it looks.
    Plain(String),
    List(Vec<Node>),
    Mapping(Vec<(Key, Node)>),
}

/// A key of a mapping and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) position: Position,
}

/// A key that stands in its mapping already.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Repetition<'a> {
    pub(crate) key: &'a Key,
    /// Which entry of the document it is in, where the document is a list.
    pub(crate) item: Option<usize>,
    /// The outermost key that it lies below; the key itself where it lies below none.
    pub(crate) field: &'a str,
}

impl Node {
    /// Returns the plain value; of repeated keys the last counts.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Text(text) => Value::String(text.clone()),
            NodeKind::Plain(text) => resolve(text),
            NodeKind::List(items) => items.iter().map(Self::to_value).collect(),
            NodeKind::Mapping(entries) => {
                let entries = entries.iter().map(|(key, node)| (key.text.clone(), node.to_value()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the text of a scalar as it was written, whatever its type.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text(text) | NodeKind::Plain(text) => Some(text),
            NodeKind::List(_) | NodeKind::Mapping(_) => None,
        }
    }

    /// Returns every second and later occurrence of a key in the same mapping, anywhere in the tree.
    pub(crate) fn repeated_keys(&self) -> Vec<&Key> {
        self.repetitions().into_iter().map(|repetition| repetition.key).collect()
    }

    /// Returns what [`Node::repeated_keys`] does, each with the field it belongs to.
    pub(crate) fn repetitions(&self) -> Vec<Repetition<'_>> {
        let mut found = Vec::new();
        match &self.kind {
            NodeKind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.collect_repeated(Some(index), None, &mut found);
                }
            }
            NodeKind::Text(_) | NodeKind::Plain(_) | NodeKind::Mapping(_) => {
                self.collect_repeated(None, None, &mut found);
            }
        }
        found
    }

    fn collect_repeated<'a>(
        &'a self,
        item: Option<usize>,
        field: Option<&'a str>,
        found: &mut Vec<Repetition<'a>>,
    ) {
        match &self.kind {
            NodeKind::Text(_) | NodeKind::Plain(_) => {}
            NodeKind::List(items) => {
                items.iter().for_each(|inner| inner.collect_repeated(item, field, found))
            }
            NodeKind::Mapping(entries) => {
                // A few keys are compared quicker than they are put into a set.
                let is_short = entries.len() <= 16;
                let mut seen = std::collections::BTreeSet::new();
                for (index, (key, node)) in entries.iter().enumerate() {
                    let is_repeated = match is_short {
                        true => entries[..index].iter().any(|(earlier, _)| earlier.text == key.text),
                        false => !seen.insert(key.text.as_str()),
                    };
                    let field = field.unwrap_or(&key.text);
                    if is_repeated {
                        found.push(Repetition { key, item, field });
                    }
                    node.collect_repeated(item, Some(field), found);
                }
            }
        }
    }
}

/// Gives a plain scalar its type by YAML 1.2's core schema: `yes` stays a text.
fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(octal) = text.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return u64::from_str_radix(hexadecimal, 16).ok().map(Number::from);
    }
    let looks_numeric = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    if !looks_numeric {
        return None;
    }
    let integer = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
    integer.ok().or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_repetition_knows_its_field() {
        let key = |text: &str| Key { text: text.to_owned(), position: Position::START };
        let node = |kind| Node { position: Position::START, kind };
        let leaf = || node(NodeKind::Plain("1".to_owned()));
        let inner = || node(NodeKind::Mapping(vec![(key("b"), leaf()), (key("b"), leaf())]));
        let list = || node(NodeKind::List(vec![inner()]));
        let outer =
            || node(NodeKind::Mapping(vec![(key("a"), list()), (key("c"), leaf()), (key("c"), inner())]));
        let told = |node: &Node| {
            let told = node
                .repetitions()
                .into_iter()
                .map(|found| (found.item, found.field.to_owned(), found.key.text.clone()));
            told.collect::<Vec<_>>()
        };
        let expected = |item: Option<usize>| {
            [("a", "b"), ("c", "c"), ("c", "b")].map(|(field, key)| (item, field.to_owned(), key.to_owned()))
        };
        assert_eq!(told(&outer()), expected(None));
        assert_eq!(told(&node(NodeKind::List(vec![leaf(), outer()]))), expected(Some(1)));
    }

    #[test]
    fn plain_scalars_get_the_types_of_the_core_schema() {
        let table = [
            ("", json!(null)),
            ("~", json!(null)),
            ("true", json!(true)),
            ("yes", json!("yes")),
            ("12", json!(12)),
            ("-3", json!(-3)),
            ("+4", json!(4)),
            ("0x1f", json!(31)),
            ("0o17", json!(15)),
            ("1.5", json!(1.5)),
            ("1e3", json!(1000.0)),
            ("1.2.3", json!("1.2.3")),
            (".inf", json!(".inf")),
            ("2024-01-02", json!("2024-01-02")),
            ("12abc", json!("12abc")),
        ];
        for (text, expected) in table {
            assert_eq!(resolve(text), expected, "{text}");
        }
    }
}
