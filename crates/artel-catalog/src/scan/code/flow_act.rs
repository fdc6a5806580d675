//! Calls of Python and JavaScript that use the network, or run something.

use super::address::{Address, address_of};
use super::calls::Dialect;
use super::flow::{Flow, scan_javascript, scan_python};
use super::flow_value::{Known, carrier_of, quote};
use super::form::{CallForm, Form};
use super::judge::Carrier;
use super::value::{HOLE, Taint, Value};
use crate::scan::rules::{behaviour, harm};

impl Flow<'_, '_> {
    pub(super) fn request(&mut self, known: &Known<'_>) -> Value {
        let url = known.named("url").cloned().unwrap_or_else(|| {
            let first = known.first();
            let is_verb = first
                .constant()
                .is_some_and(|text| matches!(text, "GET" | "POST" | "PUT" | "PATCH" | "DELETE"));
            if is_verb { known.at(1) } else { first }
        });
        let address = url.text.clone().or_else(|| url.url.clone()).unwrap_or_default();
        let address = if address.is_empty() { self.host_in(known.form) } else { address };
        let address =
            if address.starts_with('/') { known.object.url.clone().unwrap_or(address) } else { address };
        let lookups = known.name.starts_with("dns.") || known.name.contains("gethost");
        let address = if lookups {
            format!("dns://{}", address.rsplit(HOLE).next().unwrap_or_default().trim_start_matches('.'))
        } else {
            address
        };
        for (index, argument) in known.form.arguments.iter().enumerate() {
            self.send_argument(known, index, &argument.value, &address);
        }
        let mut fetched = self.session.fetches(self.piece, known.line, &address);
        fetched.name = Some(format!("{}()", known.name));
        // A request that is only prepared carries its data along.
        if known.name.ends_with(".Request") {
            fetched.absorb(&known.all());
            fetched.taint = fetched.taint.without(Taint::REMOTE);
        }
        fetched
    }

    /// Returns the host that an object of options names.
    pub(super) fn host_in(&mut self, form: &CallForm) -> String {
        let Some(Form::Object(pairs)) = form.arguments.first().map(|argument| &argument.value) else {
            return String::new();
        };
        let host =
            pairs.iter().find(|(key, _)| matches!(key.as_deref(), Some("hostname" | "host" | "url" | "uri")));
        host.map(|(_, value)| self.value(value).shown()).unwrap_or_default()
    }

    pub(super) fn send_argument(&mut self, known: &Known<'_>, index: usize, form: &Form, address: &str) {
        let (name, value) = &known.arguments[index];
        if let Form::Object(pairs) = form {
            for (key, pair) in pairs {
                let value = self.value(pair);
                let carrier = carrier_of(key.as_deref().or(name.as_deref()), index);
                self.session.sends(self.piece, known.line, &value, address, carrier);
            }
            return;
        }
        let carrier = if name.is_none() && index == 0 && value.text.is_some() {
            Carrier::Url
        } else {
            carrier_of(name.as_deref(), index)
        };
        let sent = if carrier == Carrier::Url { value.with_text(None) } else { value.clone() };
        self.session.sends(self.piece, known.line, &sent, address, carrier);
    }

    pub(super) fn connect(&mut self, known: &Known<'_>) -> Value {
        let all = Value::join(known.arguments.iter().map(|(_, value)| value), " ");
        let shown = all.shown();
        let host = shown.split(' ').find(|word| word.contains('.')).unwrap_or(&shown).to_owned();
        let is_near = address_of(&host) == Address::Local || shown.contains("localhost");
        if !is_near {
            self.seen.connects.get_or_insert(known.line);
        }
        Value { name: Some("socket.socket()".to_owned()), url: Some(host), ..Value::default() }
    }

    pub(super) fn shell(&mut self, known: &Known<'_>) -> Value {
        let command = known.first();
        if command.taint.has(Taint::REMOTE) && command.url.as_deref() == Some("socket://") {
            self.seen.starts_shell.get_or_insert(known.line);
            self.session.collector.report(
                self.piece,
                &harm::REVERSE_SHELL,
                known.line,
                "what is received is run",
            );
            return Value::default();
        }
        self.note_shell(&command, known.line);
        let words: Vec<Value> =
            command.text.as_deref().unwrap_or_default().split(' ').map(Value::text).collect();
        self.run_files(&words, known.line);
        self.session.runs_shell(self.piece, known.line, &command)
    }

    pub(super) fn program(&mut self, known: &Known<'_>) -> Value {
        let in_shell = known.named("shell").is_some()
            || matches!(known.form.arguments.get(2).map(|one| &one.value), Some(Form::Object(pairs)) if pairs.iter().any(|(key, _)| key.as_deref() == Some("shell")));
        let first = known.first();
        if in_shell && first.items.is_empty() {
            return self.shell(known);
        }
        let is_list = known.name.starts_with("os.");
        let own = if is_list {
            known.arguments.iter().map(|one| one.1.clone()).collect()
        } else {
            vec![first.clone()]
        };
        let mut words = if first.items.is_empty() { own } else { first.items.to_vec() };
        words.extend(known.at(1).items.iter().cloned());
        if self.dialect == Dialect::Python && first.items.is_empty() && !is_list {
            let line = known.line;
            self.note_shell(&first, line);
            let text = first.text.clone().unwrap_or_default();
            return self.session.follows_shell(self.piece, line, &text, &first.with_text(None));
        }
        self.run_files(&words, known.line);
        let all = Value::join(&words, " ");
        self.note_shell(&all, known.line);
        let text: Vec<String> = words.iter().map(quote).collect();
        self.session.follows_shell(self.piece, known.line, &text.join(" "), &all.with_text(None))
    }

    /// Judges that a file is run which was fetched or decoded before.
    pub(super) fn run_files(&mut self, words: &[Value], line: u32) {
        let is_interpreter = |word: &Value| {
            let name =
                word.text.as_deref().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
            word.text.is_none()
                || matches!(
                    name.as_str(),
                    "sh" | "bash" | "zsh" | "python" | "python3" | "node" | "sudo" | "open" | "start"
                )
        };
        for (index, word) in words.iter().enumerate() {
            if let Some(content) = word.text.as_deref().and_then(|path| self.files.get(path)).cloned() {
                self.session.runs(self.piece, line, &content);
            }
            if index > 1 || !is_interpreter(word) {
                return;
            }
        }
    }

    pub(super) fn note_shell(&mut self, command: &Value, line: u32) {
        let text = command.text.as_deref().unwrap_or_default();
        let first = text.split(' ').next().unwrap_or_default();
        let name = first.rsplit('/').next().unwrap_or_default();
        let is_interactive = text == first || text.ends_with("-i");
        if matches!(name, "sh" | "bash" | "zsh" | "cmd.exe" | "cmd" | "powershell") && is_interactive {
            self.seen.starts_shell.get_or_insert(line);
        }
    }

    pub(super) fn code(&mut self, known: &Known<'_>) -> Value {
        let code = if known.name == "Function" {
            known.arguments.last().map(|(_, value)| value.clone()).unwrap_or_default()
        } else {
            known.first()
        };
        let (piece, line) = (self.piece, known.line);
        if code.taint.has(Taint::REMOTE) && code.url.as_deref() == Some("socket://") {
            self.session.collector.report(piece, &harm::REVERSE_SHELL, line, "what is received is run");
        } else if self.session.runs(piece, line, &code) {
            self.follow_code(&code, line);
        } else if code.taint.has(Taint::INPUT) {
            self.session.collector.report(piece, &behaviour::INPUT_TO_EVAL, line, "input is run as code");
        } else if code.constant().is_some() {
            self.follow_code(&code, line);
        } else if known.name != "compile" {
            let message = format!("`{}` runs what is put together before", known.name);
            self.session.collector.report(piece, &behaviour::DYNAMIC_CODE, line, message);
        }
        Value::from(code.taint)
    }

    pub(super) fn follow_code(&mut self, code: &Value, line: u32) {
        let Some(source) = code.constant().map(str::to_owned).filter(|_| self.session.depth < 6) else {
            return;
        };
        self.session.depth += 1;
        let mut piece = self.piece.part(&source, 0, self.piece.intent);
        piece.line = line;
        piece.has_lines = false;
        match self.dialect {
            Dialect::Python => scan_python(self.session, &piece),
            Dialect::JavaScript => scan_javascript(self.session, &piece),
        }
        self.session.depth -= 1;
    }
}
