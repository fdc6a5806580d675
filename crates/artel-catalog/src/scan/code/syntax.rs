//! Parses code within limits. The grammars are C, run on what nobody vouches for.

use std::ops::ControlFlow;

use tree_sitter::{Language, Node, ParseOptions, Parser, Tree};

use crate::scan::limits::{CODE_BYTES_MAX, PARSE_STEPS_MAX};

/// Why code was not parsed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NotParsed {
    TooLarge,
    TooHard,
}

impl NotParsed {
    /// Returns why, for a report.
    pub(super) fn reason(self) -> String {
        match self {
            Self::TooLarge => format!("code of more than {CODE_BYTES_MAX} bytes is not parsed"),
            Self::TooHard => "the code takes too long to parse".to_owned(),
        }
    }
}

/// Parses code.
pub(super) fn parse(language: &Language, source: &str) -> Result<Tree, NotParsed> {
    if source.len() > CODE_BYTES_MAX {
        return Err(NotParsed::TooLarge);
    }
    let mut parser = Parser::new();
    parser.set_language(language).map_err(|_| NotParsed::TooHard)?;
    let mut steps = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > PARSE_STEPS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = source.as_bytes();
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options)).ok_or(NotParsed::TooHard)
}

/// Returns the text of a node.
pub(super) fn text<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// Returns the named children of a node.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// Returns all children of a node.
pub(super) fn all_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Returns the row a node begins at, from 0.
pub(super) fn row(node: Node<'_>) -> usize {
    node.start_position().row
}
