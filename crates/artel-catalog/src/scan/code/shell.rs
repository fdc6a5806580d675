//! Follows data through a shell script: variables, pipes, substitutions, files. What single commands mean is in
//! `shell_command`.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::judge::Carrier;
use super::syntax::{all_children, children, parse, row, text};
use super::value::{HOLE, Taint, Value};
use crate::scan::limits::{FLOW_STEPS_MAX, TREE_DEPTH_MAX};
use crate::scan::piece::Piece;
use crate::scan::rules::{behaviour, harm};
use crate::scan::session::Session;

/// Scans a shell script.
pub(in crate::scan) fn scan_shell(session: &mut Session, piece: &Piece<'_>) {
    scan_shell_with(session, piece, &Value::default());
}

/// What shell commands leave behind: instructions are often cut into several blocks.
#[derive(Debug, Default)]
pub(in crate::scan) struct ShellMemory {
    variables: BTreeMap<String, Value>,
    files: BTreeMap<String, Value>,
}

/// Scans a shell script in which the variable `ARTEL_HOLE` has a value.
pub(super) fn scan_shell_with(session: &mut Session, piece: &Piece<'_>, hole: &Value) -> Value {
    let source = piece.text;
    if is_fork_bomb(source) {
        session.collector.report(
            piece,
            &harm::DESTROY,
            piece.line,
            "a function that only starts itself twice",
        );
    }
    match parse(&tree_sitter_bash::LANGUAGE.into(), source) {
        Ok(tree) => {
            let mut shell = Shell::new(session, piece, source);
            shell.variables.insert("ARTEL_HOLE".to_owned(), hole.clone());
            let output = shell.run(tree.root_node(), &Value::default());
            let memory = ShellMemory { variables: shell.variables, files: shell.files };
            session.shell = memory;
            output
        }
        Err(why) => {
            session.collector.gap(Some(piece.path), why.reason());
            Value::default()
        }
    }
}

fn is_fork_bomb(source: &str) -> bool {
    source.contains("(){") && source.replace([' ', '\n'], "").contains(":(){:|:&};:")
}

/// A shell that runs nothing.
pub(super) struct Shell<'a, 'p> {
    pub(super) session: &'a mut Session,
    pub(super) piece: &'a Piece<'p>,
    pub(super) source: &'a str,
    pub(super) variables: BTreeMap<String, Value>,
    /// What is known of the content of files.
    pub(super) files: BTreeMap<String, Value>,
    functions: BTreeMap<String, (usize, usize)>,
    depth: usize,
    steps: usize,
}

impl<'a, 'p> Shell<'a, 'p> {
    fn new(session: &'a mut Session, piece: &'a Piece<'p>, source: &'a str) -> Self {
        let ShellMemory { variables, files } = std::mem::take(&mut session.shell);
        let functions = BTreeMap::new();
        Self { session, piece, source, variables, files, functions, depth: 0, steps: 0 }
    }

    /// Returns the line of the file that a node is at.
    pub(super) fn line(&self, node: Node<'_>) -> u32 {
        self.piece.line_of_row(row(node))
    }

    /// Runs a node with something at its input, and returns what it puts out.
    pub(super) fn run(&mut self, node: Node<'_>, input: &Value) -> Value {
        self.steps += 1;
        if self.depth >= TREE_DEPTH_MAX || self.steps > FLOW_STEPS_MAX {
            self.session.collector.gap(Some(self.piece.path), "the script is nested too deep to be followed");
            return Value::default();
        }
        self.depth += 1;
        let output = self.run_kind(node, input);
        self.depth -= 1;
        output
    }

    fn run_kind(&mut self, node: Node<'_>, input: &Value) -> Value {
        match node.kind() {
            "pipeline" => {
                let mut flowing = input.clone();
                for part in children(node) {
                    flowing = self.run(part, &flowing);
                }
                flowing
            }
            "command" => self.command(node, input),
            "redirected_statement" => self.redirected(node, input),
            "variable_assignment" => self.assign(node),
            "for_statement" => self.for_each(node, input),
            "function_definition" => self.define(node),
            "unset_command" | "declaration_command" => {
                if text(node, self.source).contains("HISTFILE") {
                    let line = self.line(node);
                    self.session.collector.report(
                        self.piece,
                        &harm::HIDE_TRACKS,
                        line,
                        "the history is switched off",
                    );
                }
                self.run_all(node, input)
            }
            "comment" => Value::default(),
            "word"
            | "string"
            | "raw_string"
            | "concatenation"
            | "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "ansi_c_string" => self.word(node),
            _ => self.run_all(node, input),
        }
    }

    fn run_all(&mut self, node: Node<'_>, input: &Value) -> Value {
        let mut output = Value::default();
        for part in children(node) {
            let one = self.run(part, input);
            output =
                Value::join([&output, &one].into_iter().filter(|value| **value != Value::default()), "\n");
        }
        output
    }

    fn assign(&mut self, node: Node<'_>) -> Value {
        let (Some(name), value) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
        else {
            return Value::default();
        };
        let value = value.map_or_else(|| Value::text(""), |value| self.word(value));
        let name = text(name, self.source).to_owned();
        if matches!(name.as_str(), "HISTFILE" | "HISTSIZE")
            && value.constant().is_some_and(|text| matches!(text, "" | "0" | "/dev/null"))
        {
            let line = self.line(node);
            self.session.collector.report(
                self.piece,
                &harm::HIDE_TRACKS,
                line,
                "the history is switched off",
            );
        }
        let appends = text(node, self.source).contains("+=");
        let value = match self.variables.get(&name) {
            Some(known) if appends => Value::join([known, &value], ""),
            _ => value,
        };
        self.variables.insert(name, value);
        Value::default()
    }

    fn for_each(&mut self, node: Node<'_>, input: &Value) -> Value {
        let mut values = Vec::new();
        let mut cursor = node.walk();
        let fields: Vec<Node<'_>> = node.children_by_field_name("value", &mut cursor).collect();
        for value in fields {
            values.push(self.word(value));
        }
        if let Some(name) = node.child_by_field_name("variable") {
            let name = text(name, self.source).to_owned();
            let value = match values.as_slice() {
                [] => Value::from(Taint::INPUT),
                values => Value::join(values, " "),
            };
            self.variables.insert(name, value);
        }
        node.child_by_field_name("body").map(|body| self.run(body, input)).unwrap_or_default()
    }

    fn define(&mut self, node: Node<'_>) -> Value {
        let (Some(name), Some(body)) = (node.child_by_field_name("name"), node.child_by_field_name("body"))
        else {
            return Value::default();
        };
        self.functions.insert(text(name, self.source).to_owned(), (body.start_byte(), body.end_byte()));
        self.run(body, &Value::default());
        Value::default()
    }

    /// Runs a function that the script defines, if it defines one of that name.
    pub(super) fn call(
        &mut self,
        node: Node<'_>,
        name: &str,
        arguments: &[Value],
        input: &Value,
    ) -> Option<Value> {
        let (start, end) = *self.functions.get(name)?;
        if self.depth + 20 >= TREE_DEPTH_MAX {
            return Some(Value::default());
        }
        let mut root = node;
        while let Some(parent) = root.parent() {
            root = parent;
        }
        let body = root.descendant_for_byte_range(start, end)?;
        let before = self.variables.clone();
        for (index, argument) in arguments.iter().enumerate() {
            self.variables.insert((index + 1).to_string(), argument.clone());
        }
        let all = Value::join(arguments, " ");
        for name in ["@", "*"] {
            self.variables.insert(name.to_owned(), all.clone());
        }
        // A function that calls itself would go on for ever.
        let known = self.functions.remove(name);
        let output = self.run(body, input);
        self.functions.extend(known.map(|range| (name.to_owned(), range)));
        for parameter in ["1", "2", "3", "@", "*"] {
            match before.get(parameter) {
                Some(value) => self.variables.insert(parameter.to_owned(), value.clone()),
                None => self.variables.remove(parameter),
            };
        }
        Some(output)
    }

    fn redirected(&mut self, node: Node<'_>, input: &Value) -> Value {
        let mut input = input.clone();
        let mut targets = Vec::new();
        for part in all_children(node).into_iter().filter(|part| part.kind().ends_with("_redirect")) {
            self.redirect(part, &mut input, &mut targets);
        }
        let body = node.child_by_field_name("body");
        let output = body.map(|body| self.run(body, &input)).unwrap_or_default();
        let line = self.line(node);
        for target in &targets {
            self.redirect_to(node, target, &output, line);
        }
        if targets.is_empty() { output } else { Value::default() }
    }

    fn redirect(&mut self, part: Node<'_>, input: &mut Value, targets: &mut Vec<Value>) {
        match part.kind() {
            "heredoc_redirect" => {
                for inner in children(part) {
                    match inner.kind() {
                        "heredoc_body" => *input = self.heredoc(inner),
                        "file_redirect" => self.redirect(inner, input, targets),
                        "pipeline" | "command" | "redirected_statement" => {
                            self.run(inner, input);
                        }
                        _ => {}
                    }
                }
            }
            "herestring_redirect" => {
                let word = children(part).into_iter().last();
                *input = word.map(|word| self.word(word)).unwrap_or_default();
            }
            _ => {
                let mut cursor = part.walk();
                let destinations: Vec<Node<'_>> =
                    part.children_by_field_name("destination", &mut cursor).collect();
                let parts = all_children(part);
                let reads = parts.iter().any(|mark| mark.kind() == "<");
                let descriptor =
                    part.child_by_field_name("descriptor").map(|number| text(number, self.source));
                let joins = parts.iter().any(|mark| mark.kind() == ">&")
                    && destinations.iter().all(|to| to.kind() == "number");
                if joins || descriptor == Some("2") {
                    return;
                }
                for destination in destinations {
                    let target = self.word(destination);
                    if reads {
                        let line = self.line(part);
                        *input = self.read(&target, line);
                    } else {
                        targets.push(target);
                    }
                }
            }
        }
    }

    fn heredoc(&mut self, body: Node<'_>) -> Value {
        let parts: Vec<Value> = children(body).into_iter().map(|part| self.word(part)).collect();
        let mut value = Value::text(text(body, self.source));
        for part in &parts {
            value.absorb(part);
        }
        value
    }

    fn redirect_to(&mut self, node: Node<'_>, target: &Value, output: &Value, line: u32) {
        let Some(path) = target.text.clone() else { return };
        if let Some(rest) = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/")) {
            let body = text(node, self.source);
            let is_shell = ["sh ", "sh\n", "sh>", "sh -i", "exec "].iter().any(|word| body.contains(word));
            if is_shell {
                let message = "a shell is connected to the network";
                self.session.collector.report(self.piece, &harm::REVERSE_SHELL, line, message);
            }
            let host = rest.split('/').next().unwrap_or_default();
            return self.session.sends(self.piece, line, output, host, Carrier::Body);
        }
        if path == "/dev/null" || path.parse::<u32>().is_ok() {
            return;
        }
        self.session.writes(self.piece, line, &path, output);
        if path.starts_with("/dev/sd") || path.starts_with("/dev/nvme") || path.starts_with("/dev/disk") {
            self.session.collector.report(self.piece, &harm::DESTROY, line, "a disk is overwritten");
        }
        let known = self.files.remove(&path).unwrap_or_default();
        self.files.insert(path, known.either(output));
    }

    /// Returns what is known of the content of a file.
    pub(super) fn read(&mut self, path: &Value, line: u32) -> Value {
        let known =
            path.text.as_deref().and_then(|path| self.files.get(path.trim_start_matches("./"))).cloned();
        let known = known.or_else(|| path.text.as_deref().and_then(|path| self.files.get(path)).cloned());
        let read = self.session.reads(self.piece, line, path);
        match known {
            Some(known) => known.either(&read),
            None => read,
        }
    }

    /// Returns what is known of a word.
    pub(super) fn word(&mut self, node: Node<'_>) -> Value {
        self.steps += 1;
        if self.depth >= TREE_DEPTH_MAX || self.steps > FLOW_STEPS_MAX {
            self.session.collector.gap(Some(self.piece.path), "the script is nested too deep to be followed");
            return Value::default();
        }
        self.depth += 1;
        let value = self.word_kind(node);
        self.depth -= 1;
        value
    }

    fn word_kind(&mut self, node: Node<'_>) -> Value {
        let raw = text(node, self.source);
        match node.kind() {
            "raw_string" => Value::text(raw.trim_matches('\'')),
            "ansi_c_string" => Value::text(unescape(raw.trim_start_matches("$'").trim_end_matches('\''))),
            "string" | "translated_string" => self.quoted(node),
            "concatenation" | "brace_expression" => {
                let parts: Vec<Value> = children(node).into_iter().map(|part| self.word(part)).collect();
                Value::join(&parts, "")
            }
            "simple_expansion" | "expansion" => self.expansion(node),
            "command_substitution" => {
                let value = self.run_all(node, &Value::default());
                let trimmed = value.text.as_deref().map(|text| text.trim_end().to_owned());
                value.with_text(trimmed)
            }
            "process_substitution" => self.run_all(node, &Value::default()),
            "word" | "command_name" | "number" | "string_content" | "variable_name"
                if node.named_child_count() == 0 =>
            {
                Value::text(raw.replace('\\', ""))
            }
            _ => {
                let parts: Vec<Value> = children(node).into_iter().map(|part| self.word(part)).collect();
                if parts.is_empty() { Value::text(raw) } else { Value::join(&parts, "") }
            }
        }
    }

    /// Puts a string together; what the grammar gives no node to is taken from the source.
    fn quoted(&mut self, node: Node<'_>) -> Value {
        let mut parts = Vec::new();
        let mut at = node.start_byte() + 1;
        for part in children(node) {
            parts.push(Value::text(self.source.get(at..part.start_byte()).unwrap_or_default()));
            parts.push(if part.kind() == "string_content" {
                Value::text(text(part, self.source).replace("\\\"", "\"").replace("\\$", "$"))
            } else {
                self.word(part)
            });
            at = part.end_byte();
        }
        let end = node.end_byte().saturating_sub(1);
        parts.push(Value::text(self.source.get(at..end).unwrap_or_default()));
        Value::join(&parts, "")
    }

    fn expansion(&mut self, node: Node<'_>) -> Value {
        let parts = children(node);
        let Some(name) = parts.first() else { return Value::default() };
        let name = text(*name, self.source).to_owned();
        let rest: Vec<Value> = parts[1..].iter().map(|part| self.word(*part)).collect();
        let value = match self.variables.get(&name) {
            Some(value) => value.clone(),
            None if matches!(name.as_str(), "@" | "*") || name.chars().all(|c| c.is_ascii_digit()) => {
                if name == "0" { Value::default() } else { Value::from(Taint::INPUT) }
            }
            None => Value::variable(&name),
        };
        // `${A:-default}` is the default when nothing is known of A.
        match rest.first() {
            Some(other) if value.text.is_none() && value.taint == Taint::NONE => other.clone(),
            _ => value,
        }
    }

    /// Says that a command's name is put together so that nobody recognises it.
    pub(super) fn judge_name(&mut self, node: Node<'_>, name: &str, line: u32) {
        let raw = text(node, self.source);
        let is_risky = matches!(
            name,
            "curl"
                | "wget"
                | "bash"
                | "sh"
                | "nc"
                | "eval"
                | "base64"
                | "python"
                | "python3"
                | "rm"
                | "ssh"
                | "cat"
        );
        let is_pieced = raw != name
            && !raw.starts_with('/')
            && (raw.contains('\\')
                || raw.contains("''")
                || raw.contains("\"\"")
                || raw.matches(['\'', '"']).count() > 2
                || raw.matches('$').count() > 1);
        if is_risky && is_pieced && !raw.contains(HOLE) {
            let message = format!("the command `{name}` is written so that it is not recognised");
            self.session.collector.report_as(
                self.piece,
                &behaviour::DYNAMIC_CODE,
                artel_model::catalog::Severity::High,
                line,
                message,
            );
        }
    }
}

/// Replaces escapes such as `\x41`, `\101` and `\n`.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = |text: &str, radix: u32, most: usize| -> usize {
            text.chars().take(most).take_while(|c| c.is_digit(radix)).count()
        };
        let (length, code) = match rest.chars().next() {
            Some(kind @ ('x' | 'u' | 'U')) => {
                let most = if kind == 'x' {
                    2
                } else if kind == 'u' {
                    4
                } else {
                    8
                };
                let count = digits(&rest[1..], 16, most);
                (1 + count, u32::from_str_radix(&rest[1..1 + count], 16).ok())
            }
            Some('0'..='7') => {
                let count = digits(rest, 8, 3);
                (count, u32::from_str_radix(&rest[..count], 8).ok())
            }
            Some('n') => (1, Some(10)),
            Some('t') => (1, Some(9)),
            Some('r') => (1, Some(13)),
            Some(other) => (other.len_utf8(), Some(u32::from(other))),
            None => (0, None),
        };
        out.extend(code.and_then(char::from_u32));
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}
