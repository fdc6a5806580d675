//! YAML, read from a stream of events so that nothing is built before it is counted.
//!
//! The only module that knows the YAML parser.

#![expect(clippy::wildcard_enum_match_arm, reason = "the parser's enums are open")]

use std::collections::BTreeMap;
use std::rc::Rc;

use artel_model::diagnostic::Position;
use artel_model::limit;
use granit_parser::{
    ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle, Tag,
};

use super::plain_lines::parse_plain_lines;
use super::portable::{Feature, FeatureKind, TextSpan, features};
use super::tree::{Key, Node, NodeKind};

/// How much a document may hold; aliases count as what they stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) depth_max: usize,
    pub(crate) nodes_max: usize,
    pub(crate) text_bytes_max: usize,
}

impl Budget {
    /// For the frontmatter of a `SKILL.md`.
    pub(crate) const FRONTMATTER: Self = Self {
        depth_max: limit::FRONTMATTER_DEPTH_MAX,
        nodes_max: limit::FRONTMATTER_NODES_MAX,
        text_bytes_max: limit::FRONTMATTER_TEXT_BYTES_MAX,
    };
    /// For manifests and registry files.
    pub(crate) const DOCUMENT: Self = Self {
        depth_max: limit::DOCUMENT_DEPTH_MAX,
        nodes_max: limit::DOCUMENT_NODES_MAX,
        text_bytes_max: limit::DOCUMENT_TEXT_BYTES_MAX,
    };
}

/// Why a text could not be read as YAML.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct YamlError {
    pub(crate) position: Position,
    pub(crate) kind: YamlErrorKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum YamlErrorKind {
    /// The text is not YAML.
    Syntax(String),
    /// The document holds more than its budget.
    Budget(String),
    /// A key that is not a text.
    Key,
    /// There is more than one document.
    SecondDocument,
}

impl std::fmt::Display for YamlErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Syntax(message) | Self::Budget(message) => f.write_str(message),
            Self::Key => f.write_str("a key must be a plain text, not a list or a mapping"),
            Self::SecondDocument => f.write_str("a second document begins here, but only one is expected"),
        }
    }
}

/// Reads the only document of `text`, with the features it uses; an empty text is an empty plain scalar.
pub(crate) fn parse_yaml(text: &str, budget: Budget) -> Result<(Node, Vec<Feature>), YamlError> {
    match parse_plain_lines(text, budget) {
        Some(node) => Ok((node, Vec::new())),
        None => parse_with_parser(text, budget),
    }
}

/// Does what [`parse_yaml`] does, whatever the text looks like.
pub(super) fn parse_with_parser(text: &str, budget: Budget) -> Result<(Node, Vec<Feature>), YamlError> {
    let mut builder = Builder::new(text, budget);
    let node = builder
        .document()?
        .unwrap_or(Node { position: Position::START, kind: NodeKind::Plain(String::new()) });
    if let Some(second) = builder.document()? {
        return Err(YamlError { position: second.position, kind: YamlErrorKind::SecondDocument });
    }
    let mut found = builder.features;
    found.extend(features(text, &node, &builder.text_spans));
    Ok((node, found))
}

/// Reads every document of `text`, and the error that ended the reading if there was one.
pub(crate) fn parse_yaml_documents(
    text: &str,
    budget: Budget,
    documents_max: usize,
) -> (Vec<Node>, Option<YamlError>) {
    let mut builder = Builder::new(text, budget);
    let mut documents = Vec::new();
    loop {
        match builder.document() {
            Ok(Some(node)) if documents.len() == documents_max => {
                let message = format!("there are more than {documents_max} documents");
                let kind = YamlErrorKind::Budget(message);
                return (documents, Some(YamlError { position: node.position, kind }));
            }
            Ok(Some(node)) => documents.push(node),
            Ok(None) => return (documents, None),
            Err(error) => return (documents, Some(error)),
        }
    }
}

struct Builder<'a> {
    parser: Parser<'a, StrInput<'a>>,
    budget: Budget,
    nodes: usize,
    text_bytes: usize,
    aliases: usize,
    anchors: BTreeMap<usize, (Rc<Node>, Weight)>,
    /// What all anchors together hold: every one keeps a copy.
    anchored: Weight,
    features: Vec<Feature>,
    text_spans: Vec<TextSpan>,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str, budget: Budget) -> Self {
        let options = granit_parser::options! {
            flow_nesting_limit: 255,
            block_nesting_limit: 255,
            emit_anchor_events: true,
        };
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            budget,
            nodes: 0,
            text_bytes: 0,
            aliases: 0,
            anchors: BTreeMap::new(),
            anchored: Weight::default(),
            features: Vec::new(),
            text_spans: Vec::new(),
        }
    }

    /// Returns the next document, or nothing at the end of the text.
    fn document(&mut self) -> Result<Option<Node>, YamlError> {
        loop {
            let Some((event, span)) = self.next()? else { return Ok(None) };
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => return Ok(None),
                Event::DocumentStart(..) => {
                    self.anchors.clear();
                    let Some((event, span)) = self.next()? else { return Ok(None) };
                    return self.node(event, span, 0).map(Some);
                }
                _ => return Err(stray(span.start)),
            }
        }
    }

    /// Returns the next event. The name of an anchor follows its node as an event of its own, which is only noted.
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, YamlError> {
        loop {
            match self.parser.next_event().transpose().map_err(|error| syntax(&error))? {
                Some((Event::Anchor(..), span)) => self.note(FeatureKind::Anchor, position(span.start)),
                other => return Ok(other),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, YamlError> {
        let position = position(span.start);
        if let Some(tag) = span.tag_start {
            self.note(FeatureKind::Tag, self::position(tag));
        }
        self.count(position, depth, 0)?;
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                // The parser writes `~` for a value that was left out.
                let is_absent = span.start.index() == span.end.index() && style == ScalarStyle::Plain;
                let text = if is_absent { String::new() } else { text.into_owned() };
                if style != ScalarStyle::Plain
                    && let (Some(start), Some(end)) = (span.start.byte_offset(), span.end.byte_offset())
                {
                    self.text_spans.push(start..end);
                }
                (self.scalar(text, style, tag.as_deref(), position)?, anchor)
            }
            Event::SequenceStart(style, anchor, _) => {
                self.note_style(style, position);
                (self.list(position, depth)?, anchor)
            }
            Event::MappingStart(style, anchor, _) => {
                self.note_style(style, position);
                (self.mapping(position, depth)?, anchor)
            }
            Event::Alias(anchor) => return self.alias(anchor, position, depth),
            _ => return Err(stray(span.start)),
        };
        if anchor != 0 {
            self.hold(anchor, &node)?;
        }
        Ok(node)
    }

    fn scalar(
        &mut self,
        text: String,
        style: ScalarStyle,
        tag: Option<&Tag>,
        position: Position,
    ) -> Result<Node, YamlError> {
        self.count(position, 0, text.len())?;
        let is_text_tag = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
        let kind = match style {
            ScalarStyle::Plain if !is_text_tag => NodeKind::Plain(text),
            ScalarStyle::Plain
            | ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded => NodeKind::Text(text),
        };
        Ok(Node { position, kind })
    }

    fn list(&mut self, position: Position, depth: usize) -> Result<Node, YamlError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Some((Event::SequenceEnd, _)) | None => break,
                Some((event, span)) => items.push(self.node(event, span, depth + 1)?),
            }
        }
        Ok(Node { position, kind: NodeKind::List(items) })
    }

    fn mapping(&mut self, position: Position, depth: usize) -> Result<Node, YamlError> {
        let mut entries = Vec::new();
        loop {
            let (event, span) = match self.next()? {
                Some((Event::MappingEnd, _)) | None => break,
                Some(next) => next,
            };
            let key = self.node(event, span, depth + 1)?;
            let Some(text) = key.scalar().map(str::to_owned) else {
                return Err(YamlError { position: key.position, kind: YamlErrorKind::Key });
            };
            let Some((event, span)) = self.next()? else { break };
            let value = self.node(event, span, depth + 1)?;
            entries.push((Key { text, position: key.position }, value));
        }
        Ok(Node { position, kind: NodeKind::Mapping(entries) })
    }

    /// Keeps a copy of what an anchor names. Anchors inside anchors would keep the same over and over, so what they
    /// keep has the budget of a document.
    fn hold(&mut self, anchor: usize, node: &Node) -> Result<(), YamlError> {
        let weight = Weight::of(node);
        self.anchored.nodes += weight.nodes;
        self.anchored.text_bytes += weight.text_bytes;
        let Budget { nodes_max, text_bytes_max, .. } = self.budget;
        if self.anchored.nodes > 2 * nodes_max || self.anchored.text_bytes > text_bytes_max {
            return Err(over(node.position, "the anchors hold more than a document may".to_owned()));
        }
        self.anchors.insert(anchor, (Rc::new(node.clone()), weight));
        Ok(())
    }

    /// Copies what an alias stands for, after counting it: a bomb is refused before it goes off.
    fn alias(&mut self, anchor: usize, position: Position, depth: usize) -> Result<Node, YamlError> {
        self.note(FeatureKind::Alias, position);
        self.aliases += 1;
        if self.aliases > limit::ALIASES_MAX {
            return Err(over(position, format!("there are more than {} aliases", limit::ALIASES_MAX)));
        }
        // An alias inside its own anchor has nothing to stand for yet.
        let Some((node, weight)) = self.anchors.get(&anchor).cloned() else {
            return Err(YamlError {
                position,
                kind: YamlErrorKind::Syntax("the alias refers to itself".to_owned()),
            });
        };
        self.nodes += weight.nodes;
        self.count(position, depth + weight.height, weight.text_bytes)?;
        Ok(Node { position, kind: node.kind.clone() })
    }

    fn count(&mut self, position: Position, depth: usize, text_bytes: usize) -> Result<(), YamlError> {
        self.nodes += 1;
        self.text_bytes += text_bytes;
        if depth > self.budget.depth_max {
            return Err(over(
                position,
                format!("values are nested deeper than {} levels", self.budget.depth_max),
            ));
        }
        // Every scalar is counted twice, as a node and as a text.
        if self.nodes > 2 * self.budget.nodes_max {
            return Err(over(position, format!("there are more than {} values", self.budget.nodes_max)));
        }
        if self.text_bytes > self.budget.text_bytes_max {
            return Err(over(
                position,
                format!("there are more than {} bytes of text", self.budget.text_bytes_max),
            ));
        }
        Ok(())
    }

    fn note_style(&mut self, style: StructureStyle, position: Position) {
        if style == StructureStyle::Flow {
            self.note(FeatureKind::FlowStyle, position);
        }
    }

    /// Keeps the first place of every kind of feature.
    fn note(&mut self, kind: FeatureKind, position: Position) {
        if !self.features.iter().any(|feature| feature.kind == kind) {
            self.features.push(Feature { kind, position });
        }
    }
}

/// How much a value is, with everything in it.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    nodes: usize,
    text_bytes: usize,
    /// Levels of values inside it.
    height: usize,
}

impl Weight {
    fn of(node: &Node) -> Self {
        let scalar = |text: &str| Self { nodes: 2, text_bytes: text.len(), height: 0 };
        match &node.kind {
            NodeKind::Text(text) | NodeKind::Plain(text) => scalar(text),
            NodeKind::List(items) => items.iter().map(Self::of).fold(Self::holder(), Self::with),
            NodeKind::Mapping(entries) => {
                let parts = entries.iter().flat_map(|(key, node)| [scalar(&key.text), Self::of(node)]);
                parts.fold(Self::holder(), Self::with)
            }
        }
    }

    /// An empty list or mapping.
    fn holder() -> Self {
        Self { nodes: 1, ..Self::default() }
    }

    fn with(self, inner: Self) -> Self {
        Self {
            nodes: self.nodes + inner.nodes,
            text_bytes: self.text_bytes + inner.text_bytes,
            height: self.height.max(inner.height + 1),
        }
    }
}

fn position(marker: Marker) -> Position {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: small(marker.line()), column: small(marker.col()).saturating_add(1) }
}

fn over(position: Position, message: String) -> YamlError {
    YamlError { position, kind: YamlErrorKind::Budget(message) }
}

fn stray(start: Marker) -> YamlError {
    YamlError { position: position(start), kind: YamlErrorKind::Syntax("a value was expected".to_owned()) }
}

fn syntax(error: &ScanError) -> YamlError {
    let message = error.info();
    let kind = match error.kind() {
        ErrorKind::RecursionLimitExceeded => YamlErrorKind::Budget(message),
        _ => YamlErrorKind::Syntax(message),
    };
    YamlError { position: position(*error.marker()), kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what is wrong with a text, if anything is.
    fn refused(text: &str, budget: Budget) -> Option<String> {
        parse_yaml(text, budget).err().map(|error| error.kind.to_string())
    }

    #[test]
    fn an_alias_is_as_deep_as_what_it_stands_for() {
        let budget = Budget { depth_max: 10, ..Budget::DOCUMENT };
        let list =
            |levels: usize, inner: &str| format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels));
        let text = |levels: usize| format!("a: &a {}\nb: {}\n", list(levels, "x"), list(levels, "*a"));
        assert_eq!(refused(&text(4), budget), None);
        assert_eq!(refused(&text(5), budget).as_deref(), Some("values are nested deeper than 10 levels"));

        let chain = (1..50).map(|n| format!("a{n}: &a{n} {}\n", list(60, &format!("*a{}", n - 1))));
        let text = format!("a0: &a0 x\n{}", chain.collect::<String>());
        assert_eq!(
            refused(&text, Budget::DOCUMENT).as_deref(),
            Some("values are nested deeper than 64 levels")
        );
    }

    #[test]
    fn anchors_in_anchors_do_not_keep_the_same_over_and_over() {
        let budget = Budget { text_bytes_max: 10_000, ..Budget::DOCUMENT };
        let text = |levels: usize| {
            let open: String = (0..levels).map(|level| format!("&a{level} [")).collect();
            format!("a: {open}{}{}\n", "x".repeat(1000), "]".repeat(levels))
        };
        assert_eq!(refused(&text(9), budget), None);
        assert_eq!(refused(&text(11), budget).as_deref(), Some("the anchors hold more than a document may"));
    }
}
