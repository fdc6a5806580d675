//! JSON and YAML documents as values whose every part knows its place in the text.
//!
//! Untrusted input: depth, size and aliases are bounded, and nothing here panics.

mod json;
mod json_tree;
mod locate;
mod plain_lines;
mod portable;
mod tree;
mod yaml;

pub(crate) use json::parse_json;
pub(crate) use locate::{Document, Part};
pub(crate) use portable::{FeatureKind, OLD_LINE_BREAKS};
pub(crate) use tree::{Node, NodeKind, Repetition};
pub(crate) use yaml::{Budget, YamlError, YamlErrorKind, parse_yaml, parse_yaml_documents};
