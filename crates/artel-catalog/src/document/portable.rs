//! Ways of writing YAML that not every client reads alike: found in the text and its tree, whoever parsed it.

use artel_model::diagnostic::Position;

use super::tree::{Node, NodeKind};
use crate::text::end_of;

/// A way of writing YAML that not every client reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Feature {
    pub(crate) kind: FeatureKind,
    pub(crate) position: Position,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FeatureKind {
    FlowStyle,
    Anchor,
    Alias,
    Tag,
    /// A tab that is neither in quotes nor in a block text or a comment.
    Tab,
    /// A character that YAML 1.1 takes for the end of a line, and YAML 1.2 for text.
    LineBreak,
    /// `...` where there is nothing to end.
    EarlyEnd,
    /// A byte order mark before the fields.
    ByteOrderMark,
    /// Mappings side by side, one indented deeper than the other.
    Indentation,
    /// The key `<<`, which YAML 1.1 takes for "merge this mapping into mine", with a text as its value.
    MergeKey,
}

/// Where a text in quotes or a block text stands, in bytes.
pub(super) type TextSpan = std::ops::Range<usize>;

/// Characters that end a line in YAML 1.1 only.
pub(crate) const OLD_LINE_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Returns what the parser itself does not tell, each kind at its first place.
pub(super) fn features(text: &str, root: &Node, text_spans: &[TextSpan]) -> Vec<Feature> {
    let found = [
        (FeatureKind::Tab, stray_tab(text, text_spans).map(|at| end_of(&text[..at]))),
        (FeatureKind::LineBreak, text.find(OLD_LINE_BREAKS).map(|at| end_of(&text[..at]))),
        (FeatureKind::EarlyEnd, early_end(text)),
        (FeatureKind::ByteOrderMark, byte_order_mark(text)),
        (FeatureKind::Indentation, uneven_mapping(root)),
        (FeatureKind::MergeKey, merge_key(root)),
    ];
    found.into_iter().filter_map(|(kind, position)| Some(Feature { kind, position: position? })).collect()
}

/// Finds a tab between values; `text_spans` are in the order of the text.
fn stray_tab(text: &str, text_spans: &[TextSpan]) -> Option<usize> {
    if !text.contains('\t') {
        return None;
    }
    let mut at = 0;
    for span in text_spans.iter().cloned().chain(std::iter::once(text.len()..text.len())) {
        // An alias repeats a text that was passed already.
        if span.start < at {
            continue;
        }
        if let Some(tab) = outside_comments(&text[at..span.start]) {
            return Some(at + tab);
        }
        at = span.end;
    }
    None
}

fn outside_comments(between: &str) -> Option<usize> {
    let mut at = 0;
    for line in between.split_inclusive('\n') {
        let comment = line.match_indices('#').map(|(hash, _)| hash);
        let mut comment = comment.filter(|hash| *hash == 0 || line[..*hash].ends_with([' ', '\t']));
        let code = comment.next().map_or(line, |hash| &line[..hash]);
        if let Some(tab) = code.find('\t') {
            return Some(at + tab);
        }
        at += line.len();
    }
    None
}

/// Finds `...` where no line since the last one could be ended by it.
fn early_end(text: &str) -> Option<Position> {
    let mut is_open = false;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| is_content(line)) {
        let is_end = line
            .strip_prefix("...")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        if is_end && !is_open {
            return Some(line_start(index));
        }
        is_open = !is_end;
    }
    None
}

/// Finds a byte order mark before the fields.
fn byte_order_mark(text: &str) -> Option<Position> {
    let (index, line) = text.lines().enumerate().find(|(_, line)| is_content(line))?;
    line.starts_with('\u{feff}').then(|| line_start(index))
}

fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

fn line_start(index: usize) -> Position {
    Position { line: u32::try_from(index + 1).unwrap_or(u32::MAX), column: 1 }
}

fn uneven_mapping(node: &Node) -> Option<Position> {
    match &node.kind {
        NodeKind::Text(_) | NodeKind::Plain(_) => None,
        NodeKind::List(items) => items.iter().find_map(uneven_mapping),
        NodeKind::Mapping(entries) => {
            let is_mapping = |node: &&Node| matches!(node.kind, NodeKind::Mapping(_));
            let mut mappings = entries.iter().map(|(_, node)| node).filter(is_mapping);
            let first = mappings.next().map(|node| node.position.column);
            let uneven = mappings.find(|node| Some(node.position.column) != first);
            uneven
                .map(|node| node.position)
                .or_else(|| entries.iter().find_map(|(_, node)| uneven_mapping(node)))
        }
    }
}

fn merge_key(node: &Node) -> Option<Position> {
    match &node.kind {
        NodeKind::Text(_) | NodeKind::Plain(_) => None,
        NodeKind::List(items) => items.iter().find_map(merge_key),
        NodeKind::Mapping(entries) => entries.iter().find_map(|(key, node)| {
            let is_merge = key.text == "<<" && node.scalar().is_some();
            if is_merge { Some(key.position) } else { merge_key(node) }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::yaml::{Budget, parse_yaml};
    use super::*;

    #[track_caller]
    fn check(yaml: &str, expected: &[(FeatureKind, u32, u32)]) {
        let (_, features) = parse_yaml(yaml, Budget::FRONTMATTER).unwrap();
        let found: Vec<_> =
            features.iter().map(|found| (found.kind, found.position.line, found.position.column)).collect();
        assert_eq!(found, expected, "{yaml:?}");
    }

    #[test]
    fn tabs_are_only_portable_inside_texts() {
        check("a: b\tc\n", &[(FeatureKind::Tab, 1, 5)]);
        check("a:\tb\n", &[(FeatureKind::Tab, 1, 3)]);
        check("\u{e9}: 'x'\nb: y\t\n", &[(FeatureKind::Tab, 2, 5)]);
        check("a: \"b\tc\"\nb: 'd\te'\n", &[]);
        check("a: |\n  b\tc\nd: >-\n  e\n  \tf\n", &[]);
        check("a: b #\tc\n#\td\n", &[]);
        check("a: b#\tc\n", &[(FeatureKind::Tab, 1, 6)]);
    }

    #[test]
    fn marks_of_other_versions_are_found() {
        check("a: b\u{2028}c\n", &[(FeatureKind::LineBreak, 1, 5)]);
        check("...\na: b\n", &[(FeatureKind::EarlyEnd, 1, 1)]);
        check("# c\n\n... \na: b\n", &[(FeatureKind::EarlyEnd, 3, 1)]);
        check("a: b\n...\n", &[]);
        check("a: b\n...\n...\n", &[(FeatureKind::EarlyEnd, 3, 1)]);
        check("\n\u{feff}a: b\n", &[(FeatureKind::ByteOrderMark, 2, 1)]);
        check("\u{feff}a: b\n", &[(FeatureKind::ByteOrderMark, 1, 1)]);
        check("....: b\n", &[]);
        check("a:\n  <<: b\n", &[(FeatureKind::MergeKey, 2, 3)]);
        check("a: <<\n", &[]);
    }

    #[test]
    fn mappings_side_by_side_are_indented_alike() {
        check("a:\n  b: 1\nc:\n    d: 1\n", &[(FeatureKind::Indentation, 4, 5)]);
        check("a:\n  b: 1\nc:\n  d:\n      e: 1\n", &[]);
        check("- a:\n    b: 1\n  c:\n     d: 1\n", &[(FeatureKind::Indentation, 4, 6)]);
    }
}
