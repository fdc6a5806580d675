//! Brings Python into the small form.

use tree_sitter::Node;

use super::form::{Argument, CallForm, Form, FunctionForm, Step};
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
            "import_from_statement" => self.import_from(node),
            "function_definition" => vec![Step::Function(self.function(node))],
            "return_statement" => {
                children(node).into_iter().map(|value| Step::Return(self.form(value))).collect()
            }
            "for_statement" => {
                let targets =
                    node.child_by_field_name("left").map(|left| self.names(left)).unwrap_or_default();
                let over = node.child_by_field_name("right").map_or(Form::Nothing, |right| self.form(right));
                let body = node.child_by_field_name("body").map(|body| self.block(body)).unwrap_or_default();
                vec![Step::ForEach { targets, over, body }]
            }
            "as_pattern" => self.as_pattern(node),
            "assignment" | "augmented_assignment" => self.assignment(node),
            "expression_statement" => {
                children(node).into_iter().flat_map(|child| self.statement(child)).collect()
            }
            kind if is_compound(kind) => self.block(node),
            _ => vec![Step::Do(self.form(node))],
        }
    }

    fn import(&mut self, node: Node<'_>) -> Vec<Step> {
        children(node).into_iter().map(|part| self.imported(part, "")).collect()
    }

    fn import_from(&mut self, node: Node<'_>) -> Vec<Step> {
        let Some(module) = node.child_by_field_name("module_name") else { return Vec::new() };
        let prefix = format!("{}.", text(module, self.source));
        let mut cursor = node.walk();
        let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
        names.into_iter().map(|part| self.imported(part, &prefix)).collect()
    }

    fn imported(&self, part: Node<'_>, prefix: &str) -> Step {
        let path = part.child_by_field_name("name").unwrap_or(part);
        let path = text(path, self.source);
        let first = path.split('.').next().unwrap_or_default();
        match part.child_by_field_name("alias") {
            Some(alias) => {
                Step::Import { name: text(alias, self.source).to_owned(), path: format!("{prefix}{path}") }
            }
            None => Step::Import { name: first.to_owned(), path: format!("{prefix}{first}") },
        }
    }

    fn function(&mut self, node: Node<'_>) -> FunctionForm {
        let name = node.child_by_field_name("name").map_or("", |name| text(name, self.source));
        let parameters = node.child_by_field_name("parameters").map(|node| self.parameters(node));
        let body = node.child_by_field_name("body");
        let body = match body {
            Some(body) if node.kind() == "lambda" => vec![Step::Return(self.form(body))],
            Some(body) => self.block(body),
            None => Vec::new(),
        };
        FunctionForm { name: name.to_owned(), parameters: parameters.unwrap_or_default(), body }
    }

    fn parameters(&self, node: Node<'_>) -> Vec<String> {
        let name = |part: Node<'_>| {
            let named = part.child_by_field_name("name").or_else(|| part.named_child(0)).unwrap_or(part);
            text(named, self.source).trim_start_matches('*').to_owned()
        };
        children(node).into_iter().map(name).filter(|name| name != "self").collect()
    }

    fn assignment(&mut self, node: Node<'_>) -> Vec<Step> {
        let (Some(left), right) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return Vec::new();
        };
        let adds = node.kind() == "augmented_assignment";
        let Some(right) = right else { return Vec::new() };
        let targets = self.names(left);
        if right.kind() == "assignment" {
            let mut steps = self.assignment(right);
            let value = right.child_by_field_name("left").map_or(Form::Nothing, |left| self.form(left));
            steps.push(Step::Assign { targets, value, adds });
            return steps;
        }
        vec![Step::Assign { targets, value: self.form(right), adds }]
    }

    fn as_pattern(&mut self, node: Node<'_>) -> Vec<Step> {
        let value = node.named_child(0).map_or(Form::Nothing, |value| self.form(value));
        let alias = node.child_by_field_name("alias").map(|alias| self.names(alias)).unwrap_or_default();
        vec![Step::Assign { targets: alias, value, adds: false }]
    }

    /// Returns the names that a pattern gives values to.
    fn names(&self, node: Node<'_>) -> Vec<String> {
        match node.kind() {
            "identifier" | "attribute" => vec![text(node, self.source).to_owned()],
            "subscript" => {
                node.child_by_field_name("value").map(|value| part_of(self.names(value))).unwrap_or_default()
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
            "identifier" => Form::Name(text(node, self.source).to_owned()),
            "integer" => Form::Number(number(text(node, self.source))),
            "string" => self.string(node),
            "concatenated_string" => Form::Concat(self.forms(node)),
            "attribute" => {
                let object = field("object").map_or(Form::Nothing, |object| self.form(object));
                let name = field("attribute").map_or("", |name| text(name, self.source));
                Form::Member(Box::new(object), name.to_owned())
            }
            "subscript" => self.subscript(node),
            "call" => self.call(node),
            "binary_operator" => self.binary(node),
            "list" | "tuple" | "set" | "expression_list" => Form::List(self.forms(node)),
            "dictionary" => self.dictionary(node),
            "list_comprehension"
            | "generator_expression"
            | "set_comprehension"
            | "dictionary_comprehension" => self.comprehension(node),
            "conditional_expression" | "boolean_operator" => Form::Either(self.forms(node)),
            "parenthesized_expression" | "await" => {
                node.named_child(0).map_or(Form::Nothing, |inner| self.form(inner))
            }
            "lambda" => Form::Function(Box::new(self.function(node))),
            "named_expression" => {
                let name = field("name").map_or("", |name| text(name, self.source)).to_owned();
                let value = field("value").map_or(Form::Nothing, |value| self.form(value));
                Form::Let(name, Box::new(value))
            }
            "comment" | "pass_statement" => Form::Nothing,
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
        let mut is_raw = false;
        for part in all_children(node) {
            match part.kind() {
                "string_start" => is_raw = text(part, self.source).to_ascii_lowercase().contains('r'),
                "string_content" => {
                    let content = text(part, self.source);
                    parts.push(Form::Text(if is_raw { content.to_owned() } else { unescape(content) }));
                }
                "interpolation" => {
                    let inner = part.child_by_field_name("expression").or_else(|| part.named_child(0));
                    parts.push(inner.map_or(Form::Nothing, |inner| self.form(inner)));
                }
                _ => {}
            }
        }
        match parts.len() {
            0 => Form::Text(String::new()),
            1 => parts.remove(0),
            _ => Form::Concat(parts),
        }
    }

    fn subscript(&mut self, node: Node<'_>) -> Form {
        let value = node.child_by_field_name("value").map_or(Form::Nothing, |value| self.form(value));
        let index = node.child_by_field_name("subscript");
        match index {
            Some(index) if index.kind() == "slice" => {
                let is_reversed = text(index, self.source).replace(' ', "") == "::-1";
                if is_reversed { Form::Reversed(Box::new(value)) } else { Form::Made(vec![value]) }
            }
            Some(index) => Form::Index(Box::new(value), Box::new(self.form(index))),
            None => value,
        }
    }

    fn call(&mut self, node: Node<'_>) -> Form {
        let callee = node.child_by_field_name("function").map_or(Form::Nothing, |callee| self.form(callee));
        let mut arguments = Vec::new();
        if let Some(list) = node.child_by_field_name("arguments") {
            if list.kind() == "generator_expression" {
                arguments.push(Argument { name: None, value: self.form(list) });
            } else {
                for argument in children(list) {
                    let name = argument
                        .child_by_field_name("name")
                        .filter(|_| argument.kind() == "keyword_argument");
                    let value =
                        if name.is_some() { argument.child_by_field_name("value") } else { Some(argument) };
                    let name = name.map(|name| text(name, self.source).to_owned());
                    arguments.push(Argument {
                        name,
                        value: value.map_or(Form::Nothing, |value| self.form(value)),
                    });
                }
            }
        }
        Form::Call(Box::new(CallForm { callee, arguments, row: row(node) }))
    }

    fn binary(&mut self, node: Node<'_>) -> Form {
        let side = |name: &str| node.child_by_field_name(name);
        let left = side("left").map_or(Form::Nothing, |left| self.form(left));
        let right = side("right").map_or(Form::Nothing, |right| self.form(right));
        match side("operator").map_or("", |operator| operator.kind()) {
            "+" => Form::Concat(vec![left, right]),
            "/" => Form::Below(Box::new(left), Box::new(right)),
            "%" => Form::Concat(vec![left, right]),
            _ => Form::Made(vec![left, right]),
        }
    }

    fn dictionary(&mut self, node: Node<'_>) -> Form {
        let mut pairs = Vec::new();
        for pair in children(node) {
            let key = pair.child_by_field_name("key").map(|key| self.form(key));
            let value = self.form(pair.child_by_field_name("value").unwrap_or(pair));
            let name = match key {
                Some(Form::Text(key)) => Some(key),
                _ => None,
            };
            pairs.push((name, value));
        }
        Form::Object(pairs)
    }

    fn comprehension(&mut self, node: Node<'_>) -> Form {
        let mut body = node.child_by_field_name("body").map_or(Form::Nothing, |body| self.form(body));
        let clauses: Vec<Node<'_>> =
            children(node).into_iter().filter(|part| part.kind() == "for_in_clause").collect();
        for clause in clauses.into_iter().rev() {
            let targets = clause.child_by_field_name("left").map(|left| self.names(left)).unwrap_or_default();
            let over = clause.child_by_field_name("right").map_or(Form::Nothing, |right| self.form(right));
            body = Form::Each { targets, over: Box::new(over), body: Box::new(body) };
        }
        body
    }
}

/// Marks names of which only a part gets a value.
pub(super) fn part_of(names: Vec<String>) -> Vec<String> {
    names.into_iter().map(|name| format!("{name}[]")).collect()
}

fn is_compound(kind: &str) -> bool {
    kind.ends_with("_statement")
        && !matches!(
            kind,
            "raise_statement"
                | "assert_statement"
                | "delete_statement"
                | "print_statement"
                | "exec_statement"
        )
        || kind.ends_with("_clause")
        || matches!(
            kind,
            "block"
                | "module"
                | "class_definition"
                | "decorated_definition"
                | "with_item"
                | "ERROR"
                | "decorator"
        )
}

/// Reads an integer as Python writes it.
pub(super) fn number(text: &str) -> i64 {
    let text = text.replace('_', "").to_ascii_lowercase();
    let radix =
        |start: &str, radix| text.strip_prefix(start).map(|digits| i64::from_str_radix(digits, radix));
    let parsed =
        radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| radix("0b", 2)).unwrap_or_else(|| text.parse());
    parsed.unwrap_or(-1)
}
