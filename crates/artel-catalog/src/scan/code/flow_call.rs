//! What single calls of Python and JavaScript do with what they are given.

use std::rc::Rc;

use super::calls::{Codec, Effect, Source, effect};
use super::file::{FileRole, file_role};
use super::flow::{Flow, dotted};
use super::flow_value::{Known, characters, environment, from_base64, method_name, same};
use super::form::{CallForm, Form};
use super::judge::Carrier;
use super::shell_run::rot13;
use super::value::{Taint, Value, unhex};
use crate::scan::rules::{behaviour, harm};
use artel_model::catalog::Severity;

impl Flow<'_, '_> {
    /// Follows a call and returns what is known of its result.
    pub(super) fn call(&mut self, form: &CallForm) -> Value {
        let line = self.piece.line_of_row(form.row);
        let callee = self.value(&form.callee);
        let object =
            if let Form::Member(object, _) = &form.callee { self.value(object) } else { Value::default() };
        let mut arguments = Vec::new();
        for argument in &form.arguments {
            let value = if let Form::Function(function) = &argument.value {
                self.call_handed(function, &object.with_text(None))
            } else {
                self.value(&argument.value)
            };
            arguments.push((argument.name.clone(), value));
        }
        let name = callee.name.clone().unwrap_or_default();
        let known = Known { form, name, object, arguments, line };
        let by_method = method_name(&form.callee).map(|method| format!("?.{method}"));
        let effect = effect(self.dialect, &known.name)
            .or_else(|| by_method.and_then(|name| effect(self.dialect, &name)));
        match effect {
            Some(effect) => self.apply(effect, &known),
            None => self.unknown(&known),
        }
    }

    fn unknown(&mut self, known: &Known<'_>) -> Value {
        self.mutate(known);
        let handed: Vec<String> =
            known.arguments.iter().filter_map(|(_, value)| value.name.clone()).collect();
        let mut given = known.object.with_text(None);
        for name in handed {
            let result = self.call_own(&name, &[(None, known.object.clone())]);
            given = result.map_or(given.clone(), |result| given.either(&result));
        }
        if let Some(value) = self.call_own(&known.name, &known.arguments) {
            return value;
        }
        let mut value = known.all();
        value.absorb(&given);
        if !known.name.is_empty() {
            value.name = Some(format!("{}()", known.name));
        }
        if known.name.ends_with("parse_args") {
            value.taint |= Taint::INPUT;
        }
        if known.name.ends_with(".replace") {
            let (from, to) = (known.at(0), known.at(1));
            if let (Some(text), Some(from), Some(to)) =
                (known.object.text.as_deref(), from.constant(), to.constant())
            {
                return known.object.with_text(Some(text.replace(from, to)));
            }
        }
        value
    }

    /// What is put into an object is part of it from then on.
    fn mutate(&mut self, known: &Known<'_>) {
        let Form::Member(object, method) = &known.form.callee else { return };
        let puts_in = [
            "append",
            "extend",
            "update",
            "add",
            "insert",
            "push",
            "unshift",
            "set",
            "setdefault",
            "appendleft",
        ];
        if let Some(name) = dotted(object).filter(|_| puts_in.contains(&method.as_str())) {
            for (_, argument) in &known.arguments {
                self.absorb(&name, argument);
            }
        }
    }

    fn apply(&mut self, effect: Effect, known: &Known<'_>) -> Value {
        let (piece, line) = (self.piece, known.line);
        match effect {
            Effect::Request => self.request(known),
            Effect::SendRaw => {
                let target = known.object.url.clone().unwrap_or_default();
                let sent = known.all();
                if !target.is_empty()
                    || known.name.contains("socket")
                    || known.name.contains("smtp")
                    || known.name.contains("request().")
                    || sent.taint.has(Taint::SECRET)
                {
                    self.session.sends(piece, line, &sent, &target, Carrier::Body);
                }
                Value::default()
            }
            Effect::Connect => self.connect(known),
            Effect::Receive => {
                Value { taint: Taint::REMOTE, url: Some("socket://".to_owned()), ..Value::default() }
            }
            Effect::JoinStreams => {
                self.seen.joins_streams.get_or_insert(line);
                Value::default()
            }
            Effect::Shell => self.shell(known),
            Effect::Program => self.program(known),
            Effect::Code => self.code(known),
            Effect::RunFile => {
                let content = self.read(&known.first(), line);
                self.session.runs(piece, line, &content);
                Value::default()
            }
            Effect::Save => {
                let fetched = self.request(known);
                self.write(&known.at(1), &fetched, line)
            }
            Effect::Unpickle => {
                let first = known.first();
                self.session.runs(piece, line, &first);
                known.all()
            }
            Effect::Open => self.open(known),
            Effect::ReadFile => self.read(&known.first(), line),
            Effect::ReadSelf => self.read(&known.object, line),
            Effect::WriteFile => {
                let (path, data) = (known.first(), known.at(1));
                self.write(&path, &data, line)
            }
            Effect::WriteSelf => {
                let path = known.object.items.first().cloned().unwrap_or_else(|| known.object.clone());
                self.write(&path, &known.first(), line)
            }
            Effect::CopyFile => {
                let content = self.read(&known.first(), line);
                self.write(&known.at(1), &content, line)
            }
            Effect::DeleteTree => {
                self.session.deletes(piece, line, &known.first().shown());
                Value::default()
            }
            Effect::DeleteFile => self.delete_file(known),
            Effect::Gives(source) => self.give(source, known),
        }
    }

    fn delete_file(&mut self, known: &Known<'_>) -> Value {
        let (piece, line) = (self.piece, known.line);
        self.seen.deletes.get_or_insert(line);
        let path = if known.arguments.is_empty() { known.object.shown() } else { known.first().shown() };
        if path.contains("_history") || path.starts_with("/var/log") {
            self.session.deletes(piece, line, &path);
        }
        Value::default()
    }

    /// Returns the value of a call that only gives one.
    fn give(&mut self, source: Source, known: &Known<'_>) -> Value {
        match source {
            Source::Walk => self.walk(known),
            Source::Environment => environment(known),
            Source::Input => Value::from(Taint::INPUT),
            Source::Host => Value::from(Taint::HOST),
            Source::Personal => Value::from(Taint::PERSONAL),
            Source::Secret => Value::from(Taint::SECRET),
            Source::Watch => {
                let message = format!("`{}` records what is typed", known.name);
                self.session.collector.report(self.piece, &harm::WATCH_USER, known.line, message);
                Value::from(Taint::PERSONAL)
            }
            Source::Decode(codec) => self.decode(codec, known),
            Source::Encrypt => {
                let mut value = known.all();
                value.taint |= Taint::ENCRYPTED;
                value
            }
            Source::Home => Value { name: Some("pathlib.Path()".to_owned()), ..Value::text("~") },
            Source::JoinPath => {
                let own = Some(&known.object).filter(|object| object.text.is_some());
                let parts = own.into_iter().chain(known.arguments.iter().map(|(_, value)| value));
                Value { name: known.object.name.clone(), ..Value::join(parts, "/") }
            }
            Source::JoinText => {
                let between = known.object.text.clone().unwrap_or_else(|| {
                    if known.arguments.is_empty() { ",".to_owned() } else { known.first().shown() }
                });
                let list = if known.object.items.is_empty() { known.first() } else { known.object.clone() };
                if list.items.is_empty() { known.all() } else { Value::join(list.items.iter(), &between) }
            }
            Source::Character => characters(&known.arguments),
            Source::Map => {
                let name = known.first().name.unwrap_or_default();
                let items = known.at(1);
                if name == "chr" {
                    let characters = items
                        .items
                        .iter()
                        .map(|item| characters(&[(None, item.clone())]))
                        .collect::<Vec<_>>();
                    let joined = Value::join(&characters, "");
                    return Value { items: Rc::new(characters), ..joined };
                }
                self.call_own(&name, &[(None, items.clone())]).unwrap_or_else(|| known.all())
            }
            Source::Module => self.module(known),
            Source::GetMember => {
                self.judge_pieced(known, 1);
                let (object, name) = (known.first(), known.at(1));
                match name.constant() {
                    Some(name) => self.member(&object, name),
                    None => known.all(),
                }
            }
            Source::Same => same(known),
        }
    }

    fn open(&mut self, known: &Known<'_>) -> Value {
        let is_method = matches!(known.form.callee, Form::Member(_, _)) && known.object.text.is_some();
        let path = if is_method { known.object.clone() } else { known.first() };
        let mode = known.named("mode").cloned().unwrap_or_else(|| known.at(usize::from(!is_method)));
        let writes = mode.constant().is_some_and(|mode| mode.contains(['w', 'a', 'x', '+']));
        let mut handle = if writes { Value::default() } else { self.read(&path, known.line) };
        if writes && let Some(text) = path.text.as_deref() {
            self.session.writes(self.piece, known.line, text, &Value::default());
        }
        handle.name = Some("open()".to_owned());
        handle.items = Rc::new(vec![path]);
        handle
    }

    fn read(&mut self, path: &Value, line: u32) -> Value {
        let known = path.text.as_deref().and_then(|path| self.files.get(path)).cloned().unwrap_or_default();
        known.either(&self.session.reads(self.piece, line, path))
    }

    fn write(&mut self, path: &Value, data: &Value, line: u32) -> Value {
        if data.taint.has(Taint::ENCRYPTED) {
            self.seen.writes_encrypted.get_or_insert(line);
        }
        if let Some(text) = path.text.as_deref() {
            self.session.writes(self.piece, line, text, data);
            let known = self.files.remove(text).unwrap_or_default();
            self.files.insert(text.to_owned(), data.either(&known));
        }
        Value::default()
    }

    fn walk(&mut self, known: &Known<'_>) -> Value {
        let path = if known.arguments.is_empty() || known.object.text.is_some() {
            known.object.clone()
        } else {
            known.first()
        };
        self.seen.walks.get_or_insert(known.line);
        let mut value = known.all().with_text(path.text.clone());
        let role = path.text.as_deref().map_or(FileRole::Ordinary, file_role);
        value.taint |= role.taint();
        value.taint = value.taint.without(Taint::INPUT);
        value
    }

    fn decode(&mut self, codec: Codec, known: &Known<'_>) -> Value {
        let first = known.first();
        let how = known.at(1);
        let codec = match (known.name.as_str(), how.constant()) {
            ("Buffer.from", Some("base64")) => Codec::Base64,
            ("Buffer.from", Some("hex")) => Codec::Hex,
            ("Buffer.from", _) => return first,
            ("codecs.decode", Some(name)) if !name.contains("13") => Codec::Other,
            _ => codec,
        };
        let text = first.constant().and_then(|text| match codec {
            Codec::Base64 => from_base64(text),
            Codec::Hex => unhex(text).and_then(|bytes| String::from_utf8(bytes).ok()),
            Codec::Rot13 => Some(rot13(text)),
            Codec::Other => None,
        });
        let mut value = known.all().with_text(text);
        value.taint |= Taint::DECODED;
        value
    }

    fn module(&mut self, known: &Known<'_>) -> Value {
        self.judge_pieced(known, 0);
        match known.first().constant() {
            Some(name) => Value::named(super::javascript::module_name(name)),
            None => Value::default(),
        }
    }

    /// Says that a name is put together so that nobody recognises it.
    fn judge_pieced(&mut self, known: &Known<'_>, index: usize) {
        let form = known.form.arguments.get(index).map(|argument| &argument.value);
        let is_pieced = matches!(form, Some(Form::Concat(_) | Form::Call(_) | Form::Reversed(_)));
        let value = known.at(index);
        let risky =
            ["os", "subprocess", "system", "popen", "exec", "eval", "child_process", "base64", "socket"];
        if is_pieced && value.constant().is_some_and(|name| risky.contains(&name)) {
            let message = format!("the name `{}` is written so that it is not recognised", value.shown());
            self.session.collector.report_as(
                self.piece,
                &behaviour::DYNAMIC_CODE,
                Severity::High,
                known.line,
                message,
            );
        }
    }
}
