//! YAML of plain `key: value` lines, as most frontmatters are: read at a fraction of what the parser takes.
//!
//! Answers only where there is no doubt what the parser would say, and leaves everything else to it.

use artel_model::diagnostic::Position;

use super::tree::{Key, Node, NodeKind};
use super::yaml::Budget;
use crate::text::is_plain_ascii;

/// How far the fields of an inner mapping are indented.
const INDENT: &str = "  ";

/// Keys beyond this may be too long for YAML.
const KEY_BYTES_MAX: usize = 100;

/// Returns the tree of a text that only holds `key: value` lines, and mappings of such lines one level deeper.
///
/// Such a text has none of the features that only some clients read.
pub(super) fn parse_plain_lines(text: &str, budget: Budget) -> Option<Node> {
    let mut lines = text.strip_suffix('\n')?.split('\n').zip(1_u32..).peekable();
    let mut fields = Vec::new();
    while let Some((line, number)) = lines.next() {
        // A line is two scalars, which count twice, and at most one mapping.
        if text.len() > budget.text_bytes_max || number as usize > budget.nodes_max / 4 {
            return None;
        }
        if let Some((key, style)) = block_header(line, number) {
            let mut parts = Vec::new();
            while let Some((line, _)) = lines.next_if(|(line, _)| line.starts_with(INDENT)) {
                parts.push(block_line(line)?);
            }
            // The text starts where its first line does.
            let position = place(number + 1, INDENT.len());
            fields.push((key, Node { position, kind: NodeKind::Text(style.text(&parts)?) }));
            continue;
        }
        let (key, value) = field(line, number, "")?;
        if let Some(value) = value {
            fields.push((key, value));
            continue;
        }
        let mut inner = Vec::new();
        while let Some((line, number)) = lines.next_if(|(line, _)| line.starts_with(INDENT)) {
            let (key, value) = field(line, number, INDENT)?;
            inner.push((key, value?));
        }
        let position = inner.first()?.0.position;
        fields.push((key, Node { position, kind: NodeKind::Mapping(inner) }));
    }
    Some(Node { position: Position::START, kind: NodeKind::Mapping(fields) })
}

/// How the lines of a block become one text.
struct BlockStyle {
    /// What stands between two lines.
    between: &'static str,
    /// What stands after the last one.
    after: &'static str,
}

impl BlockStyle {
    /// Joins the lines of a block; an empty block is left to the parser.
    fn text(&self, lines: &[&str]) -> Option<String> {
        (!lines.is_empty()).then(|| format!("{}{}", lines.join(self.between), self.after))
    }
}

/// Reads `key: >-` and the like: a text that stands on the indented lines below.
fn block_header(line: &str, number: u32) -> Option<(Key, BlockStyle)> {
    let (key, mark) = line.split_once(": ").filter(|(key, _)| is_key(key))?;
    let style = match mark {
        ">" => BlockStyle { between: " ", after: "\n" },
        ">-" => BlockStyle { between: " ", after: "" },
        "|" => BlockStyle { between: "\n", after: "\n" },
        "|-" => BlockStyle { between: "\n", after: "" },
        _ => return None,
    };
    Some((Key { text: key.to_owned(), position: place(number, 0) }, style))
}

fn place(line: u32, offset: usize) -> Position {
    Position { line, column: u32::try_from(offset + 1).unwrap_or(u32::MAX) }
}

/// A line of a block without its indent. Lines that are indented further or end in a space are folded differently.
fn block_line(line: &str) -> Option<&str> {
    let text = line.strip_prefix(INDENT)?;
    (!text.is_empty() && !text.starts_with(' ') && !text.ends_with(' ') && is_printable(text)).then_some(text)
}

/// Takes a line apart; a key may stand without a value.
fn field(line: &str, number: u32, indent: &str) -> Option<(Key, Option<Node>)> {
    let (key, rest) = line.strip_prefix(indent)?.split_once(':')?;
    if !is_key(key) {
        return None;
    }
    let value = match rest.strip_prefix(' ') {
        Some(value) => Some(Node { position: place(number, line.len() - value.len()), kind: scalar(value)? }),
        None if rest.is_empty() => None,
        None => return None,
    };
    Some((Key { text: key.to_owned(), position: place(number, indent.len()) }, value))
}

fn is_key(text: &str) -> bool {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_word && text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.len() <= KEY_BYTES_MAX
}

fn scalar(text: &str) -> Option<NodeKind> {
    if let Some(quote @ ('"' | '\'')) = text.chars().next() {
        let inside = text[1..].strip_suffix(quote)?;
        let is_literal = !inside.contains([quote, '\\']) && is_printable(inside);
        return is_literal.then(|| NodeKind::Text(inside.to_owned()));
    }
    // What starts with a letter or a digit has no meaning to YAML but at `: ` and ` #`.
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !text.ends_with([':', ' '])
        && !text.contains(": ")
        && !text.contains(" #")
        && is_printable(text);
    is_plain.then(|| NodeKind::Plain(text.to_owned()))
}

/// Says whether a text holds only characters that every version of YAML takes for text.
fn is_printable(text: &str) -> bool {
    is_plain_ascii(text)
        || text.chars().all(|c| {
            matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{10000}'..='\u{1fffd}')
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::yaml::parse_with_parser;
    use super::*;

    /// Whatever it answers is what the parser says, with no features.
    #[track_caller]
    fn check(yaml: &str, is_answered: bool) {
        let answer = parse_plain_lines(yaml, Budget::FRONTMATTER);
        assert_eq!(answer.is_some(), is_answered, "{yaml:?}");
        if let Some(node) = answer {
            let (expected, features) = parse_with_parser(yaml, Budget::FRONTMATTER).unwrap();
            assert_eq!((node, features.as_slice()), (expected, [].as_slice()), "{yaml:?}");
        }
    }

    #[test]
    fn usual_frontmatters_are_read() {
        check("name: demo\ndescription: Reads a file, then (if asked) writes it.\n", true);
        check("name: demo\nmetadata:\n  version: \"1.2\"\n  author: 'me'\nlicense: MIT\n", true);
        check("a: http://b/c#d\nb: 12\nc: true\nd: null\n", true);
        check("a: it's \"so\" & [that] {is} * it\nb: x, y\n", true);
        check("a: caf\u{e9} \u{2014} \u{1f600}\nb: \"\"\n", true);
        check("a: 1\na: 2\n", true);
    }

    #[test]
    fn texts_on_lines_below_are_read() {
        for mark in [">", ">-", "|", "|-"] {
            check(&format!("name: demo\na: {mark}\n  one: x\n  # two\n  - three\nb: 1\n"), true);
            check(&format!("a: {mark}\n  one\n"), true);
            check(&format!("a: {mark}\n"), false);
            check(&format!("a: {mark}\n  one\n\n  two\n"), false);
            check(&format!("a: {mark}\n  one\n   two\n"), false);
            check(&format!("a: {mark}\n  one \n  two\n"), false);
            check(&format!("a: {mark}\n one\n"), false);
        }
        check("a: >+\n  one\n", false);
    }

    #[test]
    fn everything_else_is_left_to_the_parser() {
        for yaml in [
            "",
            "\n",
            "a: b",
            "a:\n",
            "a:\nb: c\n",
            "a:  b\n",
            "a: b \n",
            "a: b\r\n",
            "a: b: c\n",
            "a: b:\n",
            "a: b # c\n",
            "a: \"b\\n\"\n",
            "a: 'it''s'\n",
            "a: 'b' c\n",
            "a: \"\n",
            "a: b\n  c\n",
            "a:\n  - b\n",
            "a:\n    b: c\n",
            "a:\n  b: c\n   d: e\n",
            "a:\n  b:\n    c: d\n",
            "- a\n",
            "...\n",
            "# a\n",
            "\u{feff}a: b\n",
            "a: b\u{2028}c\n",
            "a: b\u{85}c\n",
            "a: b\tc\n",
            "<<: b\n",
            "? a\n",
        ] {
            check(yaml, false);
        }
        check(&"a: b\n".repeat(501), false);
        check(&format!("a: {}\n", "b".repeat(65 * 1024)), false);
    }

    proptest! {
        /// Lines out of what YAML treats specially: where there is an answer, it is the parser's.
        #[test]
        fn what_is_answered_is_what_the_parser_says(
            lines in prop::collection::vec(
                "( {0,4})(name|a-b|b1|true|<<|- x)?(:| :)? {0,2}[\"']?([ -~]|\\PC|[:#'\"\\-\\[{&*!|>%@`,?~.] ?){0,12}[\"']?",
                0..6,
            ),
        ) {
            let yaml: String = lines.iter().map(|line| format!("{line}\n")).collect();
            if let Some(node) = parse_plain_lines(&yaml, Budget::FRONTMATTER) {
                prop_assert_eq!(Ok((node, Vec::new())), parse_with_parser(&yaml, Budget::FRONTMATTER));
            }
        }

        /// The same for texts on indented lines.
        #[test]
        fn blocks_are_what_the_parser_says(
            blocks in prop::collection::vec(("[>|][-+]?", prop::collection::vec(" {1,4}[ -~]{0,9}|", 0..4)), 1..4),
        ) {
            let yaml: String = blocks
                .iter()
                .zip('a'..)
                .flat_map(|((mark, lines), key)| {
                    std::iter::once(format!("{key}: {mark}\n")).chain(lines.iter().map(|line| format!("{line}\n")))
                })
                .collect();
            if let Some(node) = parse_plain_lines(&yaml, Budget::FRONTMATTER) {
                prop_assert_eq!(Ok((node, Vec::new())), parse_with_parser(&yaml, Budget::FRONTMATTER));
            }
        }

        /// The same for lines that are nearly always answered.
        #[test]
        fn simple_lines_are_what_the_parser_says(
            lines in prop::collection::vec("(  )?[a-z]{1,3}:( [a-z0-9][ -~\u{a0}-\u{2ff}]{0,9}| \"[ !#-\\[\\]-~]{0,5}\")?", 1..6),
        ) {
            let yaml: String = lines.iter().map(|line| format!("{line}\n")).collect();
            if let Some(node) = parse_plain_lines(&yaml, Budget::FRONTMATTER) {
                prop_assert_eq!(Ok((node, Vec::new())), parse_with_parser(&yaml, Budget::FRONTMATTER));
            }
        }
    }
}
