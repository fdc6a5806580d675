//! Follows data through the small form: names, functions, files. What single calls mean is in `flow_call`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::calls::Dialect;
use super::form::{Form, FunctionForm, Step};
use super::syntax::parse;
use super::value::{Taint, Value};
use super::{javascript, python};
use crate::scan::limits::{FLOW_STEPS_MAX, TREE_DEPTH_MAX};
use crate::scan::piece::Piece;
use crate::scan::rules::harm;
use crate::scan::session::Session;

/// How often a file is gone through, so that what is learnt below reaches what stands above.
const PASSES: usize = 3;

/// Items of a list that are remembered one by one.
const ITEMS_MAX: usize = 256;

/// Scans Python.
pub(in crate::scan) fn scan_python(session: &mut Session, piece: &Piece<'_>) {
    match parse(&tree_sitter_python::LANGUAGE.into(), piece.text) {
        Ok(tree) => {
            let (steps, is_complete) = python::steps(tree.root_node(), piece.text);
            follow(session, piece, Dialect::Python, &steps, is_complete);
        }
        Err(why) => session.collector.gap(Some(piece.path), why.reason()),
    }
}

/// Scans JavaScript, and TypeScript as far as the two are alike.
pub(in crate::scan) fn scan_javascript(session: &mut Session, piece: &Piece<'_>) {
    match parse(&tree_sitter_javascript::LANGUAGE.into(), piece.text) {
        Ok(tree) => {
            let (steps, is_complete) = javascript::steps(tree.root_node(), piece.text);
            follow(session, piece, Dialect::JavaScript, &steps, is_complete);
        }
        Err(why) => session.collector.gap(Some(piece.path), why.reason()),
    }
}

fn follow(session: &mut Session, piece: &Piece<'_>, dialect: Dialect, steps: &[Step], is_complete: bool) {
    if !is_complete {
        session.collector.gap(Some(piece.path), "the code is nested too deep to be followed");
    }
    let mut flow = Flow {
        session,
        piece,
        dialect,
        variables: BTreeMap::new(),
        functions: BTreeMap::new(),
        files: BTreeMap::new(),
        scope: String::new(),
        seen: Seen::default(),
        depth: 0,
        steps: 0,
    };
    for _ in 0..PASSES {
        flow.block(steps);
    }
    flow.judge_whole();
}

/// Follows the data of one file.
pub(super) struct Flow<'a, 'p> {
    pub(super) session: &'a mut Session,
    pub(super) piece: &'a Piece<'p>,
    pub(super) dialect: Dialect,
    variables: BTreeMap<(String, String), Value>,
    functions: BTreeMap<String, Rc<FunctionForm>>,
    /// What is known of the content of files.
    pub(super) files: BTreeMap<String, Value>,
    /// The function that is being followed; nothing outside of all.
    scope: String,
    pub(super) seen: Seen,
    depth: usize,
    steps: usize,
}

/// What was seen in a file, by the line where it was first seen; some things are bad only together.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) connects: Option<u32>,
    pub(super) joins_streams: Option<u32>,
    pub(super) starts_shell: Option<u32>,
    pub(super) walks: Option<u32>,
    pub(super) writes_encrypted: Option<u32>,
    pub(super) deletes: Option<u32>,
}

impl Flow<'_, '_> {
    fn block(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Import { name, path } => self.set(name, Value::named(path.clone())),
            Step::Do(form) => {
                self.value(form);
            }
            Step::Return(form) => {
                let value = self.value(form);
                let key = (self.scope.clone(), "return".to_owned());
                let known = self.variables.remove(&key).unwrap_or_default();
                self.variables.insert(key, known.either(&value));
            }
            Step::Assign { targets, value, adds } => {
                let value = self.value(value);
                self.assign(targets, &value, *adds);
            }
            Step::Unpack { names, value } => {
                let value = self.value(value);
                for (part, name) in names {
                    let part = self.member(&value, part);
                    self.set(name, part);
                }
            }
            Step::ForEach { targets, over, body } => {
                let over = self.value(over);
                self.assign(targets, &Value { name: None, ..over }, false);
                self.block(body);
            }
            Step::Function(function) => self.define(function),
        }
    }

    fn assign(&mut self, targets: &[String], value: &Value, adds: bool) {
        for target in targets {
            if let Some(whole) = target.strip_suffix("[]") {
                self.absorb(whole, value);
                continue;
            }
            let value = match self.get(target) {
                Some(known) if adds => Value::join([&known, value], ""),
                // What a part of an object is set to is part of the object, too.
                Some(known) if targets.len() > 1 || target.contains('.') => {
                    value.either(&known.with_text(None))
                }
                _ => value.clone(),
            };
            self.set(target, value);
        }
    }

    fn define(&mut self, function: &FunctionForm) {
        self.functions.insert(function.name.clone(), Rc::new(function.clone()));
        self.body(function);
    }

    /// Follows the body of a function in a scope of its own.
    fn body(&mut self, function: &FunctionForm) {
        if self.depth >= TREE_DEPTH_MAX || self.steps > FLOW_STEPS_MAX {
            self.session.collector.gap(Some(self.piece.path), "the code is nested too deep to be followed");
            return;
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.scope, function.name.clone());
        self.block(&function.body);
        self.scope = outer;
        self.depth -= 1;
    }

    /// Calls a function of the file: its parameters learn what it is given.
    pub(super) fn call_own(&mut self, name: &str, arguments: &[(Option<String>, Value)]) -> Option<Value> {
        let function = self.functions.get(name.rsplit('.').next().unwrap_or_default())?.clone();
        for (index, (keyword, value)) in arguments.iter().enumerate() {
            let parameter = keyword.as_ref().or_else(|| function.parameters.get(index));
            if let Some(parameter) = parameter {
                let key = (function.name.clone(), parameter.clone());
                let known = self.variables.remove(&key).unwrap_or_default();
                self.variables.insert(key, value.either(&known));
            }
        }
        let key = (function.name.clone(), "return".to_owned());
        Some(self.variables.get(&key).cloned().unwrap_or_default())
    }

    /// Follows a function that is handed over to be called with `given`.
    pub(super) fn call_handed(&mut self, function: &FunctionForm, given: &Value) -> Value {
        let name = format!("{}()", self.scope);
        for parameter in &function.parameters {
            self.variables.insert((name.clone(), parameter.clone()), given.clone());
        }
        // A function without a name sees what is around it.
        let from = (self.scope.clone(), String::new());
        let around = self.variables.range(from..).take_while(|entry| entry.0.0 == self.scope);
        let around: Vec<_> =
            around.map(|(key, value)| ((name.clone(), key.1.clone()), value.clone())).collect();
        self.steps += around.len();
        for (key, value) in around {
            self.variables.entry(key).or_insert(value);
        }
        let inner = FunctionForm { name: name.clone(), ..function.clone() };
        self.body(&inner);
        self.variables.remove(&(name, "return".to_owned())).unwrap_or_default()
    }

    fn set(&mut self, name: &str, value: Value) {
        let scope = if name.starts_with("self.") || name.starts_with("this.") {
            String::new()
        } else {
            self.scope.clone()
        };
        self.variables.insert((scope, name.to_owned()), value);
    }

    /// Makes something part of what has a name.
    pub(super) fn absorb(&mut self, name: &str, value: &Value) {
        let own = (self.scope.clone(), name.to_owned());
        let outer = (String::new(), name.to_owned());
        let key = if self.variables.contains_key(&own) || !self.variables.contains_key(&outer) {
            own
        } else {
            outer
        };
        let known = self.variables.entry(key).or_default();
        known.absorb(value);
        if known.items.len() < ITEMS_MAX {
            Rc::make_mut(&mut known.items).push(Value { items: Rc::default(), ..value.clone() });
        }
    }

    fn get(&self, name: &str) -> Option<Value> {
        let own = self.variables.get(&(self.scope.clone(), name.to_owned()));
        own.or_else(|| self.variables.get(&(String::new(), name.to_owned()))).cloned()
    }

    /// Returns what is known of an expression.
    pub(super) fn value(&mut self, form: &Form) -> Value {
        self.steps += 1;
        if self.depth >= TREE_DEPTH_MAX || self.steps > FLOW_STEPS_MAX {
            self.session.collector.gap(Some(self.piece.path), "the code is nested too deep to be followed");
            return Value::default();
        }
        self.depth += 1;
        let value = self.value_kind(form);
        self.depth -= 1;
        value
    }

    fn value_kind(&mut self, form: &Form) -> Value {
        match form {
            Form::Text(text) => Value::text(text.clone()),
            Form::Number(number) => Value::text(number.to_string()),
            Form::Name(name) => self.get(name).unwrap_or_else(|| self.outside(name)),
            Form::Member(object, name) => {
                if let Some(known) = dotted(form).and_then(|name| self.get(&name)) {
                    return known;
                }
                let object = self.value(object);
                self.member(&object, name)
            }
            Form::Index(object, index) => {
                let (object, index) = (self.value(object), self.value(index));
                self.indexed(&object, &index)
            }
            Form::Reversed(inner) => {
                let value = self.value(inner);
                let text = value.text.as_deref().map(|text| text.chars().rev().collect());
                let mut value = value.with_text(text);
                value.taint |= Taint::DECODED;
                value
            }
            Form::Call(call) => self.call(call),
            Form::Concat(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.value(part)).collect();
                Value::join(&parts, "")
            }
            Form::Below(left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                Value { name: left.name.clone(), ..Value::join([&left, &right], "/") }
            }
            Form::List(parts) => {
                let items: Vec<Value> = parts.iter().map(|part| self.value(part)).collect();
                let joined = Value::join(&items, " ");
                Value { items: Rc::new(items), ..joined }
            }
            Form::Object(pairs) => self.made(pairs.iter().map(|(_, value)| value)),
            Form::Made(parts) => self.made(parts.iter()),
            Form::Either(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.value(part)).collect();
                parts.into_iter().reduce(|one, other| one.either(&other)).unwrap_or_default()
            }
            Form::Each { targets, over, body } => self.each(targets, over, body),
            Form::Function(function) => self.call_handed(function, &Value::default()),
            Form::Let(name, value) => {
                let value = self.value(value);
                self.set(name, value.clone());
                value
            }
            Form::Nothing => Value::default(),
        }
    }

    fn made<'f>(&mut self, parts: impl Iterator<Item = &'f Form>) -> Value {
        let mut made = Value::default();
        for part in parts {
            let value = self.value(part);
            made.absorb(&value);
        }
        made
    }

    fn each(&mut self, targets: &[String], over: &Form, body: &Form) -> Value {
        let over = self.value(over);
        if over.items.is_empty() {
            self.assign(targets, &Value { name: None, ..over }, false);
            return self.value(body);
        }
        let mut items = Vec::new();
        for item in over.items.iter() {
            self.assign(targets, item, false);
            items.push(self.value(body));
        }
        let joined = Value::join(&items, " ");
        Value { items: Rc::new(items), ..joined }
    }

    /// Returns what a name means that the file does not define.
    fn outside(&self, name: &str) -> Value {
        match name {
            "environ" => Value { taint: Taint::ENVIRONMENT, ..Value::named("os.environ") },
            _ => Value::named(name),
        }
    }

    /// Returns a member of a value.
    pub(super) fn member(&mut self, object: &Value, name: &str) -> Value {
        let full = object.name.as_ref().map(|object| format!("{object}.{name}"));
        match (full.as_deref(), object.name.as_deref()) {
            (Some("os.environ" | "process.env" | "Deno.env" | "Bun.env"), _) => {
                return Value { taint: Taint::ENVIRONMENT, name: full, ..Value::default() };
            }
            (_, Some("process.env" | "Bun.env" | "import.meta.env")) => return Value::variable(name),
            (Some("sys.argv" | "process.argv" | "sys.stdin" | "process.stdin" | "Deno.args"), _) => {
                return Value { taint: Taint::INPUT, name: full, ..Value::default() };
            }
            _ => {}
        }
        let keeps_text =
            matches!(name, "text" | "stdout" | "content" | "data" | "promises" | "parent" | "body");
        let text = object.text.clone().filter(|_| keeps_text);
        let mut value = object.with_text(text);
        value.name = full;
        value.items.clone_from(&object.items);
        value
    }

    fn indexed(&mut self, object: &Value, index: &Value) -> Value {
        match (object.name.as_deref(), index.constant()) {
            (Some("os.environ" | "process.env"), Some(key)) => Value::variable(key),
            (Some("os.environ" | "process.env"), None) => Value::from(Taint::TOKEN),
            (Some(_), Some(key)) if key.parse::<i64>().is_err() => self.member(object, key),
            (_, Some(key)) => {
                let item = key.parse::<usize>().ok().and_then(|at| object.items.get(at)).cloned();
                item.unwrap_or_else(|| object.with_text(None))
            }
            _ => object.with_text(None),
        }
    }

    /// Judges what is bad only together.
    fn judge_whole(&mut self) {
        let seen = &self.seen;
        let shell = seen.joins_streams.or(seen.starts_shell);
        if let (Some(connects), Some(_)) = (seen.connects, shell) {
            let message = "a shell is connected to the network";
            self.session.collector.report(self.piece, &harm::REVERSE_SHELL, connects, message);
        }
        if let (Some(_), Some(line), Some(_)) = (seen.walks, seen.writes_encrypted, seen.deletes) {
            let message = "files are walked through, encrypted, and deleted";
            self.session.collector.report(self.piece, &harm::RANSOM, line, message);
        }
    }
}

/// Returns a chain of members as it is written.
pub(super) fn dotted(form: &Form) -> Option<String> {
    if let Form::Member(object, name) = form {
        return dotted(object).map(|object| format!("{object}.{name}"));
    }
    if let Form::Name(name) = form { Some(name.clone()) } else { None }
}
