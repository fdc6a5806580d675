//! Brings JavaScript into the small form. TypeScript goes the same way: what the grammar does not know is passed over.

use tree_sitter::Node;

use super::form::{Argument, CallForm, Form, FunctionForm, Step};
use super::python::{number, part_of};
use super::shell::unescape;
use super::syntax::{all_children, children, row, text};
use crate::scan::limits::TREE_DEPTH_MAX;

/// Brings a parsed file into the small form. Says whether all of it could be followed.
pub(super) fn steps(root: Node<'_>, source: &str) -> (Vec<Step>, bool) {
    let mut lowering = Lowering { source, depth: 0, is_complete: true };
    let steps = lowering.block(root);
    (steps, lowering.is_complete)
}

struct Lowering<'a> {
    source: &'a str,
    depth: usize,
    is_complete: bool,
}

impl Lowering<'_> {
    fn block(&mut self, node: Node<'_>) -> Vec<Step> {
        if self.depth >= TREE_DEPTH_MAX {
            self.is_complete = false;
            return Vec::new();
        }
        self.depth += 1;
        let steps = children(node).into_iter().flat_map(|child| self.statement(child)).collect();
        self.depth -= 1;
        steps
    }

    fn statement(&mut self, node: Node<'_>) -> Vec<Step> {
        match node.kind() {
            "comment" => Vec::new(),
            "import_statement" => self.import(node),
            "function_declaration" | "generator_function_declaration" | "method_definition" => {
                vec![Step::Function(self.function(node))]
            }
            "return_statement" => {
                children(node).into_iter().map(|value| Step::Return(self.form(value))).collect()
            }
            "variable_declarator" => self.declarator(node),
            "for_in_statement" => {
                let targets =
                    node.child_by_field_name("left").map(|left| self.names(left)).unwrap_or_default();
                let over = node.child_by_field_name("right").map_or(Form::Nothing, |right| self.form(right));
                let body = node.child_by_field_name("body").map(|body| self.block(body)).unwrap_or_default();
                vec![Step::ForEach { targets, over, body }]
            }
            "expression_statement" => {
                children(node).into_iter().flat_map(|child| self.statement(child)).collect()
            }
            "assignment_expression" | "augmented_assignment_expression" => self.assignment(node),
            "sequence_expression" => {
                children(node).into_iter().flat_map(|child| self.statement(child)).collect()
            }
            kind if is_compound(kind) => self.block(node),
            _ => vec![Step::Do(self.form(node))],
        }
    }

    fn import(&mut self, node: Node<'_>) -> Vec<Step> {
        let source = node.child_by_field_name("source").map_or("", |source| text(source, self.source));
        let module = module_name(source.trim_matches(['"', '\'']));
        let mut steps = Vec::new();
        let mut open: Vec<Node<'_>> = children(node);
        while let Some(part) = open.pop() {
            match part.kind() {
                "import_specifier" => {
                    let name = part.child_by_field_name("name").map_or("", |name| text(name, self.source));
                    let alias =
                        part.child_by_field_name("alias").map_or(name, |alias| text(alias, self.source));
                    steps.push(Step::Import { name: alias.to_owned(), path: format!("{module}.{name}") });
                }
                "identifier" => {
                    steps.push(Step::Import {
                        name: text(part, self.source).to_owned(),
                        path: module.clone(),
                    });
                }
                "string" => {}
                _ => open.extend(children(part)),
            }
        }
        steps
    }

    fn function(&mut self, node: Node<'_>) -> FunctionForm {
        let name = node.child_by_field_name("name").map_or("", |name| text(name, self.source)).to_owned();
        let parameters =
            node.child_by_field_name("parameters").or_else(|| node.child_by_field_name("parameter"));
        let parameters = parameters.map(|parameters| self.names(parameters)).unwrap_or_default();
        let body = match node.child_by_field_name("body") {
            Some(body) if body.kind() == "statement_block" => self.block(body),
            Some(body) => vec![Step::Return(self.form(body))],
            None => Vec::new(),
        };
        FunctionForm { name, parameters, body }
    }

    fn declarator(&mut self, node: Node<'_>) -> Vec<Step> {
        let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
        else {
            return Vec::new();
        };
        if matches!(value.kind(), "arrow_function" | "function_expression" | "function")
            && name.kind() == "identifier"
        {
            let mut function = self.function(value);
            function.name = text(name, self.source).to_owned();
            return vec![Step::Function(function)];
        }
        let value = self.form(value);
        if name.kind() == "object_pattern" {
            return vec![Step::Unpack { names: self.unpacked(name), value }];
        }
        vec![Step::Assign { targets: self.names(name), value, adds: false }]
    }

    /// Returns the parts of an object that get a name, with that name.
    fn unpacked(&self, node: Node<'_>) -> Vec<(String, String)> {
        let pair = |part: Node<'_>| match part.kind() {
            "pair_pattern" => {
                let key = part.child_by_field_name("key").map_or("", |key| text(key, self.source));
                let value = part.child_by_field_name("value").map_or("", |value| text(value, self.source));
                (key.to_owned(), value.to_owned())
            }
            _ => {
                let name = text(part, self.source).split(['=', ' ']).next().unwrap_or_default();
                (name.to_owned(), name.to_owned())
            }
        };
        children(node).into_iter().map(pair).collect()
    }

    fn assignment(&mut self, node: Node<'_>) -> Vec<Step> {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return Vec::new();
        };
        let adds = node.kind() == "augmented_assignment_expression";
        vec![Step::Assign { targets: self.names(left), value: self.form(right), adds }]
    }

    fn names(&self, node: Node<'_>) -> Vec<String> {
        match node.kind() {
            "identifier" | "member_expression" | "shorthand_property_identifier_pattern" => {
                vec![text(node, self.source).to_owned()]
            }
            "subscript_expression" => node
                .child_by_field_name("object")
                .map(|object| part_of(self.names(object)))
                .unwrap_or_default(),
            "assignment_pattern" => {
                node.child_by_field_name("left").map(|left| self.names(left)).unwrap_or_default()
            }
            _ => children(node).into_iter().flat_map(|child| self.names(child)).collect(),
        }
    }

    fn form(&mut self, node: Node<'_>) -> Form {
        if self.depth >= TREE_DEPTH_MAX {
            self.is_complete = false;
            return Form::Nothing;
        }
        self.depth += 1;
        let form = self.form_kind(node);
        self.depth -= 1;
        form
    }

    fn form_kind(&mut self, node: Node<'_>) -> Form {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "identifier" | "this" | "shorthand_property_identifier" => {
                Form::Name(text(node, self.source).to_owned())
            }
            "number" => Form::Number(number(text(node, self.source))),
            "string" | "template_string" => self.string(node),
            "member_expression" => {
                let object = field("object").map_or(Form::Nothing, |object| self.form(object));
                let name = field("property").map_or("", |name| text(name, self.source));
                Form::Member(Box::new(object), name.to_owned())
            }
            "subscript_expression" => {
                let object = field("object").map_or(Form::Nothing, |object| self.form(object));
                let index = field("index").map_or(Form::Nothing, |index| self.form(index));
                Form::Index(Box::new(object), Box::new(index))
            }
            "call_expression" | "new_expression" => self.call(node),
            "binary_expression" => self.binary(node),
            "array" => Form::List(self.forms(node)),
            "object" => self.object(node),
            "ternary_expression" => Form::Either(self.forms(node)),
            "parenthesized_expression"
            | "await_expression"
            | "spread_element"
            | "non_null_expression"
            | "as_expression" => node.named_child(0).map_or(Form::Nothing, |inner| self.form(inner)),
            "arrow_function" | "function_expression" | "function" => {
                Form::Function(Box::new(self.function(node)))
            }
            "assignment_expression" => {
                let name = field("left").map_or("", |name| text(name, self.source)).to_owned();
                let value = field("right").map_or(Form::Nothing, |value| self.form(value));
                Form::Let(name, Box::new(value))
            }
            "comment" => Form::Nothing,
            _ => Form::Made(self.forms(node)),
        }
    }

    fn forms(&mut self, node: Node<'_>) -> Vec<Form> {
        children(node)
            .into_iter()
            .filter(|child| child.kind() != "comment")
            .map(|child| self.form(child))
            .collect()
    }

    fn string(&mut self, node: Node<'_>) -> Form {
        let mut parts = Vec::new();
        for part in all_children(node) {
            match part.kind() {
                "string_fragment" | "escape_sequence" => {
                    parts.push(Form::Text(unescape(text(part, self.source))))
                }
                "template_substitution" => {
                    let inner = part.named_child(0);
                    parts.push(inner.map_or(Form::Nothing, |inner| self.form(inner)));
                }
                _ => {}
            }
        }
        match parts.len() {
            0 => Form::Text(String::new()),
            1 => parts.remove(0),
            _ if parts.iter().all(|part| matches!(part, Form::Text(_))) => {
                let text = |part: Form| if let Form::Text(text) = part { text } else { String::new() };
                Form::Text(parts.into_iter().map(text).collect())
            }
            _ => Form::Concat(parts),
        }
    }

    fn call(&mut self, node: Node<'_>) -> Form {
        let callee = node.child_by_field_name("function").or_else(|| node.child_by_field_name("constructor"));
        let callee = callee.map_or(Form::Nothing, |callee| self.form(callee));
        let list = node.child_by_field_name("arguments");
        let arguments = list.map(|list| self.forms(list)).unwrap_or_default();
        let arguments = arguments.into_iter().map(|value| Argument { name: None, value }).collect();
        Form::Call(Box::new(CallForm { callee, arguments, row: row(node) }))
    }

    fn binary(&mut self, node: Node<'_>) -> Form {
        let side = |name: &str| node.child_by_field_name(name);
        let left = side("left").map_or(Form::Nothing, |left| self.form(left));
        let right = side("right").map_or(Form::Nothing, |right| self.form(right));
        match side("operator").map_or("", |operator| operator.kind()) {
            "+" => Form::Concat(vec![left, right]),
            "||" | "??" | "&&" => Form::Either(vec![left, right]),
            _ => Form::Made(vec![left, right]),
        }
    }

    fn object(&mut self, node: Node<'_>) -> Form {
        let mut pairs = Vec::new();
        for pair in children(node) {
            let key = pair.child_by_field_name("key");
            let name = match key {
                Some(key) => Some(text(key, self.source).trim_matches(['"', '\'']).to_owned()),
                None if pair.kind() == "shorthand_property_identifier" => {
                    Some(text(pair, self.source).to_owned())
                }
                None => None,
            };
            let value = pair.child_by_field_name("value").unwrap_or(pair);
            pairs.push((name, self.form(value)));
        }
        Form::Object(pairs)
    }
}

/// Returns the name of a module without the prefix that says that Node brings it.
pub(super) fn module_name(path: &str) -> String {
    path.trim_start_matches("node:").replace('/', ".")
}

fn is_compound(kind: &str) -> bool {
    kind.ends_with("_statement") && !matches!(kind, "throw_statement" | "expression_statement")
        || kind.ends_with("_clause")
        || kind.ends_with("_declaration")
        || matches!(
            kind,
            "program"
                | "statement_block"
                | "class_body"
                | "switch_body"
                | "switch_case"
                | "ERROR"
                | "else_clause"
        )
}
